"""Marks of tests that need a part of Linux which `REENACT_PORTABLE=1` leaves out."""

from __future__ import annotations

import pytest

from reenact.core import system

OVERLAYS = pytest.mark.skipif(
    not system.LINUX, reason="without overlays of folders, native code and commands use the user's own files"
)
COPIES = pytest.mark.skipif(not system.FORKS, reason="the system cannot copy processes")
CORES = pytest.mark.skipif(not system.LINUX, reason="the system does not bind processes to a core")
