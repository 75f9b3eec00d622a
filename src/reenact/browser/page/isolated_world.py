"""Read the page without changing it: run `eyes.js` in an isolated world of each frame.

A whole page is read through the browser's debugging protocol in an isolated world: the page's scripts cannot see it,
and their changes to JavaScript's built-in functions do not affect it. A single element is read through Playwright
(`element_functions`).
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import orjson
from playwright.async_api import CDPSession, Error, Frame, Page

from reenact.browser.page.element_functions import of_element
from reenact.browser.page.sources import eyes, source_of

NAME = "reenact"
_PLAYWRIGHT = "__playwright_utility_world"

_sessions: WeakKeyDictionary[Page, dict[Frame, CDPSession]] = WeakKeyDictionary()
_mute: WeakSet[Frame] = WeakSet()
"""Frames without a document that did not answer, such as those of refused addresses."""
_sharing: WeakKeyDictionary[Frame, str] = WeakKeyDictionary()
"""Frames in their parent's process, each with its address when that was found."""
_PATIENCE = 5.0
_BRIEF = 1.0
"""Seconds for the answer of an inner frame. The main frame has no limit."""
_loaded: WeakKeyDictionary[CDPSession, dict[str, str]] = WeakKeyDictionary()
_roots: WeakKeyDictionary[CDPSession, str] = WeakKeyDictionary()
"""The protocol's id of each session's outermost frame."""


async def of_page(page: Page, function: str, request: Any = None) -> list[tuple[Frame, Any]]:
    """Run a function of `eyes.js` or `moment.js` in every readable frame, the main frame first.

    A frame that disappears meanwhile is left out. Raises Playwright's Error if not even the main frame answers.
    """
    return await _everywhere(page, function, request, beside_playwright=False)


async def of_refs(
    page: Page, request: Mapping[str, Any], listening: Mapping[str, Any]
) -> list[tuple[Frame, Any]]:
    """Run `facts` of `eyes.js` in the world that has the references of Playwright's snapshot.

    `listening` has the elements with listeners for each frame's id.
    """
    return await _everywhere(page, "facts", request, beside_playwright=True, listening=listening)


async def is_mute(page: Page) -> bool:
    """Return True if a page has a frame without a document, because its address was refused."""
    bare = [one for one in page.frames if not one.url and one.parent_frame is not None and one not in _mute]
    await asyncio.gather(*(_in_time(one, one.evaluate("1")) for one in bare), return_exceptions=True)
    return any(_is_skipped(one) for one in page.frames)


def _is_skipped(frame: Frame) -> bool:
    return frame in _mute and not frame.url


async def _in_time(frame: Frame, answer: Awaitable[Any]) -> Any:
    """Await a frame's answer. Raises TimeoutError if an inner frame does not answer."""
    if frame.parent_frame is None:
        return await answer
    try:
        async with asyncio.timeout(_PATIENCE if frame.url else _BRIEF):
            return await answer
    except TimeoutError:
        if not frame.url:
            _mute.add(frame)
        raise


async def _everywhere(
    page: Page,
    function: str,
    request: Any,
    *,
    beside_playwright: bool,
    listening: Mapping[str, Any] | None = None,
) -> list[tuple[Frame, Any]]:
    try:
        sessions = await attached(page)
    except Error:  # not Chromium: without that protocol, the page's own world is used
        return await _plainly(page, function, request)
    task = (function, request, beside_playwright, listening or {})
    groups = await asyncio.gather(
        *(_of_session(session, frame, sessions, task) for frame, session in sessions.items()),
        return_exceptions=True,
    )
    found = [one for group in groups if not isinstance(group, BaseException) for one in group]
    if not any(frame == page.main_frame for frame, _ in found):
        _sessions.pop(page, None)
        return await _plainly(page, function, request)
    order = {frame: number for number, frame in enumerate(page.frames)}
    return sorted(found, key=lambda one: order.get(one[0], len(order)))


