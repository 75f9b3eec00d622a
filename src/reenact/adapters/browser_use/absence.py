"""Replace the browser in a replay, and start a real one in a fork that goes live."""

from __future__ import annotations

import functools
from contextvars import ContextVar
from typing import Any

from reenact.adapters.browser_use import quiet
from reenact.core.boundary import Scope, entered, perform
from reenact.core.model.event import Effect
from reenact.core.store.writer import warn

acting: ContextVar[bool] = ContextVar("reenact_browser_use_acting", default=False)
"""True inside an action of the agent: its calls of the session are part of the action."""


def outside(scope: Scope | None) -> bool:
    """Return True if a session's call is not the program's own, or no run is active."""
    return scope is None or scope.hidden or acting.get()


def answered(session: Any) -> bool:
    """Return True if a recording started this session's browser."""
    return hasattr(session._cdp_client_root, "reenact_url")


def stand_in(session: Any) -> None:
    """Make a session look connected without a browser."""
    from browser_use.browser._cdp_timeout import TimeoutWrappedCDPClient

    client: Any = TimeoutWrappedCDPClient("ws://reenact.invalid")
    client.reenact_url = ""
    session._cdp_client_root = client
    session.session_manager = _NoBrowser()


def gone(session: Any) -> None:
    """Make a session look as if its browser had ended."""
    session._cdp_client_root = None
    session.session_manager = None
    session._cached_browser_state_summary = None
    session.update_cached_selector_map({})


class _NoBrowser:
    """Replaces a session's objects of a running browser; refuses every use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if acting.get():
            warn(
                "an action is let through, but its browser is the recording's, and not there: let both through, "
                'live=["tool", "browser"], or neither'
            )
        return perform(
            Effect("browser", f"session_manager.{name}", leaf=True), functools.partial(_refuse, name)
        )


def _refuse(name: str) -> Any:
    raise RuntimeError(f"a replay has no browser, so session_manager.{name} is not available")


async def revived(session: Any, scope: Scope) -> None:
    """Start a browser at the recorded page, if a fork has gone live on a replayed session."""
    run = scope.run
    if not answered(session) or (run.replaying and not run.handler.gone_live):
        return
    url = session._cdp_client_root.reenact_url
    known = dict(session._cached_selector_map)
    session._cdp_client_root = None
    session.session_manager = None
    with entered(quiet.inside(scope)):
        await session.start()
        if url:
            await session.navigate_to(url)
            await _found_again(session, known)
    warn(
        f"the fork goes on in a new browser, at {url or 'an empty page'}: what earlier steps left in the page, in "
        f"cookies and in other tabs is not there"
    )


async def _found_again(session: Any, known: dict[int, Any]) -> None:
    """Map the model's element numbers to the same elements again; lost elements map to none."""
    state = await session.get_browser_state_summary(include_screenshot=False)
    fresh = {hash(node): node for node in state.dom_state.selector_map.values()}
    session.update_cached_selector_map(
        {n: fresh[hash(node)] for n, node in known.items() if hash(node) in fresh}
    )
