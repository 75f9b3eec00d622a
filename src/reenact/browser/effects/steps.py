"""The steps of a session: what each asks, how it is done in the living browser, and what becomes of the answer."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Error
from pydantic import TypeAdapter

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
from reenact.browser.page import sight
from reenact.browser.page.live import Live
from reenact.core.boundary import draw
from reenact.core.redact import says_secret
from reenact.errors import UsageError

Hide = Callable[[str], str]
"""Gives the token that stands for a secret in the recording."""


class Link(Protocol):
    """A session of a server's, as its steps ask it; a path is that of the session's own, `page/execute`."""

    def hide(self, value: str) -> str:
        """The token that stands for a secret in the recording here."""

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The server's answer. Raises SessionError or UsageError, as it says."""

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """The same, with a path of the server's: `agents/start`."""


@dataclass
class Step:
    """One effect of a session's.

    Attributes:
        name: Its name.
        live: Does it; given the browser and the number of the call.
        args: Its arguments, asked for where they are recorded.
        ask: What must be known of the page before they are.
        asked: What was then said; None where there is no browser to ask.
        sent: The arguments, once they are known: without their secrets.
        done: Makes the caller's answer of the recorded one.
        wire: Has a server do it; None for what needs the browser in this process.
        wire_ask: What must be known of the page, asked of the server.
        kind: The effect's kind: `heal` for what only looks into how a block is to go on.
    """

    name: str
    live: Callable[[Live, int | None], Coroutine[Any, Any, Any]]
    args: Callable[[Hide], dict[str, Any]] = lambda _: {}
    ask: Callable[[Live], Coroutine[Any, Any, Any]] | None = None
    asked: Any = None
    sent: dict[str, Any] = field(default_factory=dict)
    done: Callable[[Any], Any] = field(default=lambda outcome: outcome)
    kind: str = "browser"
    wire: Callable[[Link], Coroutine[Any, Any, Any]] | None = None
    wire_ask: Callable[[Link], Coroutine[Any, Any, Any]] | None = None


# -- actions -----------------------------------------------------------------------------------------------------


def acting(action: do.Action, actor: str, hear: Callable[[dict[str, Any]], None]) -> Step:
    """An action. `hear` is told of its outcome."""
    secret = False
    fills = isinstance(action, (do.Fill, do.FallbackFill))

    async def ask(live: Live) -> bool:
        assert isinstance(action, do.Aimed)
        return await _is_secret(live, action)

    def args(hide: Hide) -> dict[str, Any]:
        nonlocal secret
        if fills:
            # Recorded as a small input: a replay knows it without a page.
            secret = bool(draw("browser:secret", lambda: step.asked is not False))
        return _hidden(action, hide, secret=secret)

    async def live(browser: Live, call: int | None) -> Any:
        return await doing.act(browser, action, actor=actor, args=step.sent, call=call, secret=secret)

    def done(outcome: dict[str, Any]) -> ExecutionResult:
        hear(outcome)
        return result_of(_masked(action, secret=secret), outcome)

    async def wire(link: Link) -> Any:
        asked = {"type": action.type, **asked_of(action)}
        return (await link.ask("POST", "page/execute", {**asked, "actor": actor}))["outcome"]

    async def wire_ask(link: Link) -> bool:
        asked = {"type": action.type, **asked_of(action)}
        return bool((await link.ask("POST", "page/secret", asked))["secret"])

    step = Step(action.type, live, args, ask if fills else None, done=done, wire=wire, wire_ask=wire_ask)
    return step


def asked_of(action: do.Action) -> dict[str, Any]:
    """An action's fields as they are sent to a server; a form for a model to fill is sent as its JSON schema."""
    asked = action.model_dump(
        exclude={"type", "response_format"}, exclude_defaults=True, exclude_none=True, mode="json"
    )
    form = getattr(action, "response_format", None)
    if form is not None:
        asked["response_format"] = form if isinstance(form, Mapping) else TypeAdapter(form).json_schema()
    return asked


async def secret_of(live: Live, action: do.Action) -> bool:
    """Whether what an action writes must not be seen. In doubt it must not."""
    return not isinstance(action, (do.Fill, do.FallbackFill)) or await _is_secret(live, action)


async def _is_secret(live: Live, action: do.Aimed) -> bool:
    """Whether what is written into that element must not be seen. In doubt it must not."""
    if action.selector is not None and says_secret(json.dumps(action.selector)):
        return True
    try:
        with live.use():
            return await doing.looks_secret(live, action)
    except Exception:  # whatever is wrong there, the action itself will say it
        return True


