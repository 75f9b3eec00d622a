"""The frames of all threads."""

from __future__ import annotations

import gc
import sys
from types import FrameType


def current_frames() -> dict[int, FrameType]:
    """Return the running frame of each thread, by its identifier.

    Nothing is collected meanwhile: CPython holds a lock for the list of threads, and a finaliser that lets another
    thread run (it closes a socket) would end in a deadlock (CPython issue 106883).
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()  # noqa: SLF001 - there is no other way
    finally:
        if collects:
            gc.enable()
