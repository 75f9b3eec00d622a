"""Write into fields, and check that the field holds the text."""

from __future__ import annotations

import re
from contextlib import suppress

from playwright.async_api import ElementHandle, Error, Locator

from reenact.browser.actions import types as do
from reenact.browser.actions.running import RunningAction
from reenact.errors import ActionError

_CONTENT = "e => e.isConnected ? e.value ?? e.getAttribute('aria-valuenow') ?? e.innerText ?? '' : null"
"""JavaScript that returns the content of a field; null for one that has left the page."""

_IS_KNOB = "e => e.getAttribute('role') === 'slider' && e.localName !== 'input'"

_TURNS = 1000
"""Most key presses that move a slider to its value."""


async def fill(running: RunningAction, element: Locator, words: str) -> None:
    """Write into a field, or move a slider."""
    action = running.action
    assert isinstance(action, do.Fill)
    field = await element.element_handle(timeout=running.timeout)
    if await field.evaluate(_IS_KNOB):
        await _turn(running, element, words, action)
    elif action.clear_before_fill:
        await element.fill(action.value, timeout=running.timeout)
    else:
        await _type(running, element, action)
    running.filled = await _holds(field, element, action.value)
    running.said = f"filled {words}"


async def fill_by_keys(running: RunningAction, element: Locator, words: str) -> None:
    """Write into a field key by key."""
    action = running.action
    assert isinstance(action, do.FallbackFill)
    field = await element.element_handle(timeout=running.timeout)
    if action.clear_before_fill:
        await element.click(timeout=running.timeout)
        running.sent = True
        await running.page.keyboard.press("ControlOrMeta+A")
        await running.page.keyboard.press("Delete")
    await _type(running, element, action)
    running.filled = await _holds(field, element, action.value)
    running.said = f"filled {words} key by key"


async def _type(running: RunningAction, element: Locator, action: do.Fill | do.FallbackFill) -> None:
    await element.focus(timeout=running.timeout)
    running.sent = True
    await running.page.keyboard.press("End")
    await element.press_sequentially(action.value, timeout=running.timeout)


async def _holds(field: ElementHandle, element: Locator, text: str) -> bool | None:
    """Return True if a field holds a text, but for spaces and punctuation; None if it is gone.

    While it was filled, the page may have renamed it, so that its selector finds nothing, or drawn it again.
    """
    content: str | None = None
    with suppress(Error):
        content = await field.evaluate(_CONTENT)
    if content is None:
        with suppress(Error):
            content = await element.evaluate(_CONTENT, timeout=200)
    if content is None:
        return None
    held, wanted = (re.sub(r"[\W_]+", "", one).casefold() for one in (str(content), text))
    return wanted in held if wanted else not held


async def _turn(running: RunningAction, element: Locator, words: str, action: do.Fill) -> None:
    """Move a slider that is no `input` element to a value, by the arrow keys."""
    try:
        wanted = float(action.value)
    except ValueError:
        raise ActionError(f"{words} takes a number, not {action.value!r}") from None
    await element.focus(timeout=running.timeout)
    running.sent = True
    read = "e => parseFloat(e.getAttribute('aria-valuenow'))"
    now = float(await element.evaluate(read))
    for _ in range(_TURNS):
        if now == wanted:
            return
        await running.page.keyboard.press("ArrowRight" if now < wanted else "ArrowLeft")
        was, now = now, float(await element.evaluate(read))
        if not abs(wanted - now) < abs(wanted - was):
            break
    if now != wanted:
        raise ActionError(
            f"{words} does not come to {action.value} by its keys: it is at {now:g}. Drag it instead"
        )
