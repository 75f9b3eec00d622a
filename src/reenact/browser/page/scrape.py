"""Read a page's text as Markdown, and its pictures, without hidden or secret content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from playwright.async_api import Frame, Locator, Page

from reenact.browser.page.element_functions import of_element
from reenact.browser.page.isolated_world import of_page

MOST = 400_000
"""Most characters of HTML that are read; the end notes the number of elements that are left."""


async def markdown(
    page: Page,
    target: Locator | None = None,
    *,
    only_main_content: bool = True,
    links: bool = True,
    secret: Sequence[str] = (),
) -> str:
    """Return the text of a page, or of one element of it, as Markdown.

    Args:
        page: The page.
        target: One element, or None for the whole page.
        only_main_content: Leave out headers, footers, navigation and asides, and frames.
        links: Keep links, or only their text.
        secret: CSS selectors of further elements that must not be shown, besides passwords, card numbers and codes.

    Raises Playwright's Error if the element does not exist.
    """
    request = {
        "main": only_main_content,
        "selectors": [one.removeprefix("css=") for one in secret],
        "most": MOST,
    }
    answers: list[tuple[Frame | None, Any]]
    if target is not None:
        answers = [
            (None, await of_element(target, "eyes.readable(el, argument)", {**request, "main": False}))
        ]
    else:
        answers = list(await of_page(page, "reading", request))
        if only_main_content:
            answers = answers[:1]
    parts = [_markdown(answer["html"], links=links) for _, answer in answers]
    left = sum(answer["left"] for _, answer in answers)
    if left:
        parts.append(f"… {left:,} more elements are not shown: scrape a part of the page, by a selector")
    return "\n\n".join(part for part in parts if part)


async def images(page: Page, target: Locator | None = None) -> list[dict[str, Any]]:
    """Return the visible pictures of a page or an element: `url`, `alt`, `box` (in their frame)."""
    if target is not None:
        found: list[dict[str, Any]] = await of_element(target, "eyes.pictures(el)")
        return found
    return [one for _, answer in await of_page(page, "images") for one in answer]


def _markdown(html: str, *, links: bool) -> str:
    from markdownify import markdownify  # noqa: PLC0415 - it brings an HTML parser, which only this needs

    text: str = markdownify(html, heading_style="ATX", bullets="-", strip=None if links else ["a"])
    lines = [line.rstrip() for line in text.replace("\xa0", " ").splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