async def attached(page: Page) -> dict[Frame, CDPSession]:
    """Return debugging sessions of the page and of each frame that has its own process."""
    sessions = _sessions.setdefault(page, {})
    for frame in list(sessions):
        if frame.is_detached():
            del sessions[frame]
    if page.main_frame not in sessions:
        sessions[page.main_frame] = await page.context.new_cdp_session(page)
    for frame in page.frames:
        parent = frame.parent_frame
        if parent is None or frame in sessions or _sharing.get(frame) == frame.url:
            continue
        same = _origin(frame.url) in {"", _origin(parent.url)}
        if same and not (frame.url and await _is_sandboxed(frame)):
            _sharing[frame] = frame.url
            continue
        try:
            sessions[frame] = await _in_time(frame, page.context.new_cdp_session(frame))
        except (Error, TimeoutError):
            continue  # it is in the parent's process
    return sessions


async def _is_sandboxed(frame: Frame) -> bool:
    """Return True for a frame whose `sandbox` gives it its own origin and process."""
    try:
        owner = await _in_time(frame, frame.frame_element())
        said = await owner.get_attribute("sandbox")
    except (Error, TimeoutError):
        return False
    return said is not None and "allow-same-origin" not in said.lower()


def _origin(url: str) -> str:
    return "" if url in {"", "about:blank", "about:srcdoc"} else "/".join(url.split("/", 3)[:3])


_Task = tuple[str, Any, bool, Mapping[str, Any]]


async def _of_session(
    session: CDPSession, root: Frame, sessions: dict[Frame, CDPSession], task: _Task
) -> list[tuple[Frame, Any]]:
    function, request, beside_playwright, listening = task
    worlds = await utility_worlds(session) if beside_playwright else {}
    alone = _roots.get(session)
    if alone is not None and not root.child_frames and alone not in listening and not _is_skipped(root):
        with suppress(Error):
            return [(root, await _in_time(root, _call(session, alone, worlds.get(alone), function, request)))]
        # The tab may have another document by now.
    tree = (await session.send("Page.getFrameTree"))["frameTree"]
    _roots[session] = tree["frame"]["id"]
    pairs = [one for one in _pairs(tree, root, sessions) if not _is_skipped(one[1])]

    def asked(name: str) -> Any:
        return {**request, "listening": listening[name]} if name in listening else request

    answers = await asyncio.gather(
        *(
            _in_time(frame, _call(session, name, worlds.get(name), function, asked(name)))
            for name, frame in pairs
        ),
        return_exceptions=True,
    )
    return [
        (frame, answer)
        for (_, frame), answer in zip(pairs, answers, strict=True)
        if not isinstance(answer, BaseException)
    ]


