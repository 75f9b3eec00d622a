"""The steps of a session: their arguments, their live execution, and their answers."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from playwright.async_api import Error
from pydantic import TypeAdapter

from reenact.browser.actions import aim
from reenact.browser.actions import perform as doing
from reenact.browser.actions import types as do
from reenact.browser.actions.results import (
    ElementAction,
    ExecutionResult,
    Metadata,
    Observation,
    Space,
    Tab,
    Viewport,
    result_of,
)
from reenact.browser.actions.running import TargetCheck
from reenact.browser.page import snapshot
from reenact.browser.page.fitting import actions_of
from reenact.browser.page.live_browser import LiveBrowser
from reenact.core.boundary import Call, draw
from reenact.core.redact import says_secret
from reenact.errors import UsageError

Doubt = Literal["doubt"]
DOUBT: Doubt = "doubt"
"""Stands for True where the element of a value was not found.

The value is hidden in the fill, and not elsewhere.
"""


class Hide(Protocol):
    """A function that returns the token of a secret in the recording."""

    def __call__(self, value: str, *, typed: bool = False) -> str:
        """Return the token. A `typed` value was written into a secret field."""


class ServerSession(Protocol):
    """A session on a server, for its steps; a path is relative to the session: `page/execute`."""

    def hide(self, value: str) -> str:
        """Return the token of a secret in the recording here."""

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the server's answer. Raises the server's SessionError or UsageError."""

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a path relative to the server: `agents/start`."""


@dataclass
class Operation:
    """One effect of a session.

    Attributes:
        name: Its name.
        live: Does it; called with the browser and the number of the call.
        args: Its arguments, called where they are recorded.
        ask: Finds the page's facts that the arguments need.
        asked: The answer of `ask`; None without a browser.
        sent: The arguments, without their secrets.
        done: Converts the recorded answer for the caller.
        wire: Has a server do it; None for a step that needs the browser in this process.
        wire_ask: `ask`, sent to the server.
        kind: The effect's kind: `heal` for a step that only looks into how a block can go on.
        number: The number of its step in the recording; without one here, in the server's recording.
    """

    name: str
    live: Callable[[LiveBrowser, int | None], Coroutine[Any, Any, Any]]
    args: Callable[[Hide], dict[str, Any]] = lambda _: {}
    ask: Callable[[LiveBrowser], Coroutine[Any, Any, Any]] | None = None
    asked: Any = None
    sent: dict[str, Any] = field(default_factory=dict)
    done: Callable[[Any], Any] = field(default=lambda outcome: outcome)
    kind: str = "browser"
    wire: Callable[[ServerSession], Coroutine[Any, Any, Any]] | None = None
    wire_ask: Callable[[ServerSession], Coroutine[Any, Any, Any]] | None = None
    number: int | None = None
    recorded: bool = False

    def began(self, call: Call) -> None:
        """Note the number of its step."""
        self.number, self.recorded = call.step, True


# -- actions -----------------------------------------------------------------------------------------------------


Checks = Callable[[Mapping[str, Any]], TargetCheck | None]
"""A function from the recorded form of an action to the check of its element."""


def acting(
    action: do.Action, actor: str, hear: Callable[[dict[str, Any]], None], checks: Checks = lambda _: None
) -> Operation:
    """Return the step of an action. `hear` is called with its outcome."""
    secret: bool | Doubt = False
    fills = isinstance(action, (do.Fill, do.FallbackFill))

    async def ask(live: LiveBrowser) -> bool | Doubt:
        assert isinstance(action, do.Aimed)
        return await _is_secret(live, action, checks({"type": action.type, **action.args}))

    def args(hide: Hide) -> dict[str, Any]:
        nonlocal secret
        if fills:
            secret = drawn(step.asked)
        return _hidden(action, hide, secret=secret)

    async def live(browser: LiveBrowser, call: int | None) -> Any:
        check = checks({"type": action.type, **step.sent})
        return await doing.act(
            browser, action, actor=actor, args=step.sent, call=call, secret=bool(secret), check=check
        )

    def done(outcome: dict[str, Any]) -> ExecutionResult:
        hear(outcome)
        return result_of(_masked(action, secret=bool(secret)), outcome, step.number)

    async def wire(link: ServerSession) -> Any:
        asked = {"type": action.type, **asked_of(action)}
        told = await link.ask("POST", "page/execute", {**asked, "actor": actor})
        if not step.recorded:
            step.number = told.get("step")
        return told["outcome"]

    async def wire_ask(link: ServerSession) -> bool:
        asked = {"type": action.type, **asked_of(action)}
        return bool((await link.ask("POST", "page/secret", asked))["secret"])

    step = Operation(action.type, live, args, ask if fills else None, done=done, wire=wire, wire_ask=wire_ask)
    return step


def asked_of(action: do.Action) -> dict[str, Any]:
    """Return an action's fields for a server; a response form is sent as its JSON schema."""
    asked = action.model_dump(
        exclude={"type", "response_format"}, exclude_defaults=True, exclude_none=True, mode="json"
    )
    form = getattr(action, "response_format", None)
    if form is not None:
        asked["response_format"] = form if isinstance(form, Mapping) else TypeAdapter(form).json_schema()
    return asked


