"""Marks of tests that need a part of Linux which `REENACT_PORTABLE=1` or Windows leaves out."""

from __future__ import annotations

import sys

import pytest

from reenact.core import system

OVERLAYS = pytest.mark.skipif(
    not system.LINUX, reason="without overlays of folders, native code and commands use the user's own files"
)
COPIES = pytest.mark.skipif(not system.FORKS, reason="the system cannot copy processes")
CORES = pytest.mark.skipif(not system.LINUX, reason="the system does not bind processes to a core")
POSIX = pytest.mark.skipif(
    sys.platform == "win32",
    reason="Windows has no modes and owners of files, no named pipes, and links for few users",
)
FILES = pytest.mark.skipif(not system.FILES, reason="the files of a run are not recorded on Windows")