async def utility_worlds(session: CDPSession) -> dict[str, int]:
    """Return Playwright's own execution context in each frame, by the frame's id."""
    worlds: dict[str, int] = {}

    def created(event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"].startswith(_PLAYWRIGHT):
            worlds[context["auxData"]["frameId"]] = context["id"]

    session.on("Runtime.executionContextCreated", created)
    try:
        await session.send("Runtime.enable")
        await session.send("Runtime.disable")
    finally:
        session.remove_listener("Runtime.executionContextCreated", created)
    return worlds


def _pairs(tree: dict[str, Any], frame: Frame, sessions: dict[Frame, CDPSession]) -> list[tuple[str, Frame]]:
    """Pair the protocol's frame ids with Playwright's frames, by name and address, in order."""
    found = [(tree["frame"]["id"], frame)]
    left = [child for child in frame.child_frames if child not in sessions]
    for branch in tree.get("childFrames", ()):
        facts = branch["frame"]
        url = facts["url"] + facts.get("urlFragment", "")
        same = [one for one in left if one.url == url and one.name == facts.get("name", "")]
        match = next(iter(same or [one for one in left if one.url == url] or left), None)
        if match is not None:
            left.remove(match)
            found += _pairs(branch, match, sessions)
    return found


async def content(
    session: CDPSession, root: Frame, frame: Frame, sessions: dict[Frame, CDPSession], url: str
) -> bytes:
    """Return the bytes that a frame has loaded from an address, without a new request.

    Raises Playwright's Error.
    """
    await session.send("Page.enable")
    tree = (await session.send("Page.getFrameTree"))["frameTree"]
    ids = {one: name for name, one in _pairs(tree, root, sessions)}
    if frame not in ids:
        raise Error("the frame is gone")
    answer = await session.send("Page.getResourceContent", {"frameId": ids[frame], "url": url})
    text = str(answer["content"])
    return base64.b64decode(text) if answer["base64Encoded"] else text.encode("utf-8", "replace")


async def _call(session: CDPSession, frame: str, world: int | None, function: str, request: Any) -> Any:
    place = f"{frame} {source_of(function) is eyes()}"
    if world is None and (known := _loaded.setdefault(session, {}).get(place)) is not None:
        try:
            return await _run(session, known, function, request)
        except Error:
            del _loaded[session][place]  # the functions belong to an earlier document
    found = await _load(session, frame, world, source_of(function))
    if world is None:
        _loaded[session][place] = found
    return await _run(session, found, function, request)


async def own_worlds(session: CDPSession) -> dict[str, int]:
    """Return the execution context of our own world in each frame, by the frame's id."""
    worlds: dict[str, int] = {}
    todo = [(await session.send("Page.getFrameTree"))["frameTree"]]
    while todo:
        tree = todo.pop()
        todo += tree.get("childFrames", ())
        frame = tree["frame"]["id"]
        with suppress(Error):
            made = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": NAME})
            worlds[frame] = made["executionContextId"]
    return worlds


async def _load(session: CDPSession, frame: str, world: int | None, source: str) -> str:
    """Load the functions into a frame once; return their id in the protocol."""
    if world is None:
        made = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": NAME})
        world = made["executionContextId"]
    value = await session.send("Runtime.evaluate", {"expression": source, "contextId": world})
    return str(value["result"]["objectId"])


async def _run(session: CDPSession, functions: str, function: str, request: Any) -> Any:
    answer = await session.send(
        "Runtime.callFunctionOn",
        {
            # One text takes the browser a fraction of the time of a tree.
            "functionDeclaration": "async function(request) { "
            f"return JSON.stringify(await this.{function}(request)); }}",
            "objectId": functions,
            "arguments": [{"value": request}],
            "returnByValue": True,
            "awaitPromise": True,
        },
    )
    if "exceptionDetails" in answer:
        text = answer["exceptionDetails"].get("exception", {}).get("description", "the page cannot be read")
        raise Error(text)
    value = answer["result"].get("value")
    return (
        None
        if value is None
        else orjson.loads(_ESCAPE.sub(_well_formed, value) if r"\ud" in value else value)
    )


_ESCAPE = re.compile(r"\\(?:\\|ud[89a-f][0-9a-f]{2})")


def _well_formed(escape: re.Match[str]) -> str:
    """Return an escape of JSON; the replacement character for half of a surrogate pair.

    `JSON.stringify` writes whole pairs as they are.
    """
    return escape[0] if escape[0] == r"\\" else "\N{REPLACEMENT CHARACTER}"


async def _plainly(page: Page, function: str, request: Any) -> list[tuple[Frame, Any]]:
    code = f"(request) => ({source_of(function)}).{function}(request)"

    async def one(frame: Frame) -> Any:
        return await _in_time(frame, frame.evaluate(code, request))

    frames = [frame for frame in page.frames if not _is_skipped(frame)]
    answers = await asyncio.gather(*(one(frame) for frame in frames), return_exceptions=True)
    for frame, answer in zip(frames, answers, strict=True):
        if frame == page.main_frame and isinstance(answer, BaseException):
            raise answer
    return [
        (frame, answer)
        for frame, answer in zip(frames, answers, strict=True)
        if not isinstance(answer, BaseException)
    ]


async def frame_chain(frame: Frame) -> list[str]:
    """Return the CSS selectors of the frames around a frame, outermost first.

    The list is empty for the main frame.
    """
    chain: list[str] = []
    at: Frame | None = frame
    while at is not None and at.parent_frame is not None:
        owner = await at.frame_element()
        chain.insert(0, (await of_element(owner, "eyes.selectorsOf(el)"))["css"])
        at = at.parent_frame
    return chain


async def origin(frame: Frame) -> tuple[float, float]:
    """Return the origin of a frame's content in the main viewport, in CSS pixels."""
    left = top = 0.0
    at: Frame | None = frame
    while at is not None and at.parent_frame is not None:
        x, y = await of_element(await at.frame_element(), "eyes.inset(el)")
        left, top = left + x, top + y
        at = at.parent_frame
    return left, top


def chained(chain: Sequence[str], selector: str) -> str:
    """Return a selector within frames, as `reenact.browser.page.selectors.parse` reads it."""
    return " >> ".join([*(f"frame={one}" for one in chain), selector])
