"""The used files of a run: their states before it and now, and the names in its folders."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping

from reenact.core.dataclass import dataclass
from reenact.core.files.keeping import FileKeeper, Mark, mark_of, status_of, time_of
from reenact.core.files.listing import TREE, ListedEntry
from reenact.core.files.states import NOTHING, FileState
from reenact.core.record.places import Place, Places
from reenact.core.record.walk import FolderWalk

_RACY = 20_000_000  # nanoseconds: two ticks of a slow kernel. A change within one leaves the mark as it was

real_time = time.time_ns


@dataclass(slots=True)
class KnownFile:
    """A used path: its state before the run and now."""

    place: Place
    first: FileState
    state: FileState
    mark: Mark | None
    racy: bool = False
    names: set[str] | None = None
    announced: bool = False
    """True if the recording says that the program is about to change it."""

    def differs(self) -> bool:
        """Return True if the path has another mark than at the last look."""
        status = status_of(self.place.path)
        return (None if status is None else mark_of(status)) != self.mark


class KnownFiles:
    """The used files of one process, by their paths.

    Args:
        places: The folders whose files are recorded.
        keeper: Keeps their bytes.
    """

    def __init__(self, places: Places, keeper: FileKeeper) -> None:
        self._places, self._keeper = places, keeper
        self._files: dict[str, KnownFile] = {}
        self._children: dict[str, set[str]] = {}

    def get(self, path: str) -> KnownFile | None:
        """Return a file, or None if it was not used."""
        return self._files.get(path)

    def __getitem__(self, path: str) -> KnownFile:
        return self._files[path]

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[KnownFile]:
        return iter(self._files.values())

    def add(self, place: Place, first: FileState, state: FileState, mark: Mark | None) -> KnownFile:
        known = self._files[place.path] = KnownFile(place, first, state, mark, _is_racy(mark))
        self._children.setdefault(os.path.dirname(place.path), set()).add(place.path)
        return known

    def state(self, place: Place) -> tuple[FileState, Mark | None]:
        """Return a path's state, with its bytes kept. A file that cannot be read has none."""
        try:
            return self._keeper.state(place.path, ignored=self._places.ignored(place))
        except OSError:
            status = status_of(place.path)
            if status is None:
                return NOTHING, None
            mode = stat.S_IMODE(status.st_mode)
            return FileState(
                "file", mode, status.st_size, why="unread", mtime=time_of(status.st_mtime_ns)
            ), mark_of(status)

    def renew(self, known: KnownFile) -> bool:
        """Look at a path again; return True if its state has changed."""
        state, known.mark = self.state(known.place)
        known.racy = _is_racy(known.mark)
        before, known.state = known.state, state
        if state.kind == "none":
            known.names = None
        return before != state

    def before(self, place: Place, mark: Mark | None, walk: FolderWalk) -> FileState:
        """Return the state of a path before a command changed it."""
        if mark is None:
            return NOTHING
        mode = stat.S_IMODE(mark[4])
        if stat.S_ISDIR(mark[4]):
            return FileState("folder", mode)
        if stat.S_ISLNK(mark[4]):
            return FileState("link", mode, target=walk.targets.get(place.path, "?"))
        data = walk.content.pop(place.path, None)
        if data is None or self._places.ignored(place):
            return FileState(
                "file",
                mode,
                mark[0],
                why="ignored" if self._places.ignored(place) else "unread",
                mtime=time_of(mark[1]),
            )
        return self._keeper.kept(data, mode, mark[1])

    def unused(self, folder: Place, entries: Mapping[str, ListedEntry]) -> dict[Place, FileState]:
        """Return the listed states of entries of a folder that were not used yet."""
        if len(entries) > TREE:
            return {}
        found = {}
        for name, entry in entries.items():
            place = self._places.find(f"{folder.path}/{name}", makes=False)
            if place is not None and place.path not in self._files and entry.state.kind != "none":
                found[place] = entry.state
        return found

    def made_elsewhere(self) -> list[Place]:
        """Return the topmost folders that the program has made outside of the recorded ones."""
        return [
            known.place
            for known in self
            if known.first.kind == "none" and known.state.kind == "folder"
            and self._places.is_elsewhere(known.place) and not self.is_below_made_folder(known.place.path)
        ]  # fmt: skip

    def is_below_made_folder(self, path: str) -> bool:
        """Return True if a path lies in a folder that did not exist before the run."""
        above = os.path.dirname(path)
        while above != os.path.dirname(above):
            known = self._files.get(above)
            if known is not None and known.first.kind == "none":
                return True
            above = os.path.dirname(above)
        return False

    def names_before(self, folder: str, names: set[str]) -> set[str]:
        """Return the names that a folder had before the run."""
        found = set(names)
        for child in self._children.get(folder, ()):
            known, name = self._files[child], os.path.basename(child)
            if known.first.kind == "none":
                found -= {name, f"{name}/"}
            else:
                found.discard(name if known.first.kind == "folder" else f"{name}/")
                found.add(f"{name}/" if known.first.kind == "folder" else name)
        return found

    def rename_listed(self, place: Place, state: FileState) -> None:
        """Update the names of a listed folder, as a command has made or deleted an entry."""
        above = self._files.get(os.path.dirname(place.path))
        if above is not None and above.names is not None:
            name = os.path.basename(place.path)
            above.names -= {name, f"{name}/"}
            if state.kind != "none":
                above.names.add(f"{name}/" if state.kind == "folder" else name)


def _is_racy(mark: Mark | None) -> bool:
    """Return True if a file may change again with its mark staying as it is."""
    return mark is not None and max(mark[1], mark[3]) > real_time() - _RACY
