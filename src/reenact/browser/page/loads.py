"""The pages that a browser's tabs are loading."""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import Error


class PageLoads:
    """Follows the requests for pages, from the context's events.

    Attributes:
        count: The number of navigations and of opened tabs so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._under_way: set[Any] = set()
        self._unborn = 0
        self._moved = asyncio.Event()

    def opened(self) -> None:
        """Note that a tab is open."""
        self.count += 1
        self._unborn = max(self._unborn - 1, 0)
        self._moved.set()

    def requested(self, request: Any) -> None:
        """Note that a request is sent."""
        if not request.is_navigation_request():
            return
        try:
            if request.frame.parent_frame is not None:
                return
        except Error:
            # The request is for the first page of a tab that will open.
            self._unborn += 1
        self.count += 1
        self._under_way.add(request)

    def answered(self, request: Any) -> None:
        """Note that a request has ended or failed."""
        self._under_way.discard(request)
        self._moved.set()

    async def over(self, patience: float) -> None:
        """Wait until no tab is loading another page, for at most `patience` seconds."""
        try:
            async with asyncio.timeout(patience):
                while self._under_way or self._unborn:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            self._under_way.clear()
            self._unborn = 0
