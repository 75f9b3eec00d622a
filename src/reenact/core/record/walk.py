"""Walk the recorded folders around a command, to find what it has changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from reenact.core.files.keeping import Mark, mark_of, status_of
from reenact.core.record.places import Place, Places

MOST = 100_000
"""The maximum number of files; with more, changes by commands are not recorded."""

_TOO_LARGE = f"the files that commands change are not recorded: {{}} has more than {MOST} files"

_FILE, _ALL, _COUNT = 256 << 10, 16 << 20, 10_000
_OBJECTS = "/.git/objects/"


class WalkTooLarge(Exception):
    """The folders have too many files to be walked around commands."""


class FolderWalk:
    """The files in the recorded folders, as they were after the last command.

    Args:
        places: The folders.
        read: Returns the bytes of a file, up to a number of them.
        made: Returns the folders elsewhere that the program has made.
        note: Notes for readers of the recording that one of these is too large.

    Attributes:
        content: The bytes of small files as they were before the first command.
        targets: The targets of links, then.
    """

    def __init__(
        self,
        places: Places,
        read: Callable[[str, int], bytes],
        made: Callable[[], Iterable[Place]],
        note: Callable[[str], None],
    ) -> None:
        self._places = places
        self._read, self._find_made, self._note = read, made, note
        self._roots = {root: Place(root, ".", root) for root in places.roots}
        self._made: dict[str, Place] = {}
        """The folders elsewhere that the last walk has entered."""
        self._too_large: set[str] = set()
        self._tops = self._roots
        """The folders of the last two walks, by their paths."""
        self._marks: dict[str, Mark] | None = None
        self.content: dict[str, bytes] = {}
        self.targets: dict[str, str] = {}

    def begin(self) -> None:
        """Walk before the first command, and hold the bytes of small files. Raises WalkTooLarge."""
        self._marks = self._walked()
        size = 0
        for path, mark in self._marks.items():
            if stat.S_ISLNK(mark[4]):
                self.targets[path] = os.readlink(path)
            fits = mark[0] <= _FILE and size + mark[0] <= _ALL and len(self.content) < _COUNT
            plain = fits and stat.S_ISREG(mark[4]) and _OBJECTS not in path
            if plain and not self._places.ignored(self._place(path)):
                try:
                    self.content[path] = self._read(path, _FILE)
                    size += mark[0]
                except OSError:
                    continue

    def changes(self) -> Iterator[tuple[Place, Mark | None, Mark | None]]:
        """Walk again; yield each path that differs, with its marks before and now.

        Raises WalkTooLarge.
        """
        before = self._marks
        if before is None:
            return
        self._marks = None
        now = self._marks = self._walked()
        differing = {path for path, mark in now.items() if before.get(path) != mark}
        gone = {path for path in before.keys() - now.keys() if not self._is_left_out(path)}
        for path in sorted(differing | gone):
            yield self._place(path), before.get(path), now.get(path)

    def _is_left_out(self, path: str) -> bool:
        return any(path.startswith(f"{folder}/") for folder in self._too_large)

    def before(self, path: str) -> tuple[bool, Mark | None]:
        """Return True if a path differs from the last walk, with its mark then."""
        if self._marks is None or not self._enters(os.path.dirname(path)):
            return False, None
        before, status = self._marks.get(path), status_of(path)
        return before != (None if status is None else _mark(status)), before

    def _enters(self, folder: str) -> bool:
        """Return True if a walk looks into a folder, if it is there."""
        if folder in self._tops:
            return True
        top = self._top(folder)
        return top is not None and not any(
            self._places.skips(top.below(above)) for above in _below(top.path, folder)
        )

    def saw(self, path: str) -> bool:
        """Return True if the last walk has met a path."""
        return self._marks is not None and path in self._marks

    def _walked(self) -> dict[str, Mark]:
        made = {place.path: place for place in self._find_made() if place.path not in self._too_large}
        self._tops = self._roots | self._made | made
        self._made = made
        found: dict[str, Mark] = {}
        for root in self._roots.values():
            if not self._enter(root, found):
                raise WalkTooLarge(_TOO_LARGE.format(root.path))
        for top in made.values():
            inside: dict[str, Mark] = {}
            if self._enter(top, inside):
                found |= inside
            else:
                self._too_large.add(top.path)
                self._note(_TOO_LARGE.format(top.path))
        return found

    def _enter(self, top: Place, found: dict[str, Mark]) -> bool:
        """Find what is below a folder. Return False if there are more files than are recorded."""
        pending = [top]
        while pending:
            folder = pending.pop()
            with suppress(OSError), os.scandir(folder.path) as entries:
                for entry in entries:
                    self._entry(folder, entry, found, pending)
            if len(found) > MOST:
                return False
        return True

    def _entry(
        self, folder: Place, entry: os.DirEntry[str], found: dict[str, Mark], pending: list[Place]
    ) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISDIR(status.st_mode):
            place = folder.child(entry.name)
            if self._places.skips(place):
                return
            pending.append(place)
        found[entry.path] = _mark(status)

    def _place(self, path: str) -> Place:
        top = self._top(path)
        if top is None:
            raise ValueError(f"{path} lies in none of the walked folders")
        return top.below(path)

    def _top(self, path: str) -> Place | None:
        return next((top for top in self._tops.values() if path.startswith(f"{top.path}/")), None)


def _mark(status: os.stat_result) -> Mark:
    """Return the mark of an entry; that of a folder does not change with what is in it."""
    return (0, 0, status.st_ino, 0, status.st_mode) if stat.S_ISDIR(status.st_mode) else mark_of(status)


def _below(root: str, folder: str) -> Iterator[str]:
    """Yield a folder, and those above it that lie below a root."""
    while folder != root:
        yield folder
        folder = os.path.dirname(folder)
