"""Hide secrets before the browser paints them.

`hiding.js` gives every document, from its start, a style that makes the text of secret fields transparent, and grey the
pictures that the user names. So no picture of the page shows a secret, and none must be covered afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files

from playwright.async_api import BrowserContext, ElementHandle, Error, Locator, Page

from reenact.browser.page.parsing import parse, styles
from reenact.browser.page.sources import eyes

EVENT = "reenact-hide"
"""The event that marks further secrets of a document: at an element, or with CSS selectors."""

_MARK = f"(el) => el.dispatchEvent(new CustomEvent({EVENT!r}, {{bubbles: true, composed: true}}))"
_MARK_ALL = f"(found) => found.forEach({_MARK})"
_NAME = f"(found) => document.dispatchEvent(new CustomEvent({EVENT!r}, {{detail: found}}))"
# Either script of a document may run first. The second call comes before anything is painted.
_LATER = f"""(() => {{
  const say = () => ({_NAME})(FOUND);
  say();
  const seen = new MutationObserver(() => {{ seen.disconnect(); say(); }});
  seen.observe(document, {{ childList: true, subtree: true }});
}})()"""


@cache
def _source() -> str:
    return files("reenact.browser.page").joinpath("hiding.js").read_text(encoding="utf-8").strip()


def script(selectors: Sequence[str] = ()) -> str:
    """Return the script that hides secrets in a document, with the user's selectors."""
    kinds: dict[str, list[str]] = {"css": [], "xpath": [], "text": []}
    for text in selectors:
        kind, body = _kind(text)
        if kind is not None:
            kinds[kind].append(body)
    return f"({_source()}\n)({eyes()}, {json.dumps(kinds)}, {EVENT!r})"


def _kind(text: str) -> tuple[str | None, str]:
    """Return a selector's kind and body for `hiding.js`; None if only Playwright resolves it."""
    (one,) = parse(text)
    if one.kind == "text":
        return "text", " ".join(one.body.split()).lower()
    if one.kind == "engine":
        found, _ = styles([one.body])
        if found:
            return "css", found[0]
        if ">>" not in one.body and one.body.startswith(("xpath=", "/", "(/", "..")):
            return "xpath", one.body.removeprefix("xpath=")
    return None, one.body


async def hide_secrets(context: BrowserContext, selectors: Sequence[str] = ()) -> None:
    """Hide secrets in all documents of a context from now on, also in open ones.

    Args:
        context: Playwright's context.
        selectors: The user's selectors of further secret elements.
    """
    code = script(selectors)
    await context.add_init_script(code)
    for page in context.pages:
        for frame in page.frames:
            with suppress(Error):  # the frame was removed, or has no document
                await frame.evaluate(code)


async def hide_named(page: Page, selectors: Sequence[str]) -> None:
    """Hide the elements of those user's selectors that only Playwright can resolve."""
    for text in selectors:
        if _kind(text)[0] is None:
            with suppress(Error):
                await parse(text)[0].within(page).evaluate_all(_MARK_ALL)


async def hide_element(page: Page, locator: Locator | ElementHandle | None, selector: str) -> None:
    """Hide an element before a secret is written into it, also in later documents of the tab."""
    if locator is not None:
        with suppress(Error):
            await locator.evaluate(_MARK)
    kind, body = _kind(selector)
    if kind == "css":
        await page.add_init_script(_LATER.replace("FOUND", json.dumps([body])))
