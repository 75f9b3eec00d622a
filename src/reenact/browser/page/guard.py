"""Confirm that a press reaches the element that was checked, and stop any other."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from playwright.async_api import ElementHandle, Error, JSHandle, Locator

from reenact.browser.page.sources import eyes

_PATIENCE = 1.0
"""Seconds for the page's answer about a press."""


class SeenPress(NamedTuple):
    """The events of a press that the page saw.

    Attributes:
        pressed: Times that the pointer went down on the element.
        clicked: Clicks on it.
        beside: Events on another element.
        stopped: Events that were kept from the page.
        gone: True if the page took the element away as it handled the press.
    """

    pressed: int
    clicked: int
    beside: int
    stopped: int
    gone: bool

    @property
    def delivered(self) -> bool:
        """True if the page saw the click, or took the element away at the press."""
        return bool(self.clicked or (self.pressed and self.gone))


class PressGuard:
    """Listeners in the page for one press of one element.

    Args:
        stops: True if a press that would reach another element is stopped before the page sees it.
    """

    def __init__(self, *, stops: bool) -> None:
        self._stops = stops
        self._armed: JSHandle | None = None

    async def arm(
        self,
        element: Locator | ElementHandle,
        selectors: list[str],
        words: Mapping[str, Any] | None,
        timeout: float,  # noqa: ASYNC109 - as Playwright says it
    ) -> dict[str, Any]:
        """Begin to listen, and return what `eyes.known` tells. Raises Playwright's Error."""
        await self.read()
        code = f"(el, argument) => ({_code()})({eyes()}, el, argument)"
        asked = {"selectors": selectors, "stops": self._stops, "words": words}
        if isinstance(element, ElementHandle):
            self._armed = await element.evaluate_handle(code, asked)
        else:
            self._armed = await element.evaluate_handle(code, asked, timeout=timeout)
        known: dict[str, Any] = await self._armed.evaluate("one => one.known")
        return known

    async def read(self) -> SeenPress | None:
        """Stop listening, and return what the page saw; None where the page is another one by now."""
        armed, self._armed = self._armed, None
        if armed is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                return SeenPress(**await armed.evaluate("one => one.read()"))
        except (Error, TimeoutError):
            return None


@cache
def _code() -> str:
    text = files("reenact.browser.page").joinpath("guard.js").read_text(encoding="utf-8")
    return text[text.index("(eyes,") :].strip()
