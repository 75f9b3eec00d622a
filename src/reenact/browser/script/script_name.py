"""Find the script that a program runs, to group recordings by script."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

_RUNNERS = {
    "pytest",
    "py.test",
    "__main__.py",
    "ipykernel_launcher",
    "ipykernel_launcher.py",
    "unittest",
    "reenact",
}
"""Programs that run other scripts: their own name does not identify the script."""


def script_of(header: Mapping[str, Any]) -> str | None:
    """Return the file or module name of a recording's script; None for a notebook or a test."""
    argv = [str(one) for one in (header.get("program") or {}).get("argv") or ()]
    name = None
    for place, one in enumerate(argv):
        if one == "-m" and place + 1 < len(argv):
            name = argv[place + 1]
            break
        if one.endswith(".py"):
            name = PurePath(one.replace("\\", "/")).name
            break
        if PurePath(one).name in _RUNNERS:
            return None
    return None if name is None or name in _RUNNERS else name
