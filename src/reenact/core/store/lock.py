"""One writer at a time."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

fcntl: Any
try:
    fcntl = importlib.import_module("fcntl")
except ImportError:  # Windows, where SQLite's own lock must do
    fcntl = None


@contextmanager
def locked(path: os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a file, which is created if missing.

    If it cannot be created, the body runs without a lock.
    """
    if fcntl is None:
        yield
        return
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def take(file: int) -> bool:
    """Lock an open file until it is closed. Return False if another process holds its lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks.
        return True
    return True
