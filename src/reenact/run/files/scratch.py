"""Scratch folders for the files of replays and forks, and the removal of abandoned ones.

A folder is in use while a file inside of it is locked, by the process that made the folder and by the program that uses
it. The system releases the lock when both have ended, in any way.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reenact.core import system
from reenact.core.record.given_folders import temporary_folder
from reenact.errors import UsageError

LOCK = "lock"
_LINK, _REPORTS = "files", "reports"


class Scratch:
    """A folder for the files of one replay or fork.

    Args:
        avoid: Folders that may not contain it: an overlay's changes cannot be inside of the folder that it covers.

    Raises:
        UsageError: No place is writable.
    """

    def __init__(self, avoid: Iterable[Path] = ()) -> None:
        place = _place(tuple(avoid))
        with _alone(place):
            # Not by `tempfile`, which draws from the program's random generator.
            self.folder = place / os.urandom(8).hex()
            self.folder.mkdir(mode=0o700)
            self._held = os.open(self.folder / LOCK, os.O_CREAT | os.O_RDWR | system.CLOEXEC, 0o600)
            system.lock(self._held, shared=True)

    def close(self) -> None:
        """Remove it. Harmless when done."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1
            remove(self.folder)


def attach(scratch: Scratch, place: Path) -> None:
    """Name the scratch in a folder of reports, so that `discard` removes both."""
    (scratch.folder / _REPORTS).write_text(str(place), encoding="utf-8")
    (place / _LINK).write_text(str(scratch.folder), encoding="utf-8")


def discard(place: str | os.PathLike[str]) -> None:
    """Remove a folder of reports, and the scratch that it names."""
    with suppress(OSError):
        target = Path(Path(place, _LINK).read_text(encoding="utf-8"))
        if target.parent in _places():
            remove(target)
    shutil.rmtree(place, ignore_errors=True)


def abandoned() -> Iterator[Path]:
    """Yield the scratch folders of this user that no running program uses."""
    for place in _places():
        if not _own(place):
            continue
        with _alone(place):
            left = [folder for folder in sorted(place.iterdir()) if _free(folder)]
        yield from left


def clear(folder: Path) -> None:
    """Remove an abandoned scratch folder, and the folder of reports that names it."""
    with suppress(OSError):
        reports = Path((folder / _REPORTS).read_text(encoding="utf-8"))
        if (reports / _LINK).read_text(encoding="utf-8") == str(folder):
            shutil.rmtree(reports, ignore_errors=True)
    remove(folder)


def _free(folder: Path) -> bool:
    """Return True if no process holds the lock."""
    try:
        number = os.open(folder / LOCK, os.O_RDONLY | system.CLOEXEC | system.NOFOLLOW)
    except FileNotFoundError:
        # No lock: its process was killed before it was made, or while it was removed.
        return True
    try:
        system.lock(number, wait=False)
    except BlockingIOError:
        return False
    finally:
        os.close(number)
    return True


def remove(folder: Path) -> None:
    """Remove a scratch folder, also where its folders cannot be listed. Follows no links."""
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = Path(path, name)
            with suppress(OSError):
                mode = inner.lstat().st_mode
                if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


# -- places --------------------------------------------------------------------------------------------------


def _place(avoid: tuple[Path, ...]) -> Path:
    for place in _places():
        real = Path(os.path.realpath(place.parent), place.name)
        if any(real.is_relative_to(os.path.realpath(path)) for path in avoid):
            continue
        with suppress(OSError):
            place.mkdir(mode=0o700, exist_ok=True)
            if _own(place):
                return place
    raise UsageError(
        "there is no folder for the files of a replay: set TMPDIR to one outside of the program's"
    )


def _places() -> list[Path]:
    """Return the folders that may hold this user's scratch."""
    named = (temporary_folder(), "/var/tmp", "/dev/shm")  # noqa: S108 - what is found there must be the user's own
    return list(
        dict.fromkeys(Path(name, f"reenact-files-{system.user()}") for name in named if Path(name).is_dir())
    )


def _own(place: Path) -> bool:
    """Return True for a folder that only this user can use."""
    try:
        status = place.lstat()
    except OSError:
        return False
    # On Windows a user's folder of temporary files is their own, and modes say nothing.
    own = os.name != "posix" or (status.st_uid == system.user() and not status.st_mode & 0o077)
    return stat.S_ISDIR(status.st_mode) and own


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Let one process at a time make or search folders there."""
    with system.locked_folder(place):
        yield
