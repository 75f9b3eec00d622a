"""Postpone the camera's requests during an action: the browser's driver has one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE = 0.15
"""Most seconds for which the camera waits for an action; a longer one is filmed meanwhile."""


class ActionGate:
    """A gate that is shut during an action, for `PATIENCE` seconds at most.

    Pictures and bodies go through the same pipe and the same thread of Playwright's driver as the action: a picture
    takes about 3 ms there, which would slow down a click of 20 ms. A picture that arrives meanwhile is acknowledged
    only when the gate opens, so the browser sends two at most.
    """

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._timer: asyncio.TimerHandle | None = None
        self._then: Callable[[], None] | None = None

    @property
    def shut(self) -> bool:
        """True while an action is being done."""
        return not self._open.is_set()

    def close(self, then: Callable[[], None]) -> None:
        """Shut the gate for an action; call `then` when it opens again."""
        self.open()
        self._open.clear()
        self._then = then
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self.open)

    def open(self) -> None:
        """Open the gate: the action is done or takes too long."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._open.set()
        then, self._then = self._then, None
        if then is not None:
            then()

    async def passed(self) -> None:
        """Wait until the gate is open."""
        await self._open.wait()
