"""The clocks that the program reads, and the time that it sleeps.

The wall clock is read through C functions that programs import early (`from time import time`, `datetime.now` as a
default factory), so it is hooked below them: time-machine patches these functions to ask an object on a stack, where
Reenact puts one. The other clocks (`time.monotonic`, `time.perf_counter` …) are replaced in the `time` module only:
event loops and time limits of libraries use the real ones.
"""

from __future__ import annotations

import datetime as dt
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from types import BuiltinMethodType, FrameType
from typing import Any

from reenact.adapters.stdlib import callers, early, travel
from reenact.core.boundary import Run, Scope, current, draw
from reenact.core.boundary.turnstile import LAST
from reenact.core.store.writer import warn

_getframe = sys._getframe
_program = callers.program
_kinds, LIBRARY = callers._kinds, callers.LIBRARY
_sleep = time.sleep
_ctime, _asctime, _localtime = time.ctime, time.asctime, time.localtime

_PAUSE = 0.005
"""Seconds that an unrecorded sleep takes in a replay: a loop that polls must let others run."""

_POLLERS = {
    "_pydev_bundle", "_pydevd_bundle", "_pytest", "bdb", "debugpy", "execnet", "multiprocessing", "pdb", "pydevd",
    "reenact", "socketserver", "subprocess", "xdist",
}  # fmt: skip
"""Modules that always sleep for real: they poll (for a child process), or time a replay."""

polled: Callable[[Scope, FrameType], None] | None = None
"""Called after a sleep that is not recorded, with its scope and its code."""

_zones: dict[Run, str | None] = {}
_runs: set[Run] = set()
_lock = threading.RLock()


def install() -> None:
    """Replace the functions of `time`, once. The wall clock is hooked during a run only."""
    if isinstance(time.monotonic, staticmethod):
        return
    callers.install()
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        if hasattr(time, name):
            _hook(name)
    if sys.platform != "win32":
        _hook_numbered()
    early.replace(time, "sleep", _slept, everywhere=True)
    early.replace(time, "ctime", _ctime_of)
    early.replace(time, "asctime", _asctime_of)
    if (timeit := sys.modules.get("timeit")) is not None:
        timeit.default_timer = time.perf_counter  # type: ignore[attr-defined]


def begin(run: Run) -> None:
    """Hook the wall clock. A replay runs in the recorded time zone, for local times."""
    with _lock:
        _runs.add(run)
        _hook_wall_clock()
    zone = run.handler.draw(run.root, "clock:zone", _zone)
    if run.replaying and isinstance(zone, str) and zone != _zone():
        _zones[run] = os.environ.get("TZ")
        _set_zone(zone)
    # uuid1 never goes back before its last result, and a replay is in the past.
    if run.replaying and (uuid := sys.modules.get("uuid")) is not None:
        uuid._last_timestamp = None  # type: ignore[attr-defined]


def end(run: Run) -> None:
    """Restore the machine's time zone and wall clock, if no other run is active."""
    if run in _zones:
        _set_zone(_zones.pop(run))
    with _lock:
        _runs.discard(run)
        if not _runs and traveller in travel.stack:
            travel.stack.remove(traveller)
            if not travel.stack:
                travel.clock.unpatch()


# -- the wall clock ------------------------------------------------------------------------------------------


class _Traveller:
    """The source of the time for time-machine's C functions."""

    _destination_tzname = None

    def time_ns(self) -> int:
        """Return the time for the calling code."""
        scope = current()
        # Fast path: most reads are a library's, for each line of its log and each span of its traces.
        if scope is None or _kinds.get(_getframe(1).f_code.co_filename) == LIBRARY:
            return _real_ns()
        if scope.hidden or not _program(_getframe(1)):
            return _real_ns()
        return draw("clock:time", _real_ns)

    def _start(self) -> None: ...

    def _stop(self) -> None: ...


traveller: Any = _Traveller()
"""Reenact's object in time-machine's stack while a run is active."""


def travels() -> bool:
    """Return True if the program itself uses time-machine."""
    return travel.stack[-1:] not in ([], [traveller])


def _real_ns() -> int:
    try:
        return travel.clock.original_time_ns()  # type: ignore[no-any-return]
    except ValueError:
        # The last run has just ended: the clock is the real one again.
        return time.time_ns()


def _hook_wall_clock() -> None:
    if traveller in travel.stack:
        return
    if not isinstance(dt.datetime.now, BuiltinMethodType):
        # freezegun has replaced the class: to patch its own would crash the process.
        warn(
            "the wall clock is not recorded while freezegun holds it: start the recording outside of freeze_time()"
        )
        return
    # At the bottom: if the program itself travels in time, its own time counts.
    travel.stack.insert(0, traveller)
    travel.clock.patch()


def _ctime_of(seconds: float | None = None, /) -> str:
    if seconds is not None:
        return _ctime(seconds)
    return _asctime(_localtime(_now(2)))