def _hidden(action: do.Action, hide: Hide, *, secret: bool) -> dict[str, Any]:
    args = action.args
    if secret and "value" in args:
        args["value"] = hide(args["value"])
    if isinstance(action, do.FormFill):
        args["value"] = {
            name: hide(value) if name in do.SECRET_FORM_FIELDS else value
            for name, value in action.value.items()
        }
    return args


def _masked(action: do.Action, *, secret: bool) -> do.Action:
    """The action as people may see it."""
    if secret:
        return action.model_copy(update={"value": do.MASK})
    if isinstance(action, do.FormFill):
        shown = {
            name: do.MASK if name in do.SECRET_FORM_FIELDS else text for name, text in action.value.items()
        }
        return action.model_copy(update={"value": shown})
    return action


# -- observing ---------------------------------------------------------------------------------------------------


def looking(kind: str, hear: Callable[[dict[str, Any]], None]) -> Step:
    """An observation, with a picture of that kind: `viewport`, `full` or `none`. `hear` is told of it."""

    async def live(browser: Live, call: int | None) -> Any:
        with browser.use():
            return await _observed(browser, kind, call)

    def done(seen: dict[str, Any]) -> Observation:
        hear(seen)
        return _observation(seen)

    async def wire(link: Link) -> Any:
        return _seen(await link.ask("POST", "page/observe", {}))

    asked = {} if kind == "viewport" else {"screenshot": kind}
    return Step("observe", live, lambda _: asked, done=done, wire=wire)


def _seen(told: Mapping[str, Any]) -> dict[str, Any]:
    """An observation as a server tells it, as it is recorded."""
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
        "elements": [one["element"] for one in told["space"]["interaction_actions"]],
    }


async def _observed(live: Live, kind: str, call: int | None) -> dict[str, Any]:
    page = live.page
    seen = await sight.look(page, secret=live.mask(page))
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


def _element(one: sight.Element) -> dict[str, Any]:
    told: dict[str, Any] = {"id": one.id, "role": one.role, "name": one.name}
    if one.value is not None:
        told["value"] = one.value
    if one.options:
        told["options"] = list(one.options)
    return told


_DOES = {
    "textbox": "fill", "searchbox": "fill", "spinbutton": "fill", "checkbox": "check", "radio": "check",
    "switch": "check", "combobox": "select_dropdown_option", "listbox": "select_dropdown_option",
}  # fmt: skip

_FREE = [name for name, kind in do.TYPES.items() if not issubclass(kind, do.Aimed)]


def _observation(seen: Mapping[str, Any]) -> Observation:
    chosen = [
        ElementAction(
            type=_DOES.get(one["role"], "click"),
            id=one["id"],
            role=one["role"],
            name=one["name"],
            value=one.get("value"),
            options=one.get("options", []),
        )
        for one in seen["elements"]
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


def telling_cookies(hide: Hide) -> Step:
    """All cookies of the browser."""

    async def live(browser: Live, call: int | None) -> Any:
        with browser.use():
            cookies = [dict(cookie) for cookie in await browser.context.cookies()]
        for cookie in cookies:
            hide(str(cookie["value"]))
        return cookies

    async def wire(link: Link) -> Any:
        cookies = (await link.ask("GET", "cookies"))["cookies"]
        for cookie in cookies:
            link.hide(str(cookie["value"]))
        return cookies

    return Step("get_cookies", live, wire=wire)


def giving_cookies(cookies: list[dict[str, Any]]) -> Step:
    """More cookies for the browser."""

    async def live(browser: Live, call: int | None) -> None:
        with browser.use():
            await browser.context.add_cookies(cookies)  # type: ignore[arg-type]

    def args(hide: Hide) -> dict[str, Any]:
        return {"cookies": [{**cookie, "value": hide(str(cookie.get("value", "")))} for cookie in cookies]}

    async def wire(link: Link) -> None:
        await link.ask("POST", "cookies", {"cookies": cookies})

    return Step("set_cookies", live, args, wire=wire)


def cookies_of(given: Any, file: str | os.PathLike[str] | None) -> list[dict[str, Any]]:
    """The cookies in a list, or in a JSON file of one, as Playwright takes them. Raises UsageError."""
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


def telling_cdp() -> Step:
    """Where another client may connect."""

    async def live(browser: Live, call: int | None) -> str:
        with browser.use():
            if (found := await browser.address()) is None:
                raise UsageError(
                    "this browser cannot be connected to: Session(cdp=True) lets other programs in"
                )
            return found

    async def wire(link: Link) -> str:
        found = str((await link.ask("GET", "debug"))["ws"]["cdp"])
        if not found:
            raise UsageError("this browser cannot be connected to: Session(cdp=True) lets other programs in")
        return found

    return Step("cdp_url", live, wire=wire)