async def secret_of(live: LiveBrowser, action: do.Action) -> bool:
    """Return True if the value that an action writes is secret, or in doubt."""
    return not isinstance(action, (do.Fill, do.FallbackFill)) or bool(await _is_secret(live, action))


def drawn(asked: bool | Doubt | None) -> bool | Doubt:
    """Record if the value to write is secret, as a small input.

    So a replay has it without a page.
    """
    given: bool | Doubt = draw("browser:secret", lambda: DOUBT if asked is None else asked)
    return given


async def _is_secret(live: LiveBrowser, action: do.Aimed, check: TargetCheck | None = None) -> bool | Doubt:
    """Return True if the value to write into that element is secret."""
    if action.selector is not None and says_secret(json.dumps(action.selector)):
        return True
    try:
        with live.use():
            return await aim.looks_secret(live, action, check)
    except Exception:  # the action itself will report the error
        return DOUBT


def _hidden(action: do.Action, hide: Hide, *, secret: bool | Doubt) -> dict[str, Any]:
    args = action.args
    if secret and "value" in args:
        args["value"] = hide(args["value"], typed=secret is True)
    if isinstance(action, do.FormFill):
        args["value"] = {
            name: hide(value, typed=True) if name in do.SECRET_FORM_FIELDS else value
            for name, value in action.value.items()
        }
    return args


def _masked(action: do.Action, *, secret: bool) -> do.Action:
    """Return the action with secrets masked."""
    if secret:
        return action.model_copy(update={"value": do.MASK})
    if isinstance(action, do.FormFill):
        shown = {
            name: do.MASK if name in do.SECRET_FORM_FIELDS else text for name, text in action.value.items()
        }
        return action.model_copy(update={"value": shown})
    return action


# -- observing ---------------------------------------------------------------------------------------------------


def looking(kind: str, hear: Callable[[dict[str, Any]], None]) -> Operation:
    """Return the step of an observation; `hear` is called with it.

    Its picture is of the given kind: `viewport`, `full` or `none`.
    """

    async def live(browser: LiveBrowser, call: int | None) -> Any:
        with browser.use():
            return await _observed(browser, kind, call)

    def done(seen: dict[str, Any]) -> Observation:
        hear(seen)
        return _observation(seen)

    async def wire(link: ServerSession) -> Any:
        return _seen(await link.ask("POST", "page/observe", {}))

    asked = {} if kind == "viewport" else {"screenshot": kind}
    return Operation("observe", live, lambda _: asked, done=done, wire=wire)


