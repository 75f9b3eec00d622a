"""While an action is being done, what can wait waits: the browser's driver does one thing at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE = 0.15
"""Seconds for which an action is left alone. One that takes longer is filmed while it goes on."""


class Gate:
    """Shut from the beginning of an action to its end, but never for long.

    Pictures, measures of secrets and bodies go through the same pipe and the same thread of Playwright's driver as the
    action: a picture costs that thread some 3 ms, which a click of 20 ms would feel. A picture that comes all the same
    is not acknowledged before the gate opens, so that the browser sends one or two, and no more.
    """

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._timer: asyncio.TimerHandle | None = None
        self._then: Callable[[], None] | None = None

    @property
    def shut(self) -> bool:
        """Whether an action is being done."""
        return not self._open.is_set()

    def close(self, then: Callable[[], None]) -> None:
        """An action begins; `then` is called when the gate opens again."""
        self.open()
        self._open.clear()
        self._then = then
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self.open)

    def open(self) -> None:
        """The action is done, or has taken too long to be waited for."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._open.set()
        then, self._then = self._then, None
        if then is not None:
            then()

    async def passed(self) -> None:
        """Wait until no action is being done, or it has taken long."""
        await self._open.wait()
