"""Drag elements with the mouse, and drop them or files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from playwright.async_api import ElementHandle, Error, Locator, Page

from reenact.browser.actions import types as do
from reenact.browser.actions.press import UndeliveredPress
from reenact.browser.actions.running import RunningAction
from reenact.browser.page.live_browser import LiveBrowser
from reenact.errors import ActionError

_START = 8
"""Pixels of the first move, by which pages tell a drag from a click."""

_STEPS = 10
"""Mouse events of one move."""

_ALONGSIDE = frozenset({
    "drop", "scroll_up", "scroll_down", "wait", "scrape", "evaluate_js", "help", "completion", "press_key",
})  # fmt: skip
"""Actions that are possible while something is dragged."""

_ENDING = frozenset({"goto", "reload", "go_back", "go_forward", "close_tab"})
"""Actions that leave the page, and end the drag with it."""

_HITS = """(el, held) => {
  const at = el.getBoundingClientRect();
  const all = el.getRootNode().elementsFromPoint(at.x + at.width / 2, at.y + at.height / 2);
  const top = all.find((one) => !held || (one !== held && !held.contains(one)));
  return Boolean(top) && el.contains(top);
}"""
"""Tells if an element is the topmost one at its middle, besides the one that is dragged."""


@dataclass(frozen=True)
class DraggedElement:
    """The element that the mouse holds, with its page and its words."""

    page: Page
    words: str
    element: ElementHandle


_held: WeakKeyDictionary[LiveBrowser, DraggedElement] = WeakKeyDictionary()


def dragged(live: LiveBrowser) -> DraggedElement | None:
    """Return the element that is dragged, or None."""
    held = _held.get(live)
    if held is not None and held.page.is_closed():
        del _held[live]
        return None
    return held


async def make_room(live: LiveBrowser, action: do.Action) -> None:
    """End a drag before an action that leaves its page; refuse one that it makes impossible.

    Raises:
        ActionError: The mouse holds an element.
    """
    held = dragged(live)
    if held is None or (action.type in _ALONGSIDE and not isinstance(action, do.PressKey)):
        return
    if action.type in _ENDING:
        await _release(live, held)
    elif isinstance(action, do.PressKey):
        if action.key == "Escape":
            await held.page.keyboard.press("Escape")  # it ends a native drag before the button is up
            await _release(live, held)
    else:
        raise ActionError(f"{held.words} is being dragged: drop it first, or press Escape to put it back")


async def _release(live: LiveBrowser, held: DraggedElement) -> None:
    _held.pop(live, None)
    await held.page.mouse.up()


async def pick_up(running: RunningAction, element: Locator, words: str) -> None:
    """Press the mouse on an element and begin to move it; with `by`, move it and release it."""
    action = running.action
    assert isinstance(action, do.Drag)
    page, mouse = running.page, running.page.mouse
    await element.hover(timeout=running.timeout)
    x, y = await _middle(element, running.timeout)
    handle = await element.element_handle(timeout=running.timeout)
    await mouse.down()
    seen = None if running.guard is None else await running.guard.read()
    if seen is not None and not seen.pressed:
        await mouse.up()
        raise UndeliveredPress("the page saw no press on the element: it moved, or another one took it", seen)
    running.sent = True
    if action.by is None:
        await mouse.move(x + _START, y + _START, steps=3)
        _held[running.live] = DraggedElement(page, words, handle)
        running.said = f"picked up {words}"
        return
    dx, dy = action.by
    await mouse.move(x + dx, y + dy, steps=_STEPS)
    await mouse.up()
    running.said = f"dragged {words} by {dx}, {dy} pixels"


async def put_down(running: RunningAction, element: Locator, words: str) -> None:
    """Move the dragged element over another one, and release it there."""
    action = running.action
    assert isinstance(action, do.Drop)
    held = dragged(running.live)
    if held is None:
        raise ActionError("nothing is being dragged: use drag first, or name a file_path")
    if held.page is not running.page:
        raise ActionError(f"{held.words} is being dragged in another tab")
    await element.scroll_into_view_if_needed(timeout=running.timeout)
    x, y = await _middle(element, running.timeout)
    await held.page.mouse.move(x, y, steps=_STEPS)
    x, y = await _middle(element, running.timeout)  # pages move elements to make room
    await held.page.mouse.move(x, y, steps=2)
    if not await _is_on_top(element, held, running.timeout):
        raise ActionError(f"{words} lies under another element, which would take what is dropped")
    running.sent = True
    await _release(running.live, held)
    running.said = f"dropped {held.words} on {words}"


async def drop_file(running: RunningAction, element: Locator, words: str) -> None:
    """Drop a file on an element, as from a file manager."""
    action = running.action
    assert isinstance(action, do.Drop)
    assert action.file_path is not None
    if (held := dragged(running.live)) is not None:
        raise ActionError(f"{held.words} is being dragged: drop it first, or press Escape to put it back")
    path = running.live.given(action.file_path)
    await element.hover(timeout=running.timeout)
    x, y = await _middle(element, running.timeout)
    session = await running.page.context.new_cdp_session(running.page)
    data: dict[str, Any] = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    try:
        for kind in ("dragEnter", "dragOver", "drop"):
            running.sent = running.sent or kind == "drop"
            await session.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})
    finally:
        await session.detach()
    running.said = f"dropped {path.name} on {words}"


async def _is_on_top(element: Locator, held: DraggedElement, timeout: float) -> bool:  # noqa: ASYNC109
    try:
        return bool(await element.evaluate(_HITS, held.element, timeout=timeout))
    except Error:  # the dragged element is in another frame
        return bool(await element.evaluate(_HITS, None, timeout=timeout))


async def _middle(element: Locator, timeout: float) -> tuple[float, float]:  # noqa: ASYNC109 - Playwright's own option
    box = await element.bounding_box(timeout=timeout)
    if box is None:
        raise ActionError("the element takes no space on the page, so that the mouse cannot reach it")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
