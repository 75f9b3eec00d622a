"""Find secret elements: passwords, card numbers, one-time codes, and those the user names.

A field is secret by its type (`password`), by its `autocomplete` (`cc-*`, `one-time-code`, `current-password`,
`new-password`), or by its name: name, id, test id, label, placeholder and title are read as the redactor reads the
names of keys (`apiToken`, `recovery_code`, "Card number").
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from playwright.async_api import Error, Locator, Page

from reenact.browser.page.isolated_world import of_element, of_page, origin
from reenact.browser.page.selectors import parse, styles

Box = tuple[float, float, float, float]


async def is_secret(
    locator: Locator,
    selectors: Sequence[str] = (),
    *,
    timeout: float = 1000,  # noqa: ASYNC109 - as Playwright says it
) -> bool:
    """Return True if an element's content must not be shown.

    Args:
        locator: The element.
        selectors: The user's own, of further secret elements.
        timeout: Milliseconds to wait for the element.

    Raises Playwright's Error where the element is not there in time.
    """
    inside, outside = styles(selectors)
    if await of_element(locator, "eyes.secret(el, argument)", inside, timeout=timeout):
        return True
    if not outside:
        return False
    handle = await locator.element_handle(timeout=timeout)
    for text in outside:
        found = parse(text)[0].within(locator.page)
        if await found.evaluate_all("(found, el) => found.includes(el)", handle):
            return True
    return False


async def masks(page: Page, selectors: Sequence[str] = (), *, beyond: bool = False) -> list[Box]:
    """Return the boxes of secrets: `(x, y, width, height)` in CSS pixels of the main viewport.

    Fields of every frame count, filled or not; the page is not changed. `beyond` includes those outside of the
    viewport.
    """
    inside, outside = styles(selectors)
    boxes: list[Box] = []
    for frame, found in await of_page(page, "masks", {"selectors": inside, "beyond": beyond}):
        if not found:
            continue
        try:
            left, top = await origin(frame)
        except Error:
            continue  # the frame is gone
        boxes += [(x + left, y + top, width, height) for x, y, width, height in found]
    for group in await asyncio.gather(*(_boxes(page, text) for text in outside)):
        boxes += group
    return boxes


async def fields(page: Page, selectors: Sequence[str] = ()) -> list[Locator]:
    """Return the secret elements themselves, in all frames."""
    inside, outside = styles(selectors)
    found = [parse(text)[0].within(page) for text in outside]
    for frame, places in await of_page(page, "secrets", {"selectors": inside}):
        found += [frame.locator(place) for place in places]
    return found


async def _boxes(page: Page, text: str) -> list[Box]:
    try:
        every = await parse(text)[0].within(page).all()
        boxes = await asyncio.gather(*(one.bounding_box(timeout=500) for one in every))
    except Error:
        return []
    return [(box["x"], box["y"], box["width"], box["height"]) for box in boxes if box]
