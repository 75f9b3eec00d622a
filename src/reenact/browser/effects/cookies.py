"""The cookies of a session, as effects."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reenact.browser.effects.operations import Hide, Operation, ServerSession
from reenact.browser.page.live_browser import LiveBrowser
from reenact.errors import UsageError


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
