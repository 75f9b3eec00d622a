"""The waits for a cancellation that was recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reenact.core.boundary.running_loop import this_loop

if TYPE_CHECKING:
    import asyncio


class HangingWaits:
    """The waits that end only by a cancellation.

    Attributes:
        waits: Each wait with the error to end it with if its cancellation never comes.
    """

    def __init__(self) -> None:
        self.waits: list[tuple[asyncio.Future[None], Callable[[], BaseException]]] = []

    async def wait(self, stuck: Callable[[], BaseException], wake: Callable[[], None]) -> None:
        """Wait until cancelled.

        `wake` wakes the loop's pump; `stuck` makes the error of a wait in vain.
        """
        forever: asyncio.Future[None] = this_loop().create_future()
        self.waits.append((forever, stuck))
        wake()
        try:
            await forever
        finally:
            # The closing of an async generator is no cancellation: the future would stay.
            forever.cancel()

    def some_left(self) -> bool:
        """Forget the waits that have ended; return True if there are others."""
        self.waits = [(future, stuck) for future, stuck in self.waits if not future.done()]
        return bool(self.waits)

    def fail_first(self) -> None:
        """End the first wait by its error."""
        future, stuck = self.waits.pop(0)
        future.set_exception(stuck())
