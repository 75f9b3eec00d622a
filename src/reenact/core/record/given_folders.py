"""Folders that the system, the program's command line or the user gives."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reenact.core import system
from reenact.errors import UsageError


def temporary_folder() -> str:
    """Return the folder of temporary files, as `tempfile` finds it.

    `tempfile` is not called before the program calls it: that would draw from the program's random generator.
    """
    tempfile: Any = sys.modules.get("tempfile")
    if tempfile is not None and tempfile.tempdir is not None:
        return os.fsdecode(tempfile.tempdir)
    named = (*(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")), "/tmp", "/var/tmp")  # noqa: S108
    fit = (name for name in named if name and os.path.isdir(name) and os.access(name, os.W_OK | os.X_OK))
    return os.path.abspath(next(fit, "."))


def script_folders() -> list[str]:
    """Return the folder of the script that this process runs; none if it runs no script."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if not isinstance(file, str):
        file = next((word for word in sys.orig_argv[1:] if word.endswith(".py")), None)
    return [os.path.dirname(os.path.abspath(file))] if file else []


def folders_of(files: bool | Iterable[str | os.PathLike[str]]) -> tuple[str, ...] | None:
    """Return the further folders whose files are recorded; None: no files are, as on Windows.

    Raises UsageError.
    """
    if not system.FILES:
        return None
    if isinstance(files, bool):
        return () if files else None
    if isinstance(files, (str, os.PathLike)):
        files = (files,)
    folders = [Path(folder).absolute() for folder in files]
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"files={str(folder)!r}: there is no such folder; create it before the run")
    return tuple(map(str, folders))
