"""The streams and options of a started command, as members of its question.

Output that comes to the program is the usual case, and is left out; so are options that have their default.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.core.boundary import Run, current

_DEFAULTS: dict[str, Any] = {
    "close_fds": True, "creationflags": 0, "encoding": None, "errors": None, "extra_groups": None, "group": None,
    "preexec_fn": None, "process_group": None, "restore_signals": True, "start_new_session": False, "umask": -1,
    "user": None,
}  # fmt: skip
_TEXT = ("text", "universal_newlines", "encoding", "errors")
_OWN = ("stdin", "stdout", "stderr")
_WORDS = {subprocess.PIPE: "pipe", subprocess.DEVNULL: "nothing", subprocess.STDOUT: "stdout"}

_umasks: dict[Run, tuple[int, int]] = {}
"""The mask of the modes of new files, by run: as it was before the program set it, and now."""
_streams: dict[Run, dict[int, tuple[int, int]]] = {}
"""The files behind the program's standard output and error at the beginning of each run."""


def install() -> None:
    """Hook `os.umask`, which changes the mask that each command inherits."""
    wrap(os, "umask", _umask)


def begin(run: Run) -> None:
    """Note the files behind the standard output and error at the beginning of a run."""
    _streams[run] = {number: found for number in (1, 2) if (found := _file_of(number)) is not None}


def end(run: Run) -> None:
    """Forget a run that has ended."""
    _umasks.pop(run, None)
    _streams.pop(run, None)


def options_of(given: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Return the options of `Popen` that the answer may depend on, and the mask of modes."""
    found: dict[str, Any] = {"text": True} if any(given.get(name) for name in _TEXT) else {}
    for name, default in _DEFAULTS.items():
        value = given.get(name, default)
        if value != default:
            found[name] = _plain(value)
    before, mask = _umasks.get(run, (0, 0))
    if mask != before:
        found.setdefault("umask", mask)
    return found


def streams_of(given: Mapping[str, Any]) -> dict[str, str]:
    """Return where a command's streams lead that are not the usual ones.

    Usual are the program's standard input, and pipes for both outputs. A stream from a file, or from another command,
    is named by its content.
    """
    words = {name: _word(given.get(name)) for name in _OWN}
    usual = {"stdin": ("inherited", "file"), "stdout": ("pipe",), "stderr": ("pipe",)}
    return {name: word for name, word in words.items() if word not in usual[name]}


def redirected(run: Run, number: int) -> bool:
    """Return True if the program has replaced the file behind its standard output or error."""
    known = _streams.get(run, {}).get(number)
    return known is not None and _file_of(number) not in (None, known)


def leads_to_pipe(run: Run, given: Mapping[str, Any]) -> bool:
    """Return True if a command inherits a pipe of the program's own as one of its outputs."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if given.get(name) is None and redirected(run, number):
            with suppress(OSError):
                if stat.S_ISFIFO(os.fstat(number).st_mode):
                    return True
    return False


def _word(handle: Any) -> str:
    if handle is None:
        return "inherited"
    if isinstance(handle, int) and handle < 0:
        return _WORDS.get(handle, str(handle))
    with suppress(AttributeError, OSError, ValueError):
        number = handle if isinstance(handle, int) else handle.fileno()
        if number in (0, 1, 2):
            return ("stdin", "the program's stdout", "the program's stderr")[number]
        mode = os.fstat(number).st_mode
        if stat.S_ISCHR(mode):
            return "terminal" if os.isatty(number) else "nothing"
    return "file"


def _plain(value: Any) -> Any:
    """Return an option as it is in each run: a function by its name and source."""
    if callable(value):
        sources = import_module("reenact.adapters.sources")
        name, source = getattr(value, "__qualname__", type(value).__name__), sources.source_of(value)
        return f"{name} {source.digest}" if source is not None and source.digest else name
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else value


def _umask(
    wrapped: Callable[[int], int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int:
    before = wrapped(*args, **kwargs)
    scope = current()
    if scope is not None and len(args) == 1:
        _umasks[scope.run] = _umasks.get(scope.run, (before, before))[0], int(args[0])
    return before


def _file_of(number: int) -> tuple[int, int] | None:
    if os.name == "nt":
        return None
    try:
        status = os.fstat(number)
    except OSError:
        return None
    return status.st_dev, status.st_ino
