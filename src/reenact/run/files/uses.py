"""Note the paths that a replayed program changes, and the recorded run did not use."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import get_ident
from typing import TypeAlias

from reenact.core.boundary import current
from reenact.core.boundary.file_sensor import FileSensor
from reenact.core.files import databases
from reenact.core.files.states import FileState
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.places import SKIPPED, Places
from reenact.core.replay.replayer import Replayer

_Mark: TypeAlias = tuple[int, int, int] | None
"""Mode, size and time of change of a file; of a folder, its mode."""


class ReplayedUses(FileSensor):
    """Gets the same calls as a recorder of files, and notes the first change of each path.

    Args:
        covers: Returns True for a path that is on scratch.
        replayer: Stops the replay before the program's own code changes a file elsewhere.
        store: The folder of recordings, which is left out.
        public: Returns the path that the program knows for one in scratch: an open file has that name.
    """

    def __init__(
        self,
        covers: Callable[[str], bool],
        replayer: Replayer,
        store: Path,
        public: Callable[[str], str] = str,
    ) -> None:
        self._covers, self._replayer, self._store, self._public = covers, replayer, store, public
        self._own: set[str] = set()
        self._before: dict[str, _Mark] = {}
        self._recent: set[str] = set()
        self._by: dict[str, set[int]] = {}
        """The threads that have changed a path."""
        self.paused = False

    @property
    def busy(self) -> bool:
        """True while Reenact itself uses files."""
        return self.paused

    def changing(self, path: str, file: str) -> None:
        """Note the present file of a path that is about to change."""
        if not self.paused:
            self._before.setdefault(path, _mark(file))
            self._recent.add(path)
            self._by.setdefault(path, set()).add(get_ident())

    def used(self, path: str, *, writes: bool = False) -> None:
        """Note a path that the program changes."""
        if writes:
            above, name = os.path.split(os.path.abspath(self._public(path)))
            full = os.path.join(os.path.realpath(above), name)
            if self._covers(full):
                self.changing(full, full)

    def own_change(self, path: str) -> None:
        """Note a path that the program's own code changes.

        Raises `Halt` for one that is not on scratch. The user's own files stay as they are; an effect that runs for
        real may change them.
        """
        above, name = os.path.split(os.path.abspath(self._public(path)))
        full = os.path.join(os.path.realpath(above), name)
        if self._covers(full):
            self._own.add(full)
        elif not self.paused and not _may_change() and self._would_be_recorded(full):
            raise self._refused(full)

    def _would_be_recorded(self, path: str) -> bool:
        places = Places((os.getcwd(),), (str(self._store),))
        places.add_single(path)
        return places.find(path, makes=True) is not None

    def _refused(self, path: str) -> BaseException:
        scope = current()
        at = "main" if scope is None else scope.path
        detail = f"the program is about to change {path}, which the recorded run did not; it is left as it is"
        return self._replayer.refuse(
            f"{at}/file:{path}", detail, "to let it use your own files: --files live"
        )

    def by_program(self, path: str) -> bool:
        """Return True if the program's own code has changed a path on scratch."""
        return path in self._own

    def recent(self) -> set[str]:
        """Return the paths that have been changed, or opened to be changed, since the last call."""
        found, self._recent = self._recent, set()
        return found

    def names_in(self, folder: Path) -> set[str]:
        """Return the names in a folder at or below which this run has changed something."""
        paths = (Path(name) for name in list(self._before))
        return {path.relative_to(folder).parts[0] for path in paths if folder in path.parents}

    def shared(self, path: str) -> bool:
        """Return True if another thread than the running one has changed a path."""
        return not self._by.get(path, set()) <= {get_ident()}

    def touched(self, path: str) -> bool:
        """Return True if the program's own code has changed a path, or opened it to change it."""
        return path in self._before

    def is_changed(self, path: str) -> bool:
        """Return True if a path is in another state than before its first change."""
        return path in self._before and _mark(path) != self._before[path]

    def keeps(self, path: str, *, listed: bool = False) -> bool:
        """Return True for a path on scratch."""
        return self._covers(path)

    def changes_tree(self, path: str, to: str = "") -> None:
        """Note a path, and the one that it moves to."""
        for each in filter(None, (path, to)):
            self.used(each, writes=True)

    def opens_database(self, path: str) -> None:
        """Note a database."""
        self.used(path, writes=True)

    def changed(
        self, recorded: Callable[[Path], Path], last: Mapping[Path, FileState]
    ) -> Iterator[tuple[Path, bool]]:
        """Yield the changed paths that the recorded run did not use.

        Each comes with True if it did not exist before. `recorded` returns the recorded path of a path of this run.
        Call it while the process sees the program's files.
        """
        for name, before in sorted(self._before.items()):
            path, beside = recorded(Path(name)), databases.base_of(name)
            if path in last or not SKIPPED.isdisjoint(path.parts):
                continue
            if beside is not None and (beside in self._before or recorded(Path(beside)) in last):
                continue
            if _mark(name) != before:
                yield path, before is None


def store_of(recording: RecordedRun) -> Path:
    """Return the folder of the store that a recording lies in, or its own."""
    folder = Path(recording.path)
    return folder.parents[1] if folder.parent.name == "recordings" else folder


def _may_change() -> bool:
    """Return True after the recorded part, and inside of an effect.

    An effect that runs for real may change files, and a tool that runs again is watched.
    """
    scope = current()
    return scope is None or scope.run.handler.gone_live or "#" in scope.path


def _mark(path: str) -> _Mark:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):
        return status.st_mode, 0, 0
    return status.st_mode, status.st_size, status.st_mtime_ns
