"""Read listeners and closed shadow roots, which no script in a page can read.

Both come from the browser's debugging protocol. A closed shadow root is opened only for Playwright's world: to the
page's scripts it stays closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from playwright.async_api import CDPSession, Error, Page

from reenact.browser.page.isolated_world import attached, own_worlds, utility_worlds

MOST = 2000
"""Most elements of a page whose listeners are read."""

_PATIENCE = 2.0
"""Seconds for the browser's answers; a slower page is observed without its listeners."""

HEARD = frozenset({
    "click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dblclick", "dragstart",
    "dragover", "drop",
})  # fmt: skip
"""The events of a pointer by which an element can be acted on."""

Listening = dict[str, list[tuple[str, list[str]]]]
"""For each frame's id, the elements with listeners: their paths and their events.

A path is `0/1/s/2`; `s` is a shadow root.
"""

_OPEN = "function(root) { Object.defineProperty(this, 'shadowRoot', { value: root, configurable: true }); }"


async def inspect(page: Page) -> Listening:
    """Open the closed shadow roots for Playwright, and return the listeners of a page."""
    found: Listening = {}
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            for session in (await attached(page)).values():
                with suppress(Error):
                    found |= await _inspected(session)
    return found


async def open_closed(page: Page, *, of_own: bool = False) -> int:
    """Open the closed shadow roots for Playwright, or for our own world; return their number."""
    count = 0
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            for session in (await attached(page)).values():
                with suppress(Error):
                    count += await _open(session, _Document(await _tree(session)), of_own=of_own)
    return count


async def _tree(session: CDPSession) -> Mapping[str, Any]:
    root: Mapping[str, Any] = (await session.send("DOM.getDocument", {"depth": -1, "pierce": True}))["root"]
    return root


class _Document:
    """The elements of a document and of the frames in it, each with its frame and path."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.places: dict[int, tuple[str, str]] = {}
        self.closed: list[tuple[str, int, int]] = []
        """Frame, host and root of each closed shadow root, the outer ones first."""
        for node, frame, path in _walk(root):
            self.places[node["backendNodeId"]] = frame, path
            self.closed += [
                (frame, node["backendNodeId"], shadow["backendNodeId"])
                for shadow in node.get("shadowRoots", ())
                if shadow.get("shadowRootType") == "closed"
            ]


def _walk(root: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yield each element with its frame's id and its path, at any depth of nesting."""
    todo: list[tuple[Mapping[str, Any], str, str]] = [(root, "", "")]
    while todo:
        holder, frame, above = todo.pop()
        place = 0
        for node in holder.get("children", ()):
            if node["nodeType"] != 1:
                continue
            path = f"{above}{place}"
            place += 1
            yield node, frame, path
            todo.append((node, frame, f"{path}/"))
            todo += [
                (shadow, frame, f"{path}/s/")
                for shadow in node.get("shadowRoots", ())
                if shadow.get("shadowRootType") != "user-agent"
            ]
            if inner := node.get("contentDocument"):
                todo.append((inner, node.get("frameId", ""), ""))


async def _inspected(session: CDPSession) -> Listening:
    document = _Document(await _tree(session))
    _, listeners = await asyncio.gather(_open(session, document), _listeners(session))
    main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    events: dict[int, list[str]] = {}
    for one in listeners:
        if one["type"] in HEARD and one.get("backendNodeId") in document.places:
            events.setdefault(one["backendNodeId"], []).append(one["type"])
    found: Listening = {}
    for node, types in list(events.items())[:MOST]:
        frame, path = document.places[node]
        found.setdefault(frame or main, []).append((path, sorted(set(types))))
    return found


async def _listeners(session: CDPSession) -> list[dict[str, Any]]:
    document = await session.send("Runtime.evaluate", {"expression": "document"})
    asked = {"objectId": document["result"]["objectId"], "depth": -1, "pierce": True}
    found: list[dict[str, Any]] = (await session.send("DOMDebugger.getEventListeners", asked))["listeners"]
    return found


async def _open(session: CDPSession, document: _Document, *, of_own: bool = False) -> int:
    """Define `shadowRoot` of the hosts in a world that the page cannot see."""
    if not document.closed:
        return 0
    worlds = await (own_worlds if of_own else utility_worlds)(session)
    main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    count = 0
    for frame, host, root in document.closed[:MOST]:
        world = worlds.get(frame or main)
        if world is None:
            continue
        with suppress(Error):
            ids = [await _object(session, node, world) for node in (host, root)]
            await session.send(
                "Runtime.callFunctionOn",
                {"functionDeclaration": _OPEN, "objectId": ids[0], "arguments": [{"objectId": ids[1]}]},
            )
            count += 1
    return count


async def _object(session: CDPSession, node: int, world: int) -> str:
    answer = await session.send("DOM.resolveNode", {"backendNodeId": node, "executionContextId": world})
    return str(answer["object"]["objectId"])
