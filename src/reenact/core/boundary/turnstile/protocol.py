"""The protocol of all turnstiles, and their time limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio

GRACE = 0.01
"""Seconds that a recording lets one thread wait for another to reach its next boundary."""

PATIENCE = 0.5
"""Seconds that a replay waits for an outcome that might still come."""

LAST = 1 << 60
"""The place of an outcome that is not in the recording: after all recorded ones."""


class Turnstile(Protocol):
    """The interface of a turnstile, as the shells use it."""

    @property
    def uncertain(self) -> int:
        """The count of uncertain places: another thread was still running after `GRACE`."""

    @property
    def position(self) -> int:
        """The first recorded place that has not been passed, or passed over, in a replay."""

    expected: int | None
    """The place of the next signal, which the main thread takes, in a replay."""

    raced: Callable[[set[int]], None] | None
    """Called with the threads that are still running while an outcome passes, in a recording."""

    interrupt: Callable[[int | None], None] | None
    """Called before each outcome with its place.

    It runs the handlers of signals that came before.
    """

    on_settle: Callable[[], None]
    """Called where the running thread reaches the boundary, blocks, or ends, in a replay."""

    def settle(self) -> None:
        """Report that the running thread has reached the boundary, blocks, or ends."""

    def pass_sync(self, order: int | None, write: Callable[[], None] | None) -> None:
        """Block until it is this outcome's turn; then call `write`, which records it."""

    def passes_now(self, order: int | None, loop: asyncio.AbstractEventLoop) -> bool:
        """Return True if this outcome of the running loop passes without a wait; then it has passed."""

    def await_turn(
        self, order: int | None, loop: asyncio.AbstractEventLoop, write: Callable[[], None] | None
    ) -> Awaitable[None]:
        """Return a wait in the running loop for this outcome's turn, which has not come yet."""

    async def pass_async(self, order: int | None, write: Callable[[], None] | None) -> None:
        """Let this outcome pass at once, or when its turn comes in the event loop."""

    def push(
        self,
        loop: asyncio.AbstractEventLoop,
        order: int | None,
        release: Callable[[], None],
        given_up: Callable[[], bool],
        when: float | None = None,
    ) -> None:
        """Queue a wake-up of the loop: `release` runs in its turn.

        A timer gives its time as `when`, a job gives 0.
        """

    def hang(self, stuck: Callable[[], BaseException]) -> Awaitable[None]:
        """Wait for a recorded cancellation."""

    def live_begins(self) -> None:
        """Report that a real call starts."""

    def live_ends(self) -> None:
        """Report that a real call has ended."""

    def thread_started(self) -> None:
        """Report that the running thread starts another, or hands a job to a pool."""

    def thread_begins(self) -> None:
        """Report that the running thread, started before, begins to run the program's code."""

    def thread_ends(self) -> None:
        """Report that the running thread has left the program's code."""

    def blocks(self, still: Callable[[], bool] | None = None) -> None:
        """Report that the running thread is about to wait for another one, if it `still` has to."""

    def unblocks(self) -> None:
        """Report that the running thread goes on."""

    def woken(self, thread: int) -> None:
        """Report that the running thread has woken a blocked one."""

    def others_run(self) -> bool:
        """Return True if another thread of the program can still go on."""

    def quiet_for(self) -> float:
        """Return the seconds since something passed or another thread was seen at work."""

    def stands(self, endless: AbstractSet[int]) -> bool:
        """Return True if all threads of the run wait, and nothing is due.

        Args:
            endless: The threads whose waits do not end by themselves.
        """

    def strangers(self, threads: AbstractSet[int]) -> AbstractSet[int]:
        """Return those of these threads that are not the run's."""

    def job_done(self) -> None:
        """Report that an executor's job has returned, and its loop does not know yet."""

    def job_passed(self) -> None:
        """Report that the loop knows of a finished job."""

    def rests(self, loop: asyncio.AbstractEventLoop) -> None:
        """Report that the loop will wait for other threads: find out when it is quiet."""
