"""Locks of files, for one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from reenact.core import system


@contextmanager
def locked(path: os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a file, which is created if missing.

    If it cannot be created, the body runs without a lock.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        system.lock(file)
        yield
    finally:
        os.close(file)


def take(file: int) -> bool:
    """Lock an open file until it is closed. Return False if another process holds its lock."""
    try:
        system.lock(file, wait=False)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks.
        return True
    return True
