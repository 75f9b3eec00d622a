"""The end of a process, in whatever way it comes."""

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
    """Call `ending` with the exit status (None: not known) when this very process ends.

    The last one given counts: a fork has its own.
    """
    if not _endings:
        processes.at_exit(end)
    _endings.clear()
    _endings[os.getpid()] = ending


def moved(known: int) -> None:
    """Register that this process, a copy, takes the place of another."""
    if known in _endings:
        _endings[os.getpid()] = _endings.pop(known)


def end(code: int | None = None) -> None:
    """The process ends now. Harmless when called again, or in a fork that has not taken part."""
    ending = _endings.pop(os.getpid(), None)
    if ending is not None:
        try:
            ending(None if code is None else system.exit_status(code))
        except Exception as error:
            warn(f"the end of process {os.getpid()} was not recorded ({type(error).__name__}: {error})")
        _ends_by_interrupt()


def _ends_by_interrupt() -> None:
    """Let Python end itself by SIGINT behind an interrupt that nothing has caught.

    It has marked this to itself, and forgets it as soon as a text of code runs (a class is made, say).
    """
    if getattr(sys, "last_type", None) is KeyboardInterrupt:
        with suppress(KeyboardInterrupt):
            exec("raise KeyboardInterrupt")  # noqa: S102 - the mark is made where such a text ends so
