"""Find secret elements: passwords, card numbers, one-time codes, and the user's own.

A field is secret by its type (`password`), by its `autocomplete` (`cc-*`, `one-time-code`, `current-password`,
`new-password`), or by a name: the redactor's rules for names of keys (`apiToken`, `recovery_code`, "Card number") are
applied to name, id, test id, label, placeholder and title.
"""

from __future__ import annotations

from collections.abc import Sequence

from playwright.async_api import Locator

from reenact.browser.page.element_functions import of_element
from reenact.browser.page.selectors import parse, styles

_PATIENCE = 1000.0
"""Milliseconds to wait for an element."""


async def is_secret(locator: Locator, selectors: Sequence[str] = ()) -> bool:
    """Return True if an element's content must not be shown.

    Args:
        locator: The element.
        selectors: The user's selectors of further secret elements.

    Raises Playwright's Error if the element does not exist within a second.
    """
    inside, outside = styles(selectors)
    if await of_element(locator, "eyes.secret(el, argument)", inside, timeout=_PATIENCE):
        return True
    if not outside:
        return False
    handle = await locator.element_handle(timeout=_PATIENCE)
    for text in outside:
        found = parse(text)[0].within(locator.page)
        if await found.evaluate_all("(found, el) => found.includes(el)", handle):
            return True
    return False
