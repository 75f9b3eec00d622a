"""Deliver the signals of a recording in its replay, each at its place."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from contextvars import Context
from dataclasses import field
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from reenact.adapters.stdlib import callers
from reenact.adapters.stdlib.deliveries import (
    UNPLACED,
    RunSignals,
    handlers,
    loop_handlers,
    own_thread,
    send,
    sleep,
)
from reenact.core.boundary import Run
from reenact.core.boundary.turnstile import LAST
from reenact.core.dataclass import dataclass
from reenact.core.system import monotonic

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_STUCK = 1.0
"""Seconds of a replay without a place, behind which a signal without one ends the program."""

_MOST = 10_000
_set = signal.signal


@dataclass(slots=True)
class _RecordedSignal:
    """A signal of the recording."""

    order: int
    number: int
    name: str
    unplaced: bool
    taken: bool = field(default=False)
    begun: bool = field(default=False)
    """Its handler has begun to run."""


class Redeliveries(RunSignals):
    """The signals of a replay: those of its recording, and no others."""

    live = False

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._expected = _expected(run)
        self._lock = threading.Lock()
        self._sent: Callable[[], None] | None = None
        self.started = run.root.path != "main"
        """The program has started this process, and sends it the recorded signals again."""
        self.takes_interrupts = any(each.number == signal.SIGINT for each in self._expected)
        if self._expected:
            self._expect()
            own_thread(self._watch)
        else:
            run.turnstile.interrupt = None

    def end(self) -> None:
        """Name the signals that this replay did not reach."""
        super().end()
        handler, left = self.run.handler, self._next()
        if left is not None and handler.poison is None and not handler.gone_live:
            name = signal.Signals(left.number).name
            handler.remark(f"{name} came when it was recorded; this replay ended before")

    def came(self, number: int, frame: FrameType | None) -> None:
        """Take a signal of the system: one that this replay has sent itself, or a real one."""
        sent, self._sent = self._sent, None
        if sent is not None:
            sent()
        elif number == signal.SIGINT and not (self.takes_interrupts and self.started):
            signal.default_int_handler(number, frame)
        elif all(each.number != number for each in self._expected):
            _set(number, signal.SIG_DFL)
            send(self.main, number)

    def sent(self, number: int, frame: FrameType) -> bool:
        """Send no signal that the program handles: those of the recording come by themselves."""
        handled = int(number) in handlers or (self.loop, int(number)) in loop_handlers
        return super().sent(number, frame) or handled

    def interrupt(self, order: int | None) -> None:
        """Deliver the signals that came before an outcome, which the main thread is about to take."""
        if self.loop is not None or threading.get_ident() != self.main or order is None:
            return
        for each in self._expected:
            while each.taken and not each.begun and each.order < order:
                sleep(0.001)  # it has been sent, and interrupts this
        while (signal_ := self._next()) is not None and signal_.order < order:
            if not self._take(signal_):
                continue
            signal_.begun = True
            if signal_.unplaced:
                raise self._lost(signal_)
            self.run.turnstile.pass_sync(signal_.order, partial(self._fire, signal_))
            self.handled(signal_.number, sys._getframe(1))

    def loop_begins(self, loop: AbstractEventLoop) -> None:
        """Queue the next signal in a loop that begins to run."""
        if self._next() is not None:
            loop.call_soon(self._push, loop, context=Context())

    def _push(self, loop: AbstractEventLoop) -> None:
        signal_ = self._next()
        if signal_ is None or self.loop is not loop:
            return

        def release() -> None:
            if not self._take(signal_):
                return
            signal_.begun = True
            self._fire(signal_)
            loop.call_soon(self._push, loop, context=Context())
            if signal_.unplaced:
                self.thrown = self._lost(signal_)
                loop.stop()
            else:
                self.handled_in(loop, signal_.number)

        self.run.turnstile.push(loop, signal_.order, release, lambda: signal_.taken or self.loop is not loop)

    def pause(self) -> None:
        """Wait for the recorded end of a pause: the signals before it come on the way."""
        run, name = self.run, self._pauses()
        order = run.handler.due(run.root, name)
        run.turnstile.pass_sync(LAST if order is None else order, lambda: run.handler.fire(run.root, name))
        if order is None:
            raise run.handler.refuse(
                run.root.path, "the program waits for a signal, and no further one is recorded"
            )

    def unknown(self, text: str, frame: FrameType | None) -> None:
        """Refuse what has no place in the recording."""
        raise self.run.handler.refuse(
            self.run.root.path, f"{text} at {callers.place_of(frame)}, which is not recorded"
        )

    def _next(self) -> _RecordedSignal | None:
        return next((each for each in self._expected if not each.taken), None)

    def _take(self, signal_: _RecordedSignal) -> bool:
        with self._lock:
            taken, signal_.taken = signal_.taken, True
        self._expect()
        return not taken

    def _expect(self) -> None:
        signal_, turnstile = self._next(), cast("Any", self.run.turnstile)
        turnstile.expected = None if signal_ is None or self.over else signal_.order

    def _fire(self, signal_: _RecordedSignal) -> None:
        self.run.handler.fire(self.run.root, signal_.name)

    def _lost(self, signal_: _RecordedSignal) -> BaseException:
        return self.run.handler.refuse(
            self.run.root.path,
            f"{signal.Signals(signal_.number).name} came here when it was recorded, while the program computed: "
            "a replay has no place for it",
        )

    def _watch(self) -> None:
        """Send the main thread each signal that comes while it waits for other threads."""
        for signal_ in self._expected:
            since: float | None = None
            while not signal_.taken and not self.over:
                sleep(0.005)
                if self.run.handler.poison is not None or self.run.handler.gone_live:
                    return
                if self.loop is not None:
                    continue
                turnstile: Any = self.run.turnstile
                if signal_.unplaced:
                    since = since or (monotonic() if turnstile.position >= signal_.order else None)
                    if since is not None and monotonic() - since > _STUCK and self._take(signal_):
                        self._send(signal_.number, partial(_raise, self._lost(signal_)))
                elif turnstile.interrupts(signal_.order, self.main) and self._take(signal_):
                    self._send(signal_.number, partial(self._now, signal_))

    def _now(self, signal_: _RecordedSignal) -> None:
        signal_.begun = True
        self._fire(signal_)
        self.handled(signal_.number, sys._getframe(1))
        self.run.turnstile.blocks()

    def _send(self, number: int, act: Callable[[], None]) -> None:
        self._sent = act
        if number not in handlers:
            number = signal.SIGINT
        send(self.main, number)


def _expected(run: Run) -> list[_RecordedSignal]:
    """Return the signals of a recording, in order."""
    found: list[_RecordedSignal] = []
    names = [(int(each), f"{each.name}{mark}", mark) for each in signal.Signals for mark in ("", UNPLACED)]
    while len(found) < _MOST:
        due = [
            _RecordedSignal(order, number, full, bool(mark))
            for number, name, mark in names
            if (order := run.handler.due(run.root, full := f"signal#{len(found)}:{name}")) is not None
        ]
        if not due:
            break
        found += due[:1]
    return found


def _raise(error: BaseException) -> None:
    raise error
