"""A picture of a page with its secrets covered."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page

from reenact.browser.camera.covering import covered
from reenact.browser.page import secret

_QUALITY = 80
"""Of the JPEG."""
_STILL = 3
"""The most tries during which no secret moves."""
_EXTENT = """whole => whole
    ? [scrollX, scrollY, document.documentElement.scrollWidth, document.documentElement.scrollHeight]
    : [0, 0, innerWidth, innerHeight]"""


async def screenshot(page: Page, mask: tuple[str, ...], *, whole: bool = False) -> bytes:
    """Return a JPEG of the view, or of the whole page.

    Args:
        page: The page.
        mask: The selectors of its secrets.
        whole: The whole page, and not the view.
    """
    before = await secret.masks(page, mask, beyond=whole)
    for _ in range(_STILL):
        picture = await page.screenshot(type="jpeg", quality=_QUALITY, full_page=whole)
        boxes = await secret.masks(page, mask, beyond=whole)
        if still := boxes == before:
            break
        before = boxes
    if not boxes and still:
        return picture
    left, top, *size = await page.evaluate(_EXTENT, whole)
    boxes = [(x + left, y + top, width, height) for x, y, width, height in boxes]
    if not still:  # they move all the time: their place in the picture is unknown
        boxes = [(0.0, 0.0, size[0], size[1])]
    return await asyncio.to_thread(covered, picture, boxes, (size[0], size[1]), quality=_QUALITY)
