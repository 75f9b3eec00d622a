"""Observations of a page, as effects."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from playwright.async_api import Error

from reenact.browser.actions import types as do
from reenact.browser.actions.results import (
    ElementAction,
    Metadata,
    Observation,
    Space,
    Tab,
    Viewport,
)
from reenact.browser.effects.operations import Operation, ServerSession
from reenact.browser.page import snapshot
from reenact.browser.page.element import Element
from reenact.browser.page.fitting import actions_of
from reenact.browser.page.live_browser import LiveBrowser


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
        return _recorded(await link.ask("POST", "page/observe", {}))

    asked = {} if kind == "viewport" else {"screenshot": kind}
    return Operation("observe", live, lambda _: asked, done=done, wire=wire)


def _recorded(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a server's observation to the recorded form."""
    about = answer["metadata"]
    return {
        "title": about["title"],
        "url": about["url"],
        "tab": answer["tab"],
        "viewport": about["viewport"],
        "tabs": about["tabs"],
        "timestamp": about["timestamp"],
        "screenshot": base64.b64decode(answer["screenshot"] or ""),
        "tree": answer["space"]["description"],
        "more": 0,
        "elements": _elements_of(answer["space"]["interaction_actions"]),
    }


def _elements_of(answer: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each element once, with all types of action that fit it."""
    found: dict[str, dict[str, Any]] = {}
    for one in answer:
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


def _element(one: Element) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": one.id, "role": one.role, "name": one.name}
    if one.value is not None:
        fields["value"] = one.value
    if one.options:
        fields["options"] = list(one.options)
    if one.actions != actions_of(one.role, {}):
        fields["actions"] = list(one.actions)
    return fields


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