def _asctime_of(moment: Any = None, /) -> str:
    return _asctime(_localtime(_now(2)) if moment is None else moment)


def _now(depth: int) -> float:
    scope = current()
    if scope is None or scope.hidden or not _program(_getframe(depth)):
        return time.time()
    return time.time() if travels() else draw("clock:time", _real_ns) / 1e9


# -- the other clocks ----------------------------------------------------------------------------------------


def _hook(name: str) -> None:
    original: Callable[[], float] = getattr(time, name)
    original_ns: Callable[[], int] = getattr(time, f"{name}_ns")
    source = f"clock:{name}"

    def read() -> float:
        scope = current()
        if scope is None or scope.hidden or not _program(_getframe(1)):
            return original()
        return draw(source, original_ns) / 1e9

    def read_ns() -> int:
        scope = current()
        if scope is None or scope.hidden or not _program(_getframe(1)):
            return original_ns()
        return draw(source, original_ns)

    early.replace(time, name, read)
    early.replace(time, f"{name}_ns", read_ns)


if sys.platform != "win32":

    def _hook_numbered() -> None:
        """Record the clocks of `time.clock_gettime`."""
        original, original_ns = time.clock_gettime, time.clock_gettime_ns

        def read(clock: int, frame: FrameType) -> int | None:
            scope = current()
            if scope is None or scope.hidden or not _program(frame):
                return None
            if clock != time.CLOCK_REALTIME:
                return draw(f"clock:{clock}", partial(original_ns, clock))
            return None if travels() else draw("clock:time", _real_ns)

        def clock_gettime(clock: int, /) -> float:
            found = read(clock, _getframe(1))
            return original(clock) if found is None else found / 1e9

        def clock_gettime_ns(clock: int, /) -> int:
            found = read(clock, _getframe(1))
            return original_ns(clock) if found is None else found

        early.replace(time, "clock_gettime", clock_gettime)
        early.replace(time, "clock_gettime_ns", clock_gettime_ns)


# -- sleeping ------------------------------------------------------------------------------------------------


def _slept(seconds: float, /) -> None:
    scope = current()
    if scope is None or scope.hidden or _polls():
        _sleep(seconds)
        return
    run = scope.run
    name = f"sleep#{scope.count('sleep')}"
    order = run.handler.due(scope, name)
    more = run.further(order)
    run.turnstile.settle()
    if not run.replaying or run.handler.gone_live:
        _sleep(seconds)
    elif order is None:
        # Not recorded. A tool that runs for real sleeps for real. Any other sleep had not ended when the recording did:
        # a thread that sleeps again and again must not hold up the rest of the replay.
        if run.waits is not None:
            run.waits()
        order = _slept_unrecorded(scope, seconds)
    elif seconds < 0:
        _sleep(seconds)  # raises the error
    caller = _getframe(1)

    def fire() -> None:
        run.handler.fire(scope, name)
        # Here, since a signal's handler that comes next may raise an exception.
        if _program(caller):
            run.times.sleep(scope.path, further=more)
            if not more:
                run.times.add(scope.path, seconds)

    run.turnstile.pass_sync(order, fire)
    if order == LAST and polled is not None:
        polled(scope, caller)


def _slept_unrecorded(scope: Scope, seconds: float) -> int | None:
    """Sleep without a recorded end; return the sleep's position in the order."""
    live = "#" in scope.path
    if not live and not scope.run.killed:
        _sleep(min(seconds, _PAUSE))
        return LAST
    scope.run.turnstile.blocks()
    try:
        _sleep(seconds)
    finally:
        scope.run.turnstile.unblocks()
    return None if live else LAST


def _polls() -> bool:
    name = _getframe(2).f_globals.get("__name__")
    # Reenact's own code calls a job that is a built-in (`to_thread(time.sleep, 1)`), but the sleep is the program's.
    return isinstance(name, str) and name.partition(".")[0] in _POLLERS and name not in callers.STARTERS


# -- the time zone -------------------------------------------------------------------------------------------


def _zone() -> str:
    """Return the local time zone, as the TZ variable would name it."""
    if name := os.environ.get("TZ"):
        return name
    try:
        path = os.path.realpath("/etc/localtime")
    except OSError:
        path = ""
    if "zoneinfo/" in path:
        return path.rpartition("zoneinfo/")[2]
    # Its name and offset in POSIX notation, which counts westwards. Daylight saving time is lost.
    hours, minutes = divmod(abs(time.timezone) // 60, 60)
    return f"<{time.tzname[0]}>{'-' if time.timezone < 0 else '+'}{hours}:{minutes:02d}"


def _set_zone(zone: str | None) -> None:
    if not hasattr(time, "tzset"):
        return
    # Not through `os.environ`: the program must not see a variable that was not set.
    if zone is None:
        os.unsetenv("TZ")
    else:
        os.putenv("TZ", zone)
    time.tzset()
