"""Deliver signals to the program's handlers while a run is recorded."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from reenact.adapters.stdlib import callers
from reenact.core.boundary import Run, entered
from reenact.core.boundary.recorded_answer import INTERRUPTED
from reenact.core.store.writer import warn
from reenact.core.system import monotonic

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Handle

_LIMIT = 0.3
"""Seconds that a signal waits for a place in the order; then it is delivered at once."""

_AGAIN = 0.02

UNPLACED = ":unplaced"
"""The end of the name of a signal without a place in the order."""

_CORE = f"{callers.OURS}core{os.sep}"
WAITS = {
    "_in_time", "_of_lists", "_of_number", "_of_pipe", "_of_socket", "_rested", "_slept", "_until_notified", "_wait",
    "_waited", "can_read", "live", "now", "pause", "perform", "poll", "wait",
}  # fmt: skip
"""Reenact's functions that call a wait in C, where a signal interrupts no work of Reenact's."""

sleep = time.sleep
send: Any = getattr(signal, "pthread_kill", None)
"""Sends a signal to a thread; the original, since the function is replaced later."""

handlers: dict[int, Any] = {}
"""The program's handlers by the signal's number."""

loop_handlers: dict[tuple[AbstractEventLoop, int], Handle] = {}
"""The program's handlers in event loops."""


class RunSignals:
    """The signals of one run.

    Args:
        run: The run.
    """

    takes_interrupts = True
    live = True

    def __init__(self, run: Run) -> None:
        self.run = run
        self.main = threading.get_ident()
        self.loop: AbstractEventLoop | None = None
        self.thrown: BaseException | None = None
        self.over = False
        self.count = 0
        run.turnstile.interrupt = self.interrupt

    def end(self) -> None:
        self.over = True
        self.run.turnstile.interrupt = None

    def loop_begins(self, loop: AbstractEventLoop) -> None: ...

    def interrupt(self, order: int | None) -> None:
        raise NotImplementedError

    def handled(self, number: int, frame: FrameType | None) -> None:
        """Run the program's handler, in a scope of its own."""
        self.count += 1
        name = signal.Signals(number).name
        with entered(self.run.root.child(f"signal:{name}")):
            handle = self.loop and loop_handlers.get((self.loop, number))
            if handle:
                handle._run()
                return
            handler = handlers.get(number, signal.default_int_handler if number == signal.SIGINT else None)
            if not callable(handler):
                raise self.run.handler.refuse(
                    self.run.root.path,
                    f"{name} came here when it was recorded; the program does not handle it now",
                )
            try:
                handler(number, frame)
            except BaseException as error:
                error.__dict__[INTERRUPTED] = True
                raise

    def _pauses(self) -> str:
        return f"pause#{self.run.root.count('pause')}"

    def handled_in(self, loop: AbstractEventLoop, number: int) -> None:
        """Run a handler from a callback of the loop; its exception ends the loop."""
        try:
            self.handled(number, sys._getframe())
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            self.thrown = error
            loop.stop()

    def sent(self, number: int, frame: FrameType) -> bool:
        """Run the handler at once if the main thread has sent itself the signal: it needs no turn."""
        if threading.get_ident() == self.main and int(number) in handlers:
            self.handled(int(number), frame)
            return True
        return False


