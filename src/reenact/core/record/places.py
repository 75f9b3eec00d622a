"""Find the recorded folder that a path lies in, and the paths that are never recorded."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator

from reenact.core.dataclass import dataclass
from reenact.core.files.ignored import IgnoreRules, has_secret_name
from reenact.core.files.listing import writable
from reenact.core.record.given_folders import script_folders, temporary_folder

SKIPPED = frozenset(
    (
        "__pycache__", "site-packages", "dist-packages", "node_modules", ".venv", "venv", ".tox", ".nox", ".reenact",
        ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints",
    )
)  # fmt: skip
"""Names of folders that are not recorded: installed packages, and the caches of tools."""

TOO_WIDE = frozenset(("/", "/tmp", "/home", "/usr", "/etc", "/var", "/opt", "/root/.cache"))  # noqa: S108
"""Folders that are not recorded as a whole."""

_SYSTEM = ("/dev/fd", "/dev/pts", "/proc", "/run", "/sys")
"""Folders without stored files: devices, and the state of the system."""

_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Place:
    """A path of a recorded folder.

    Attributes:
        root: The recorded folder.
        name: The path within it; `.` for the folder itself.
        path: The absolute path.
        single: True for a folder of which only the files that the program itself changes are recorded.
    """

    root: str
    name: str
    path: str
    single: bool = False

    def child(self, name: str) -> Place:
        """Return the place of an entry of this folder."""
        within = name if self.name == "." else f"{self.name}/{name}"
        return Place(self.root, within, f"{self.path}/{name}", self.single)

    def below(self, path: str) -> Place:
        """Return the place of a path that lies below this folder."""
        return self.child(path[len(self.path) + 1 :])


class Places:
    """The folders whose files are recorded.

    Args:
        folders: Absolute paths.
        excluded: Folders in them that are left out: the store of recordings.
    """

    def __init__(self, folders: Iterable[str], excluded: Iterable[str] = ()) -> None:
        given = dict.fromkeys(os.path.realpath(folder) for folder in folders)
        library = (sys.prefix, sys.base_prefix)
        self._excluded = tuple(
            os.path.realpath(path)
            for path in (*excluded, *library)
            if path not in ("/", "/usr", "/usr/local")
        )
        fit = [one for one in given if one not in TOO_WIDE and not _is_below(one, self._excluded)]
        self.roots = [one for one in fit if not any(one.startswith(f"{other}/") for other in fit)]
        self._temporary = os.path.realpath(temporary_folder())
        self._made: set[str] = set()
        self._single: dict[str, str] = {}
        """Further paths that the program changes, each with the folder that it was in."""
        self._folders: dict[str, str] = {}
        self._rules: dict[str, IgnoreRules] = {}
        self._last_found: tuple[str, Place | None] = "", None
        """The path that was asked for last, with its place: one use of a file asks several times."""

    @classmethod
    def of_program(cls, folders: Iterable[str], *, store: str) -> Places:
        """Return the working folder, that of the program's script, and further ones."""
        return cls((os.getcwd(), *script_folders(), *folders), (store,))

    def find(self, path: str, *, makes: bool) -> Place | None:
        """Return the place of a path, links in its folders followed; None if it is not recorded.

        `makes`: the program is about to make or change it. What it makes in the system's folder for temporary files
        is recorded.
        """
        asked = path if path.startswith("/") else f"{os.getcwd()}/{path}"
        last, place = self._last_found
        if asked != last or place is None:
            place = self._find(asked, makes)
            self._last_found = asked, place
        return place

    def _find(self, path: str, makes: bool) -> Place | None:
        folder, name = os.path.split(os.path.normpath(path))
        if name == "":
            return None
        whole = f"{self._real(folder)}/{name}".replace("//", "/")
        for root in self.roots:
            if whole == root or whole.startswith(f"{root}/"):
                return self._place(root, whole)
        if whole.startswith(f"{self._temporary}/") and self._is_made(whole, makes=makes):
            return self._place(self._temporary, whole)
        above = whole
        while self._single and above != "/":
            if above in self._single:
                return self._place(self._single[above], whole, single=True)
            above = os.path.dirname(above)
        return None

    def links(self, path: str) -> Iterator[str]:
        """Yield the links among the folders of a path, if its folder is reached by one."""
        folder = os.path.dirname(os.path.abspath(path))
        if self._real(folder) == folder:
            return
        at = ""
        for part in folder.split("/")[1:]:
            at = f"{at}/{part}"
            try:
                if stat.S_ISLNK(os.lstat(at).st_mode):
                    yield at
            except OSError:
                return

    def forget(self) -> None:
        """Forget where links lead: folders are moved."""
        self._folders.clear()
        self._last_found = "", None

    def add_single(self, path: str) -> None:
        """Record a path that the program itself changes, also outside of the folders."""
        if self.find(path, makes=True) is not None:
            return
        folder, name = os.path.split(os.path.abspath(path))
        real = self._real(folder)
        if name and real not in ("/", "/dev") and not _is_below(real, (*_SYSTEM, *self._excluded)):
            self._single[f"{real}/{name}"] = real

    def add_made(self, path: str) -> None:
        """Treat a temporary path as made by the program."""
        if path.startswith(f"{self._temporary}/"):
            self._made.add(path)

    def ignored(self, place: Place) -> bool:
        """Return True if a file may not be kept."""
        if self.is_elsewhere(place):
            return has_secret_name(place.path)
        return self._rules_of(place.root)(place.path)

    def is_elsewhere(self, place: Place) -> bool:
        """Return True for a path outside of the folders.

        It is recorded because the program makes or changes it.
        """
        return place.single or place.root not in self.roots

    def skips(self, place: Place) -> bool:
        """Return True for a folder that a walk does not enter."""
        return self._left_out(place) or (
            not self.is_elsewhere(place) and self._rules_of(place.root).folder(place.path)
        )

    def _rules_of(self, root: str) -> IgnoreRules:
        rules = self._rules.get(root)
        if rules is None:
            rules = self._rules[root] = IgnoreRules(root)
        return rules

    def _place(self, root: str, whole: str, *, single: bool = False) -> Place | None:
        place = Place(root, whole[len(root) + 1 :] or ".", whole, single)
        # SQLite makes its shared memory anew.
        left_out = self._left_out(place) or not writable(whole) or whole.endswith("-shm")
        return None if left_out else place

    def _left_out(self, place: Place) -> bool:
        if not SKIPPED.isdisjoint(place.name.split("/")):
            return True
        return _is_below(place.path, self._excluded)

    def _is_made(self, whole: str, *, makes: bool) -> bool:
        """Return True for a temporary path that the program has made."""
        above = whole
        while above != self._temporary:
            if above in self._made:
                return True
            above = os.path.dirname(above)
        if makes and not os.path.lexists(whole):
            self._made.add(whole)
            return True
        return False

    def _real(self, folder: str) -> str:
        real = self._folders.get(folder)
        if real is None:
            if len(self._folders) > _REMEMBERED:
                self._folders.clear()
            real = self._folders[folder] = os.path.realpath(folder)
        return real


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in folders)
