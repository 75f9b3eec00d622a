"""Turns of processes at files: a replay orders their uses of a file as recorded.

Processes of one run may talk by files: one writes, another looks again and again until something is there. A recording
with several processes has a line (`locked`) for each use of a file by code outside of calls. In a replay, a process
that is about to use a file which others use too waits until they have had their earlier turns. A use lasts until its
thread waits, asks, or uses the next file: what it reads or writes is not seen.

The order is given up if no process goes on, because the program has changed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from reenact.adapters.locks import unit_of
from reenact.adapters.process_turns import StandsStill, await_turn
from reenact.adapters.stdlib import file_uses
from reenact.core import system
from reenact.core.boundary import Run, Scope, current, entered
from reenact.core.model.event import FILE_USE, READS, WRITES, name_of, names_of

_MOST = 10_000
"""The number of uses of one process that are recorded; a process with more is not ordered."""

_OF_SYSTEM = ("/dev/", "/proc/", "/sys/")
"""Folders that are no files of the run."""

_COMPILED = "__pycache__"
"""The folder of compiled modules: Python writes them where they are missing."""

_GIVEN_UP = "uses-given-up"
"""The file that is made where a process gives up the order."""

_counted: WeakKeyDictionary[Run, int] = WeakKeyDictionary()
_lock = threading.Lock()


class _FileUse(NamedTuple):
    """A use of files that has begun in this replay.

    Attributes:
        process: The number of the process.
        counts: The files in which the processes count the uses.
        write: Writes the line of the use.
    """

    process: int
    counts: tuple[Path, ...]
    write: Callable[[], None]


class _RecordedUse(NamedTuple):
    """A use of files that is about to be recorded."""

    scope: Scope
    paths: tuple[str, ...]
    writes: bool
    names: bool


class _Thread(threading.local):
    """The use that the running thread has begun, or in a recording is about to begin."""

    use: _FileUse | None = None
    recorded: _RecordedUse | None = None


_thread = _Thread()


def install() -> None:
    """Order the uses of files that the audit events tell of, once."""
    file_uses.before, file_uses.begins = before, begins


def before(*paths: str, writes: bool, names: bool = False) -> None:
    """Note that the program is about to use files; in a replay, wait for its turns.

    Args:
        paths: The paths of the files.
        writes: The files may change.
        names: The names in their folders change, so that the folders are used, too.
    """
    scope = current()
    family = None if scope is None else scope.run.family
    if scope is None or family is None or not family.several or scope.hidden or scope.call is not None:
        return
    if paths[0].startswith(_OF_SYSTEM) or _COMPILED in paths[-1]:
        return
    if not scope.run.replaying:
        _thread.recorded = _RecordedUse(scope, paths, writes, names)
    elif not scope.run.handler.gone_live:
        end()
        scope.run.turnstile.on_settle = end
        with entered(None):
            names = names or (writes and not Path(paths[0]).is_file())
            files = [name_of(path) for path in _public(scope.run, paths, folders=names)]
        _thread.use = _begun(scope, files)


def begins(seen: int | None = None) -> None:
    """Record the use that was noted, right before it, or after a look.

    Args:
        seen: The number of the file (`st_ino`) that a look has found, 0 for none. None: find out.
    """
    use, _thread.recorded = _thread.recorded, None
    if use is None:
        return
    run = use.scope.run
    with entered(None):
        numbers = [_file_number(path) for path in use.paths] if seen is None else [seen]
    full = _public(run, use.paths, folders=use.names or (use.writes and not numbers[0]))
    digests = [name_of(path).removeprefix(FILE_USE) for path in full]
    parts = [f"{digest}={number}" for digest, number in zip(digests, numbers, strict=False)]
    parts += digests[len(parts) :]
    with _lock:
        count = _counted[run] = _counted.get(run, 0) + 1
    if count <= _MOST:
        name = f"{FILE_USE}{'+'.join(parts)}{WRITES if use.writes else READS}"
        run.handler.locked(unit_of(use.scope), name if count < _MOST else FILE_USE, None)


def end() -> None:
    """End the use of this thread: other processes may use the files."""
    use, _thread.use = _thread.use, None
    if use is None or use.process != os.getpid():
        return
    with entered(None):
        use.write()
        for counts in use.counts:
            with counts.open("a", encoding="ascii") as file:
                system.lock(file.fileno())
                file.write(".")


def _begun(scope: Scope, waiting: list[str]) -> _FileUse | None:
    """Wait for the turn at each file that several processes use; return the use if there is one."""
    run, family = scope.run, scope.run.family
    folder = None if family is None else family.exchange("turns")
    if family is None or folder is None:
        return None
    used, found = [], None
    while waiting:
        name = waiting.pop(0)
        if family.taker(name, 1) is None:
            continue
        counts = folder / name.replace(":", "-")
        run.turnstile.live_begins()
        try:
            turn = await_turn(scope, name, partial(_size, counts, folder))
        except StandsStill:
            with entered(None):
                (folder / _GIVEN_UP).touch()
            return None
        finally:
            run.turnstile.live_ends()
        if turn is None:
            continue
        used.append(counts)
        if found is None:
            # The recorded use decides if the folder is used: the file may have been made only now.
            found, names = turn, names_of(turn.name)
            waiting = names[names.index(name) + 1 :]
    if found is None:
        return None
    return _FileUse(
        os.getpid(), tuple(used), partial(run.handler.locked, unit_of(scope), found.name, found.number)
    )


def _size(counts: Path, folder: Path) -> int | None:
    """Return the number of uses of a file in this replay; None: the order is given up."""
    with entered(None):
        if (folder / _GIVEN_UP).exists():
            return None
        return counts.stat().st_size if counts.exists() else 0


def _public(run: Run, paths: Sequence[str], *, folders: bool) -> list[str]:
    """Return paths as the program knows them, with `folders` those of their folders behind them."""
    view = run.view
    with entered(None):
        full = [os.path.abspath(path if view is None else view.public(path)) for path in paths]  # noqa: PTH100
    return [*full, *(str(Path(path).parent) for path in full if folders)]


def _file_number(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0