class Deliveries(RunSignals):
    """The signals of a run that is recorded."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._pending: dict[int, float] = {}
        self._more: Counter[int] = Counter()
        self._asked: set[int] = set()
        run.turnstile.unblocks()
        self._named: set[str] = set()

    def came(self, number: int, frame: FrameType | None) -> None:
        """Receive a signal, for the first time or again.

        Deliver it if this thread is at rest, or if the signal has waited too long.
        """
        if self.over:
            return
        first, again = number not in self._pending, number in self._asked
        self._asked.discard(number)
        since = self._pending.setdefault(number, monotonic())
        if first:
            self._ask_again(number)
        elif not again:
            self._more[number] += 1
        if self.loop is not None:
            if first:
                self.heard(self.loop, number)
        elif self._rests(frame):
            self._deliver(number, frame)
            return
        if not first and monotonic() - since > _LIMIT and _harmless(frame):
            self._deliver(number, frame, UNPLACED)

    def heard(self, loop: AbstractEventLoop, number: int) -> None:
        """Queue a signal that comes while a loop runs."""
        self._pending.setdefault(number, monotonic())

        def release() -> None:
            if self._leaves(number):
                self._write(number, "")
                self.handled_in(loop, number)
                if number in self._pending:
                    self.heard(loop, number)

        def queue() -> None:
            self.run.turnstile.push(loop, None, release, lambda: number not in self._pending)

        loop.call_soon_threadsafe(queue, context=Context())

    def interrupt(self, order: int | None) -> None:
        """Deliver the signals that have come: the main thread is about to take an outcome."""
        if self._pending and self.loop is None and threading.get_ident() == self.main:
            for number in list(self._pending):
                self._deliver(number, sys._getframe(1))

    def pause(self) -> None:
        """Wait for a signal, as `signal.pause`."""
        count, run = self.count, self.run
        name = self._pauses()
        run.turnstile.blocks()
        try:
            while self.count == count:
                sleep(_AGAIN)
        finally:
            run.turnstile.unblocks()
        run.turnstile.pass_sync(None, lambda: run.handler.fire(run.root, name))

    def unknown(self, text: str, frame: FrameType | None) -> None:
        """Name a use of signals that a replay cannot repeat, once."""
        text = f"{text} at {callers.place_of(frame)}, between two places of the recording: a replay diverges there"
        if text not in self._named:
            self._named.add(text)
            self.run.handler.note("source", text)
            warn(text)

    def _deliver(self, number: int, frame: FrameType | None, unplaced: str = "") -> None:
        if not self._leaves(number):
            return
        turnstile = self.run.turnstile
        turnstile.pass_sync(None, lambda: self._write(number, unplaced))
        if unplaced:
            self.unknown(f"{signal.Signals(number).name} came", frame)
        self.handled(number, frame)
        if not unplaced:
            turnstile.settle()

    def _leaves(self, number: int) -> bool:
        """Remove a signal from the list of those that have come.

        Return False if another call has removed it: the next signal may interrupt each call.
        """
        if self._pending.pop(number, None) is None:
            return False
        if self._more[number]:
            self._more[number] -= 1
            self._pending[number] = monotonic()
        return True

    def _write(self, number: int, unplaced: str) -> None:
        name = f"signal#{self.run.root.count('signal')}:{signal.Signals(number).name}{unplaced}"
        self.run.handler.fire(self.run.root, name)

    def _rests(self, frame: FrameType | None) -> bool:
        """Return True if the main thread waits, in the boundary or in a wait of threads."""
        return cast("Any", self.run.turnstile).at_rest(self.main) and _below_ours(frame)

    def _ask_again(self, number: int) -> None:
        def again() -> None:
            while number in self._pending and not self.over:
                sleep(_AGAIN)
                if number in self._pending and not self.over:
                    self._asked.add(number)
                    send(self.main, number)

        own_thread(again)


def own_thread(target: Callable[[], None]) -> None:
    thread = threading.Thread(target=target, name="reenact-signals", daemon=True)
    thread.reenact_own = True  # type: ignore[attr-defined]
    with entered(None):
        thread.start()


def _below_ours(frame: FrameType | None) -> bool:
    """Return True if the boundary waits for this frame, with no code of the program between."""
    if frame is not None and frame.f_code.co_filename.startswith(callers.OURS):
        return frame.f_code.co_name in WAITS
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(callers.OURS):
            return not file.startswith(_CORE) or frame.f_code.co_name == "perform"
        if callers.kind_of(frame) == callers.OWN:
            return False
        frame = frame.f_back
    return False


def _harmless(frame: FrameType | None) -> bool:
    """Return True if this thread is not in the middle of the recorder's own work."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(callers.OURS):
            return not file.startswith(_CORE) or frame.f_code.co_name == "perform"
        frame = frame.f_back
    return True
