"""Confirm that a press reaches the element that was checked, and stop any other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

from playwright.async_api import ElementHandle, Error, JSHandle, Locator

from reenact.browser.page.element_functions import in_document

_PATIENCE = 1.0
"""Seconds for the page's answer about a press."""

_numbers = count(1)
"""The numbers of guards: a document may hold several."""


class SeenPress(NamedTuple):
    """The events of a press that the page saw.

    Attributes:
        pressed: Times that the pointer went down on the element.
        clicked: Clicks on it.
        beside: Events on another element.
        stopped: Events that the guard kept from the page.
        gone: True if the page removed the element when it was pressed, or covered a focused text field.
    """

    pressed: int
    clicked: int
    beside: int
    stopped: int
    gone: bool

    @property
    def delivered(self) -> bool:
        """True if the page saw the click, or removed the element at the press."""
        return bool(self.clicked or (self.pressed and self.gone))


class PressGuard:
    """Listeners in the page for one press of one element.

    Args:
        stops: True if a press that would reach another element is stopped before the page sees it.
    """

    def __init__(self, *, stops: bool) -> None:
        self._stops = stops
        self._number = next(_numbers)
        self._armed: JSHandle | None = None

    async def arm(
        self,
        element: Locator | ElementHandle,
        selectors: list[str],
        words: Mapping[str, Any] | None,
        timeout: float,  # noqa: ASYNC109 - as Playwright says it
    ) -> dict[str, Any]:
        """Begin to listen, and return the result of `eyes.known`. Raises Playwright's Error."""
        await self.read()
        asked = {"selectors": selectors, "stops": self._stops, "words": words}
        call = "guards.arm(argument.number, el, argument.asked)"
        known: dict[str, Any]
        known, self._armed = await in_document(
            element, call, {"number": self._number, "asked": asked}, timeout=timeout
        )
        return known

    async def read(self) -> SeenPress | None:
        """Stop listening, and return the events that the page saw; None if it has been left."""
        armed, self._armed = self._armed, None
        if armed is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                seen = await armed.evaluate("({ guards }, number) => guards.read(number)", self._number)
        except (Error, TimeoutError):
            return None
        return None if seen is None else SeenPress(**seen)
