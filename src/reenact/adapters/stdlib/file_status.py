"""Questions of tools about files that they do not open: existence, size and times.

Inside a tool each such question is recorded like the reading of a clock, so that the tool can run again. Outside of
tools a replay's disk has the files that the run used, and only the times of those that were changed since the run began
are recorded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from reenact.adapters.stdlib import callers, early, file_uses
from reenact.core.boundary import Scope, current, draw

_FIELDS = (
    "st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size", "st_atime_ns", "st_mtime_ns",
    "st_ctime_ns", "st_blksize", "st_blocks", "st_rdev",
)  # fmt: skip
_CARRIERS = {"genericpath", "posixpath", "ntpath", "pathlib", "glob", "reenact.run.files.redirect"}
"""Modules that ask on behalf of their caller, by name or by their package's."""

_ARCHIVES = {"shutil", "tarfile", "zipfile"}
"""Modules that put the times of files into others, outside of tools."""

_TIMES = ("st_atime_ns", "st_mtime_ns", "st_ctime_ns")

_RESOLVING = {"realpath", "_joinrealpath"}
"""Functions that look at each folder of a path."""

_MOST = 2000
"""The number of questions of one tool call, or of one task or thread, that are recorded."""


def install() -> None:
    """Replace the functions of `os`, once."""
    if isinstance(os.stat, staticmethod):
        return
    for name in ("stat", "lstat", "fstat"):
        _replace(name, _written, _read, _with_recorded_times)
    _replace("access", bool, _flag, lambda _scope, allowed, _path: allowed)


def _replace(
    name: str,
    written: Callable[[Any], Any],
    read: Callable[[Any], Any],
    timed: Callable[[Scope, Any, Any], Any],
) -> None:
    original = getattr(os, name)

    def ask(*args: Any, **options: Any) -> Any:
        scope = current()
        if scope is None or scope.hidden:
            return original(*args, **options)
        asking = _asks(scope, sys._getframe(1))
        if not asking or scope.tool is None:
            path = args[0] if args else ""
            told = file_uses.looked_up(path, lambda: original(*args, **options), ordered=asking)
            return timed(scope, told, path) if asking else told
        # What is asked in a way that fails of itself (no path, a closed file) is the program's own error.
        found = draw(f"file:{name}", lambda: _answer(original, args, options, written))
        if isinstance(found, list) and len(found) == 2 and found[0] == "error" and type(found[1]) is int:
            raise OSError(found[1], os.strerror(found[1]), *args[:1])
        value = read(found)
        return original(*args, **options) if value is None else value

    early.replace(os, name, ask)
    for kind in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        if original in kind:
            kind.add(getattr(os, name))


def _asks(scope: Scope, frame: FrameType | None) -> bool:
    """Return True if the program's own code asks."""
    while frame is not None and _carries(frame.f_globals.get("__name__", ""), scope):
        if frame.f_code.co_name in _RESOLVING:
            return False
        frame = frame.f_back
    if frame is None or callers.kind_of(frame) != callers.OWN:
        return False
    if scope.tool is not None and scope.count("file status") >= _MOST:
        scope.tool.saw("asks for the state of many files")
        return False
    return True


def _carries(module: str, scope: Scope) -> bool:
    package = module.partition(".")[0]
    return module in _CARRIERS or package in _CARRIERS or (scope.tool is None and package in _ARCHIVES)


def _with_recorded_times(scope: Scope, status: Any, path: Any) -> Any:
    """Return what was told of a file, with the recorded times if it was changed in the run."""
    run = scope.run
    since: Any = run.handler.draw(run.root, "times:since", lambda: run.began)
    if not isinstance(since, int) or status.st_mtime_ns < since or scope.count("times") >= _MOST:
        return status
    name = "descriptor" if isinstance(path, int) else Path(os.fsdecode(path)).name
    times: Any = draw(f"times:{name}", lambda: [getattr(status, field) for field in _TIMES])
    fields = dict(zip(_FIELDS, _written(status), strict=True))
    if isinstance(times, list) and len(times) == len(_TIMES):
        fields.update(zip(_TIMES, times, strict=True))
    return _read([*fields.values()]) or status


def _answer(
    original: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
    written: Callable[[Any], Any],
) -> Any:
    try:
        return written(original(*args, **options))
    except OSError as error:
        return ["error", error.errno or 0]


def _written(status: os.stat_result) -> list[int]:
    return [getattr(status, name, 0) for name in _FIELDS]


def _read(tree: Any) -> os.stat_result | None:
    if not (
        isinstance(tree, list) and len(tree) == len(_FIELDS) and all(type(number) is int for number in tree)
    ):
        return None
    named = dict(zip(_FIELDS, tree, strict=True))
    for name in ("st_atime", "st_mtime", "st_ctime"):
        named[name] = named[f"{name}_ns"] / 1e9
    whole = [named.pop(name) for name in _FIELDS[:7]] + [number // 10**9 for number in tree[7:10]]
    return os.stat_result(whole, named)


def _flag(tree: Any) -> bool | None:
    return tree if isinstance(tree, bool) else None
