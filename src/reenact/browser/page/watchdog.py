"""Stop a page's endless script, so that actions do not wait for it forever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from weakref import WeakKeyDictionary, WeakSet

from playwright.async_api import CDPSession, Error, Page

SILENT = 30.0
"""Seconds without an answer after which the page's script is stopped."""
_PROTOCOL = 5.0


class Watchdog:
    """Checks that the front page answers while an action takes long.

    The script of a page that does not answer is stopped. If that does not help, the page is closed, which ends the
    action.

    Args:
        front: Returns the tab in front, or None.
    """

    def __init__(self, front: Callable[[], Page | None]) -> None:
        self._front = front
        self._said: list[str] = []
        self._since: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._sessions: WeakKeyDictionary[Page, asyncio.Task[CDPSession | None]] = WeakKeyDictionary()
        self._stopped: WeakSet[Page] = WeakSet()

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())

    def opened(self, page: Page) -> None:
        """Connect to a new tab: a page in an endless script accepts no new connection."""
        if page not in self._sessions:
            self._sessions[page] = asyncio.create_task(_session(page))

    def stop(self) -> None:
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()

    def busy(self, *, now: bool) -> None:
        """Note that an action begins, or that the last one has ended."""
        if not now:
            self._stopped.clear()
        self._since = (self._since or monotonic()) if now else None

    def said(self) -> str:
        """Return the interventions since the last call, as the end of a sentence."""
        said, self._said = self._said, []
        return "".join(f"; {text}" for text in said)

    async def _watch(self) -> None:
        slow, page = 0.0, None
        while True:
            await asyncio.sleep(0 if slow else SILENT / 3)
            front = self._front()
            if front is None or self._since is None or monotonic() - self._since < SILENT / 3:
                slow = 0.0
                continue
            took = await _answer(front)
            slow = slow + took if front is page and took > SILENT / 6 else 0.0
            page = front
            if max(slow, took) >= SILENT:
                slow = 0.0
                await self._free(front)

    async def _free(self, page: Page) -> None:
        """Stop the page's script; close the tab if that does not help."""
        if page not in self._stopped:
            self._stopped.add(page)
            self._said.append(f"the page did not answer for {SILENT:g} s: its script was stopped")
            await self._stop_script(page)
            return
        self._said.append("it still did not answer: the tab was closed")
        with suppress(Error):
            if len(page.context.pages) == 1:
                await page.context.new_page()
            await page.close()

    async def _stop_script(self, page: Page) -> None:
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(_PROTOCOL):
                session = await self._sessions[page]
                if session is not None:
                    await session.send("Runtime.terminateExecution")


async def _session(page: Page) -> CDPSession | None:
    try:
        return await page.context.new_cdp_session(page)
    except Error:  # it is closed already
        return None


async def _answer(page: Page) -> float:
    """Return the seconds until the page's main thread answers, at most `SILENT`."""
    began = monotonic()
    with suppress(Error, TimeoutError):  # Error: it loads another page, or is closed
        async with asyncio.timeout(SILENT):
            await page.evaluate("1")
            return monotonic() - began
    return SILENT if monotonic() - began >= SILENT else 0.0
