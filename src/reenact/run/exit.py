"""The end of a process, in any way."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from reenact.adapters.stdlib import processes
from reenact.core import system
from reenact.core.store.writer import warn

Ending = Callable[[int | None], None]
_endings: dict[int, Ending] = {}


def on_exit(ending: Ending) -> None:
    """Call `ending` with the exit status (None: unknown) when this process ends.

    The last one counts: a forked process registers its own.
    """
    if not _endings:
        processes.at_exit(end)
    _endings.clear()
    _endings[os.getpid()] = ending


def moved(known: int) -> None:
    """Register that this process, a copy, replaces another one."""
    if known in _endings:
        _endings[os.getpid()] = _endings.pop(known)


def end(code: int | None = None) -> None:
    """Call the registered function now. Harmless when called again, or in a fork without one."""
    ending = _endings.pop(os.getpid(), None)
    if ending is not None:
        try:
            ending(None if code is None else system.exit_status(code))
        except Exception as error:
            warn(f"the end of process {os.getpid()} was not recorded ({type(error).__name__}: {error})")
        _ends_by_interrupt()


def flush_output() -> None:
    """Write what standard output and standard error still hold; a stream that cannot is left."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


def _ends_by_interrupt() -> None:
    """Let Python end itself by SIGINT after an uncaught interrupt.

    Python keeps a flag for that, which it clears when code is compiled from text (when a class is made, for example).
    """
    if getattr(sys, "last_type", None) is KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            exec("raise KeyboardInterrupt")  # noqa: S102 - the mark is made where such a text ends so
