"""The browser's session: its methods are effects, its small facts are values.

In a replay no browser is started. A client without a connection replaces it: commands that the program sends by itself
(`page.goto`, `page.evaluate`) are effects, too, and all others are refused as departures.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Coroutine
from typing import Any

from reenact.adapters.browser_use import quiet
from reenact.adapters.browser_use.absence import answered, gone, outside, revived, stand_in
from reenact.adapters.hooks import patch
from reenact.core.boundary import aperform, current, draw, entered
from reenact.core.model.event import Effect
from reenact.core.store.writer import warn

_LIBRARY = "browser-use"

ACTIONS = ("start", "connect", "stop", "kill", "navigate_to")
"""The methods that act on the browser; they return None, or the session itself."""

ANSWERS = ("get_tabs", "get_current_target_info", "take_screenshot")
"""The methods that ask the browser, and return plain values."""

STATE = "get_browser_state_summary"

READ = {"get_current_page_url": "url", "get_current_page_title": "title"}
"""Small facts that the session has. Agents read them often, so they are values, not steps."""

PROPERTIES = {
    "downloaded_files": "downloads",
    "is_reconnecting": "reconnecting",
    "is_cdp_connected": "connected",
}

OTHERS = ("get_pages", "get_or_create_cdp_session", "wait_if_captcha_solving", "send_demo_mode_log")


def missing(session: Any) -> str | None:
    """Return the names that a version's session lacks, in words."""
    names = (*ACTIONS, *ANSWERS, STATE, *READ, *PROPERTIES, *OTHERS, "update_cached_selector_map")
    absent = next((name for name in names if name not in vars(session)), None)
    if absent is None:
        absent = next((name for name in _PRIVATE if name not in session.__private_attributes__), None)
    if absent is None:
        absent = next((name for name in _FIELDS if name not in session.model_fields), None)
    return None if absent is None else f"BrowserSession has no {absent}"


_PRIVATE = ("_cdp_client_root", "_cached_browser_state_summary", "_downloaded_files", "_captcha_watchdog")
_FIELDS = ("session_manager", "agent_focus_target_id")


def install(session: Any) -> None:
    """Patch the session's class, once."""
    if getattr(vars(session)["start"], "_reenact", False):
        return
    for name in ACTIONS:
        patch(session, name, functools.partial(_effect, name=name, wire=_Done), library=_LIBRARY)
    for name in ANSWERS:
        patch(session, name, functools.partial(_effect, name=name, wire=_Value), library=_LIBRARY)
    patch(session, STATE, functools.partial(_effect, name="state", wire=_state), library=_LIBRARY)
    patch(session, "get_pages", functools.partial(_effect, name="get_pages", wire=_Pages), library=_LIBRARY)
    name = "get_or_create_cdp_session"
    patch(session, name, functools.partial(_effect, name=name, wire=_Channel), library=_LIBRARY)
    for name, source in READ.items():
        patch(session, name, functools.partial(_read, source=f"browser:{source}"), library=_LIBRARY)
    for name, source in PROPERTIES.items():
        setattr(session, name, _property(vars(session)[name], f"browser:{source}"))
    patch(session, "wait_if_captcha_solving", _waited, library=_LIBRARY)
    patch(session, "send_demo_mode_log", _shown, library=_LIBRARY)


def install_agent(module: Any) -> None:
    """Patch an agent's check of its browser after an error, once its session is known."""
    name = "_is_browser_closed_error"
    if not getattr(module.BrowserSession.start, "_reenact", False):
        return
    if name in vars(module.Agent):
        patch(module.Agent, name, _closed, library=_LIBRARY)
    else:
        warn("browser-use has changed: a browser that died in a run is not recorded")


def _closed(original: Any) -> Any:
    def hooked(self: Any, error: Exception) -> Any:
        return draw("browser:closed", lambda: original(self, error))

    return hooked


# -- what is done and asked --------------------------------------------------------------------------------------


def _effect(original: Any, name: str, wire: Any) -> Any:
    """Hook a method as one effect, with its inside."""
    signature = inspect.signature(original)

    async def hooked(self: Any, *args: Any, **options: Any) -> Any:
        scope = current()
        if outside(scope):
            return await original(self, *args, **options)
        assert scope is not None
        given = signature.bind(self, *args, **options)
        given.apply_defaults()
        question = {key: value for key, value in given.arguments.items() if key != "self"}

        async def live() -> Any:
            if name in _ENDS and answered(self):
                # A fork that went live without needing a browser has none to stop.
                gone(self)
                return None
            if name not in _STARTS:
                await revived(self, scope)
            return await original(self, *args, **options)

        return await aperform(Effect("browser", name, question, leaf=True), live, wire(self, name))

    return hooked


