"""Switch Playwright's screencast of one page on and off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from reenact.browser.camera.gate import ActionGate
from reenact.browser.camera.writer import FootageWriter

AWAITED = 0.5
"""Seconds after which a stream without pictures is restarted; doubled each time."""
SELDOM = 8.0
"""Most seconds between two such restarts: a page may hang for long."""


class Screencast:
    """Pictures of one page as it is painted.

    Only the last request counts, and no call waits for its effect. A stream sends the current picture about 25 ms after
    it is switched on. (A busy browser sometimes starts a stream that sends nothing: it is restarted.)
    """

    def __init__(
        self,
        page: Any,
        log: FootageWriter,
        take: Callable[[Mapping[str, Any]], None],
        gate: ActionGate,
        *,
        size: tuple[int, int],
        quality: int,
    ) -> None:
        self._page = page
        self._log = log
        self._keep = take
        self._take = log.guarded(self._arrived)
        self._gate = gate
        self._options: dict[str, Any] = {"size": {"width": size[0], "height": size[1]}, "quality": quality}
        self._wanted = self._is = False
        self._anew = self._switching = False
        self._awaited = AWAITED
        self._timer: asyncio.TimerHandle | None = None

    def on(self) -> None:
        """Switch on."""
        self._want(True)

    def off(self) -> None:
        """Switch off."""
        self._want(False)

    def again(self) -> None:
        """Restart, with a picture of the current page."""
        self._anew = self._is
        self._want(True)

    def _took(self, frame: Mapping[str, Any]) -> Awaitable[None] | None:
        """Take a picture; the browser sends the next once the returned awaitable is done."""
        self._take(frame)
        return self._gate.passed() if self._gate.shut else None

    def _arrived(self, frame: Mapping[str, Any]) -> None:
        self._await(0)
        self._awaited = AWAITED
        self._keep(frame)

    def _await(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._missed) if seconds else None

    def _missed(self) -> None:
        if self._wanted and not self._log.closed and not self._page.is_closed():
            self._awaited = min(SELDOM, 2 * self._awaited)
            self.again()

    def _want(self, wanted: bool) -> None:
        self._wanted = wanted
        if not self._switching and (self._is is not wanted or self._anew):
            self._switching = True
            self._log.start(self._switch(), "the screencast")

    async def _switch(self) -> None:
        try:
            while not self._page.is_closed() and (self._is is not self._wanted or self._anew):
                if self._is:
                    self._is = self._anew = False
                    self._await(0)
                    await self._page.screencast.stop()
                else:
                    self._is = True
                    self._await(self._awaited)
                    await self._page.screencast.start(on_frame=self._took, **self._options)
        except Exception:
            if not self._page.is_closed():
                raise
        finally:
            self._switching = False

    def dead(self) -> None:
        """Note that the page has crashed: it sends no more pictures."""
        self._wanted = self._is = self._anew = False
        self._await(0)

    async def stop(self) -> None:
        """Switch off for good."""
        self._wanted = self._anew = False
        self._await(0)
        with suppress(Exception):  # the page or its browser may be closed, and a crashed page never answers
            await asyncio.wait_for(self._switch(), 1)
