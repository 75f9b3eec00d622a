"""Time limits of waits between threads, which end in a replay as in the recording.

The end of each wait with a time limit passes the turnstile, with its outcome in the name of its line: `limit:get#0`
was in time, `limit:get#0:late` was not. A replay waits for the recorded turn. It returns at once from a wait that was
late. It waits for one that was in time as long as another thread can go on, however long the limit is.

After a wait that was late, later questions about the same object (`Thread.is_alive`, `Future.done`, `Event.is_set`) are
recorded too: their answers depend on the time that has passed.

Waits for futures count in all code of a run, other waits only in the program's own code: some libraries wait in the
background, again and again. Barriers' time limits are not recorded.
"""

from __future__ import annotations

import threading
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

from reenact.adapters import standstill
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope, entered
from reenact.core.boundary.turnstile import LAST
from reenact.core.dataclass import dataclass
from reenact.core.store.writer import warn
from reenact.core.system import monotonic

_LATE = ":late"
_SLICE = 0.05
"""Seconds between two looks at the other threads of the replay."""
_LEAST = 2.0
"""Seconds in which a thread outside of the run may still end the wait."""
_QUIET = 10.0
"""Seconds after which a replay warns of a wait that lasts."""

UNLIMITED = 2.0
"""The limit in seconds of a wait without one, after which a replay checks for a standstill."""

_RUN = threading.Thread.run.__code__

_mode = threading.local()


def unordered() -> bool:
    """Return True in a wait with a time limit: locks are taken in any order there."""
    return getattr(_mode, "unordered", 0) > 0


@contextmanager
def any_order() -> Iterator[None]:
    """Take locks in any order while the body runs: only the end of the wait is recorded."""
    _mode.unordered = getattr(_mode, "unordered", 0) + 1
    try:
        yield
    finally:
        _mode.unordered -= 1


class TooLate(Exception):
    """The time limit ended the wait."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A wait with a time limit.

    Args:
        scope: The scope of the thread that waits.
        name: The name of its end in the recording.
        limit: The time limit, in seconds.
    """

    scope: Scope
    name: str
    limit: float

    @property
    def what(self) -> str:
        """The wait in words."""
        return self.name.partition(":")[2].partition("#")[0]

    def over(self, met: bool, write: Callable[[], None] | None = None) -> None:
        """Go on after the wait, in this thread's turn, and record the outcome."""
        run, name = self.scope.run, self.name if met else self.name + _LATE

        def fire() -> None:
            run.handler.fire(self.scope, name)
            if write is not None:
                write()

        # A late end that is not in the recording comes last: the recording ended before it. Inside of a call that runs
        # for real (`#` in its path) it may come at any time.
        unseen = not met and run.replaying and not run.handler.gone_live and "#" not in self.scope.path
        run.turnstile.pass_sync(LAST if unseen else None, fire)

    def due(self) -> tuple[bool, str, int] | None:
        """Return the recorded outcome with the name and position of its line, or None."""
        run = self.scope.run
        if not run.replaying or run.handler.gone_live:
            return None
        for met, name in ((True, self.name), (False, self.name + _LATE)):
            place = run.handler.due(self.scope, name)
            if place is not None:
                return met, name, place
        return None

    def recorded(self) -> bool | None:
        """Wait in a replay for the recorded turn; return the recorded outcome or None."""
        due = self.due()
        if due is None:
            return None
        met, name, place = due
        run = self.scope.run
        run.turnstile.pass_sync(place, partial(run.handler.fire, self.scope, name))
        return met

    def answer(self, attempt: Callable[[float], Any]) -> Any:
        """Wait, or end the wait as it was recorded.

        Args:
            attempt: Waits for the given seconds; raises `TooLate` after them.
        """
        met = self.recorded()
        if met is None:
            try:
                with any_order(), standstill.waiting(self.scope.run, ends=True):
                    value = attempt(self.limit)
            except TooLate:
                self.over(met=False)
                raise
            except Exception:
                self.over(met=True)
                raise
            self.over(met=True)
            return value
        if not met:
            raise TooLate
        return self.until(attempt)

    def until(self, attempt: Callable[[float], Any]) -> Any:
        """Wait, as it was in time when it was recorded. Raises `Halt` if nothing can end the wait."""
        began = monotonic()
        while True:
            try:
                with entered(None), any_order():
                    return attempt(_SLICE)
            except TooLate:
                waited = monotonic() - began
            handler = self.scope.run.handler
            if handler.poison is not None:
                raise handler.poison
            if handler.gone_live and waited >= self.limit:
                raise TooLate
            if waited >= max(self.limit, _LEAST):
                break
        with standstill.waiting(self.scope.run):
            return self._past_limit(attempt)

    def _past_limit(self, attempt: Callable[[float], Any]) -> Any:
        """Wait after the limit as long as another thread can go on."""
        began, warned = monotonic(), False
        run = self.scope.run
        while run.turnstile.others_run():
            standstill.look(self.scope)
            if monotonic() - began > _QUIET and not warned:
                warned = True
                warn(f"the replay waits for other threads, in {self.what} of {self.scope.path}")
            try:
                with entered(None), any_order():
                    return attempt(_SLICE)
            except TooLate:
                if run.handler.gone_live:
                    raise
        raise run.handler.refuse(
            self.scope.path,
            f"{self.what} was in time when it was recorded; now its limit of {self.limit:g} s is over, and no "
            "other thread can go on",
        )


def deadline(
    what: str,
    limit: float | None,
    caller: FrameType,
    of: Callable[[FrameType], bool] = callers.program,
    *,
    given: bool = False,
) -> Deadline | None:
    """Return the wait, if it has a limit and waits of its caller are recorded.

    Args:
        what: The wait in words.
        limit: The time limit, in seconds.
        caller: The code that waits.
        of: Returns True for code whose waits are recorded.
        given: A replay compares the limit, if the program gives it.
    """
    if limit is None:
        return None
    scope = listening()
    if scope is None or not (of(caller) or is_target(caller)):
        return None
    if given and (of is not not_ours or callers.program(caller)):
        scope.run.times.add(scope.path, limit)
    name = f"limit:{what}"
    return Deadline(scope, f"{name}#{scope.count(name)}", limit)


def seconds_of(timeout: float | None) -> float:
    """Return the limit of a wait in seconds, `UNLIMITED` without one."""
    return UNLIMITED if timeout is None else max(timeout, 0.0)


def is_target(caller: FrameType | None) -> bool:
    """Return True if this code runs the target of a thread that the program has started.

    A function of a library may be such a target (`Thread(target=box.get)`): its wait is the program's.
    """
    if caller is None or caller.f_code is not _RUN:
        return False
    return getattr(caller.f_locals["self"], "_reenact_counts", False)


def not_ours(caller: FrameType) -> bool:
    """Return True for all code but Reenact's."""
    return callers.program(caller) or not caller.f_code.co_filename.startswith(callers.OURS)


def pause(seconds: float = 0.001) -> None:
    """Let other threads run for a moment."""
    lock = allocate_lock()
    lock.acquire()
    lock.acquire(timeout=seconds)
