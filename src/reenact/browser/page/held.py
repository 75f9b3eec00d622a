"""Hold the requests of a press until they are compared with those of good runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from playwright.async_api import BrowserContext, Error, Request, Route

from reenact.browser.page.writes import READING, Written, other, written
from reenact.errors import ActionError

PATIENCE = 2.0
"""Seconds after a press in which its request may come."""

_ASIDE = frozenset({"ping", "beacon", "csp_report", "preflight"})


class DroppedRequest(ActionError):
    """A press sent another request than the step does; the request was dropped.

    Attributes:
        facts: `reason`.
    """

    def __init__(self, why: str) -> None:
        super().__init__(f"{why}: the request was dropped, and nothing was sent")
        self.facts = {"reason": "dropped"}


class HeldRequests:
    """Holds a context's requests that may change something, until the first one is judged.

    Args:
        context: The browser's context.
        then: The requests of the step in good runs.
        whole: As for `writes.other`.
    """

    def __init__(self, context: BrowserContext, then: Sequence[Written], *, whole: bool) -> None:
        self._context = context
        self._then = then
        self._whole = whole
        self._judged = asyncio.Event()
        self._why = ""

    async def begin(self) -> None:
        """Begin to hold requests."""
        await self._context.route("**/*", self._route)

    async def end(self) -> None:
        """Wait for the first request, then stop holding. Raises DroppedRequest."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._judged.wait(), PATIENCE)
        await self.release()
        if self._why:
            raise DroppedRequest(self._why)

    async def release(self) -> None:
        """Stop holding requests."""
        with suppress(Error):
            await self._context.unroute("**/*", self._route)

    async def _route(self, route: Route) -> None:
        request = route.request
        if request.method in READING or request.resource_type in _ASIDE:
            await route.fallback()
            return
        if not self._judged.is_set():
            self._why = other(print_of(request), self._then, whole=self._whole)
            self._judged.set()
        # Once a request was dropped, all later ones are dropped, too.
        if self._why:
            await route.abort("aborted")  # so that a page stays as it is
        else:
            await route.fallback()


def print_of(request: Request) -> Written:
    """Return the print of one of the browser's requests."""
    body, site = None, ""
    with suppress(Error, UnicodeDecodeError):
        body = request.post_data_buffer
    with suppress(Error):
        site = request.frame.url
    return written(request.method, request.url, site, request.headers.get("content-type", ""), body)