_ENDS = {"stop", "kill"}
_STARTS = {"start", "connect", *_ENDS}


class _Value:
    """The wire of a plain value."""

    def __init__(self, session: Any, name: str) -> None:
        self.session = session
        self.name = name

    def dump(self, value: Any, /) -> Any:
        """The value."""
        return value

    def load(self, value: Any, /) -> Any:
        """The value."""
        return value


class _Done(_Value):
    """The wire of a browser action. A replayed action leaves the session in the same state."""

    def dump(self, value: Any, /) -> Any:
        """Return the tab that has the focus after the action."""
        return {"focus": self.session.agent_focus_target_id}

    def load(self, value: Any, /) -> Any:
        """Return the method's result, after a replayed start or end of the browser."""
        session = self.session
        if self.name in _ENDS:
            gone(session)
        elif not answered(session):
            stand_in(session)
        session.agent_focus_target_id = value["focus"]
        return session if self.name == "connect" else None


class _Pages(_Value):
    """The wire of the open pages."""

    def dump(self, value: Any, /) -> Any:
        """Their targets."""
        return [page._target_id for page in value]

    def load(self, value: Any, /) -> Any:
        """Pages of those targets."""
        from browser_use.actor.page import Page

        return [Page(self.session, target) for target in value]


class _Channel(_Value):
    """The wire of a connection to one target."""

    def dump(self, value: Any, /) -> Any:
        """Its ids."""
        return {"target": value.target_id, "channel": value.session_id}

    def load(self, value: Any, /) -> Any:
        """A connection that leads nowhere, under the same ids."""
        from browser_use.browser.session import CDPSession

        client = self.session._cdp_client_root
        return CDPSession(cdp_client=client, target_id=value["target"], session_id=value["channel"])


def _state(session: Any, name: str) -> Any:
    from reenact.adapters.browser_use.page import PageStateWire

    def stand(url: str, focus: str | None) -> None:
        session.agent_focus_target_id = focus
        if answered(session):
            session._cdp_client_root.reenact_url = url

    return PageStateWire(session, stand)


# -- what is read ------------------------------------------------------------------------------------------------


def _read(original: Any, source: str) -> Any:
    async def hooked(self: Any) -> Any:
        scope = current()
        if outside(scope):
            return await original(self)
        assert scope is not None
        await revived(self, scope)

        def live() -> Any:
            # A read that is not recorded gets the last recorded value.
            value = self._cdp_client_root.reenact_url if answered(self) else _at_once(original(self))
            # Recorded together: an agent compares both with their values before an action.
            return [value, self.agent_focus_target_id]

        value, focus = draw(source, live)
        if answered(self):
            self.agent_focus_target_id = focus
        return value

    return hooked


def _at_once(answer: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that awaits nothing."""
    try:
        answer.send(None)
    except StopIteration as stop:
        return stop.value
    answer.close()
    raise RuntimeError("browser-use waits at a new place; try a newer version of Reenact")


def _property(original: property, source: str) -> property:
    get: Any = original.fget

    @functools.wraps(get)
    def read(self: Any) -> Any:
        return get(self) if outside(current()) else draw(source, lambda: get(self))

    return property(read)


def _waited(original: Any) -> Any:
    """Hook the wait for a captcha's solver: a value, not a step, since mostly there is none."""

    async def hooked(self: Any, *args: Any, **options: Any) -> Any:
        scope = current()
        if outside(scope):
            return await original(self, *args, **options)
        assert scope is not None
        if answered(self):
            return draw("browser:captcha", lambda: None)
        with entered(quiet.inside(scope)):
            result = await original(self, *args, **options)
        return draw("browser:captcha", lambda: result)

    return hooked


def _shown(original: Any) -> Any:
    """Hook the panel of the demo mode, which is not recorded: it is only for viewers."""

    async def hooked(self: Any, *args: Any, **options: Any) -> None:
        scope = current()
        if outside(scope):
            await original(self, *args, **options)
        elif not answered(self):
            assert scope is not None
            with entered(quiet.inside(scope)):
                await original(self, *args, **options)

    return hooked


# -- what is sent ------------------------------------------------------------------------------------------------


def hooked_send(original: Any) -> Any:
    """`CDPClient.send_raw`: a command that the program sends by itself."""

    async def send_raw(self: Any, method: str, params: Any = None, session_id: str | None = None) -> Any:
        if outside(current()):
            return await original(self, method, params, session_id)
        return await aperform(
            Effect("browser", method, {"params": dict(params or {}), "channel": session_id}, leaf=True),
            lambda: original(self, method, params, session_id),
        )

    return send_raw
