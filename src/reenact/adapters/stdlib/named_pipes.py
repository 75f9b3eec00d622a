"""Make the named pipes of a program again in its replay.

The recording does not contain them, so a replay first removes, on its own disk, the pipe that the recorded run left.
The data between the program and a command is not recorded: a replay refuses to open a pipe while an answered command
runs, because it would wait for ever.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.stdlib import file_uses, process_numbers
from reenact.core.boundary import current, draw
from reenact.core.model.event import OPTIONS


def install() -> None:
    """Hook the functions that make named pipes, and note where one is opened."""
    for name in ("mkfifo", "mknod"):
        if hasattr(os, name):
            wrap(os, name, _make)
    file_uses.opens_pipe = _opens


def end() -> None:
    """Forget the pipes that a run has made."""
    file_uses.pipes.clear()


def _make(wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    scope, path = current(), args[0] if args else kwargs.get("path")
    named = isinstance(path, (str, bytes, os.PathLike)) and kwargs.get("dir_fd") is None
    if wrapped.__name__ == "mknod" and stat.S_ISCHR(args[1] if len(args) > 1 else kwargs.get("mode", 0)):
        # Devices, and the marks in a replay's layer that nothing is there.
        named = False
    if scope is None or scope.hidden or scope.run.rules < OPTIONS or not named:
        wrapped(*args, **kwargs)
        return
    assert path is not None
    full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - links are not followed
    file_uses.makes_pipe(full, sys._getframe(2))
    tried = False

    def attempt() -> int:
        nonlocal tried
        tried = True
        return _attempt(wrapped, args, kwargs)

    number = draw("file:mkfifo", attempt)
    if number and type(number) is int:
        raise OSError(number, os.strerror(number))
    if not tried:
        _hide(Path(full))
        _attempt(wrapped, args, kwargs)
    file_uses.pipes.add(full)


def _attempt(make: Callable[..., None], args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Make a pipe; return the number of the error, 0 without one."""
    try:
        make(*args, **kwargs)
    except OSError as error:
        return error.errno or 0
    return 0


def _hide(path: Path) -> None:
    """Remove, on the replay's disk, the pipe that the recorded run has left behind."""
    if path.exists() and not stat.S_ISREG(path.lstat().st_mode) and not path.is_dir():
        path.unlink()


def _opens(path: str) -> None:
    """Note that the program opens such a pipe. Raises `Halt` if nothing would come through it."""
    scope = current()
    titles = set() if scope is None else process_numbers.under_way(scope.run)
    if scope is None or not titles:
        return
    what = f"the named pipe {Path(path).name} is opened beside the command {min(titles)}"
    if not scope.run.replaying:
        scope.run.handler.note("unrecorded", f"{what}: a replay needs --live process:{min(titles)}")
    elif process_numbers.under_way(scope.run, answered=True):
        raise scope.run.handler.refuse(
            f"{scope.path}/file:{path}",
            f"{what}, and what goes through it is not recorded",
            f"let it run: --live process:{min(titles)}",
        )