def _seen(told: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a server's observation to the recorded form."""
    about = told["metadata"]
    return {
        "title": about["title"],
        "url": about["url"],
        "tab": told["tab"],
        "viewport": about["viewport"],
        "tabs": about["tabs"],
        "timestamp": about["timestamp"],
        "screenshot": base64.b64decode(told["screenshot"] or ""),
        "tree": told["space"]["description"],
        "more": 0,
        "elements": _elements_of(told["space"]["interaction_actions"]),
    }


def _elements_of(told: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each element once, with all its types of action."""
    found: dict[str, dict[str, Any]] = {}
    for one in told:
        element = found.setdefault(one["element"]["id"], {**one["element"], "actions": []})
        element["actions"].append(one["type"])
    return list(found.values())


async def _observed(live: LiveBrowser, kind: str, call: int | None) -> dict[str, Any]:
    page = live.page
    seen = await snapshot.look(page, secret=live.mask(page))
    live.sight[page] = seen
    if live.camera is not None:
        live.camera.tree(page, seen.text, call)
    size = await page.evaluate(
        "() => ({viewport_width: innerWidth, viewport_height: innerHeight, scroll_x: Math.round(scrollX),"
        " scroll_y: Math.round(scrollY), total_width: document.documentElement.scrollWidth,"
        " total_height: document.documentElement.scrollHeight})"
    )
    tabs = []
    for number, tab in enumerate(live.context.pages):
        title = ""
        with suppress(Error):
            title = await tab.title()
        tabs.append({"tab_id": number, "title": title, "url": tab.url})
    picture = b""
    if kind != "none":
        picture = await live.screenshot(page, whole=kind == "full")
    return {
        "title": await page.title(),
        "url": page.url,
        "tab": live.number(page),
        "viewport": size,
        "tabs": tabs,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "screenshot": picture,
        "tree": seen.text,
        "more": seen.more,
        "elements": [_element(one) for one in seen.elements],
    }


def _element(one: snapshot.Element) -> dict[str, Any]:
    told: dict[str, Any] = {"id": one.id, "role": one.role, "name": one.name}
    if one.value is not None:
        told["value"] = one.value
    if one.options:
        told["options"] = list(one.options)
    if one.actions != actions_of(one.role, {}):
        told["actions"] = list(one.actions)
    return told


_FREE = [name for name, kind in do.TYPES.items() if not issubclass(kind, do.Aimed)]


def _observation(seen: Mapping[str, Any]) -> Observation:
    chosen = [
        ElementAction(
            type=kind,
            id=one["id"],
            role=one["role"],
            name=one["name"],
            value=one.get("value"),
            options=one.get("options", []),
        )
        for one in seen["elements"]
        for kind in one.get("actions") or actions_of(one["role"], {})
    ]
    return Observation(
        metadata=Metadata(
            title=seen["title"],
            url=seen["url"],
            viewport=Viewport(**seen["viewport"]),
            tabs=[Tab(**tab) for tab in seen["tabs"]],
            timestamp=datetime.fromisoformat(seen["timestamp"]),
        ),
        screenshot=seen["screenshot"],
        space=Space(description=seen["tree"], interaction_actions=chosen, browser_actions=_FREE),
    )


# -- cookies and the rest ----------------------------------------------------------------------------------------


def telling_cookies(hide: Hide) -> Operation:
    """Return the step that reads all cookies of the browser."""

    async def live(browser: LiveBrowser, call: int | None) -> Any:
        with browser.use():
            cookies = [dict(cookie) for cookie in await browser.context.cookies()]
        for cookie in cookies:
            hide(str(cookie["value"]))
        return cookies

    async def wire(link: ServerSession) -> Any:
        cookies = (await link.ask("GET", "cookies"))["cookies"]
        for cookie in cookies:
            link.hide(str(cookie["value"]))
        return cookies

    return Operation("get_cookies", live, wire=wire)


def giving_cookies(cookies: list[dict[str, Any]]) -> Operation:
    """Return the step that adds cookies to the browser."""

    async def live(browser: LiveBrowser, call: int | None) -> None:
        with browser.use():
            await browser.context.add_cookies(cookies)  # type: ignore[arg-type]

    def args(hide: Hide) -> dict[str, Any]:
        return {"cookies": [{**cookie, "value": hide(str(cookie.get("value", "")))} for cookie in cookies]}

    async def wire(link: ServerSession) -> None:
        await link.ask("POST", "cookies", {"cookies": cookies})

    return Operation("set_cookies", live, args, wire=wire)


def cookies_of(given: Any, file: str | os.PathLike[str] | None) -> list[dict[str, Any]]:
    """Return cookies in Playwright's form, from a list or a JSON file of one. Raises UsageError."""
    if (given is None) == (file is None):
        raise UsageError("set_cookies: give a list of cookies, or cookie_file, a JSON file of one")
    if file is not None:
        try:
            given = json.loads(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"cookie_file {os.fspath(file)}: {getattr(error, 'strerror', None) or error}"
            ) from None
    if isinstance(given, Mapping) and isinstance(given.get("cookies"), list):
        given = given["cookies"]  # Playwright's storage state
    if not isinstance(given, (list, tuple)):
        raise UsageError(
            "cookies are a list of dicts, each with a name, a value, and a url or a domain and path"
        )
    return [_cookie(one) for one in given]


_SITES = {"no_restriction": "None", "unspecified": "Lax", "lax": "Lax", "strict": "Strict", "none": "None"}
_KNOWN = (
    "name",
    "value",
    "url",
    "domain",
    "path",
    "expires",
    "httpOnly",
    "secure",
    "sameSite",
    "partitionKey",
)


def _cookie(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not {"name", "value"} <= given.keys():
        raise UsageError("a cookie is a dict with a name, a value, and a url or a domain and path")
    cookie = {name: given[name] for name in _KNOWN if given.get(name) is not None}
    if "domain" in cookie and "url" not in cookie:
        cookie.setdefault("path", "/")
    if "expirationDate" in given:  # as browser extensions export it
        cookie.setdefault("expires", given["expirationDate"])
    if isinstance(cookie.get("sameSite"), str):
        cookie["sameSite"] = _SITES.get(cookie["sameSite"].lower(), cookie["sameSite"])
    return cookie


_CLOSED = "this browser cannot be connected to: Session(cdp=True) lets other programs in, on Linux and macOS"


def telling_cdp() -> Operation:
    """Return the step that reads the address for other clients."""

    async def live(browser: LiveBrowser, call: int | None) -> str:
        with browser.use():
            if (found := await browser.address()) is None:
                raise UsageError(_CLOSED)
            return found

    async def wire(link: ServerSession) -> str:
        found = str((await link.ask("GET", "debug"))["ws"]["cdp"])
        if not found:
            raise UsageError(_CLOSED)
        return found

    return Operation("cdp_url", live, wire=wire)
