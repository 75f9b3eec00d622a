"""Write the files of a recording into a folder, and nowhere else.

A recording may be foreign: its paths are checked before anything is written. Everything is written into a new folder
beside the target, which takes the target's name at the end. So a stop at any moment leaves either nothing or the
whole tree at the target.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from reenact.core import system
from reenact.core.files.states import FileState
from reenact.errors import CorruptRecording, UsageError

PART = ".reenact-part-"
"""The beginning of the name of a folder that is being restored."""

_FILE, _FOLDER = 0o600, 0o700


def restore(
    states: Mapping[Path, FileState],
    into: Path,
    *,
    relative_to: Path,
    blobs: Callable[[str], bytes],
) -> list[Path]:
    """Write a tree; return the paths of files that have no bytes in the recording.

    Args:
        states: The states by absolute path.
        into: The folder to make. It must not exist, or be empty.
        relative_to: The folder that `into` stands for. Paths outside of it are left out.
        blobs: Returns the bytes of an address.

    Raises:
        UsageError: `into` is no empty folder, or cannot be written.
        CorruptRecording: The states contradict each other, or bytes are missing.
    """
    into = Path(os.path.abspath(into))
    if os.path.lexists(into) and (not into.is_dir() or into.is_symlink() or any(into.iterdir())):
        raise UsageError(f"{into} is not empty; name a new folder")
    given = {
        path.relative_to(relative_to): state
        for path, state in states.items()
        if path != relative_to and path.is_relative_to(relative_to)
    }
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        remove_remains(into)
        with _part_of(into) as part:
            missing = _written(part, given, blobs)
            if into.is_dir():
                into.rmdir()
            part.rename(into)
    except OSError as error:
        raise UsageError(f"{into} cannot be written ({error.strerror})") from None
    return [relative_to / path for path in missing]


def remove_remains(into: Path) -> None:
    """Remove the remains of killed restorations to this folder. Raises OSError."""
    for found in into.parent.glob(f"{PART}{glob.escape(into.name)}-*"):
        if not found.is_dir():
            continue
        # A killed process has no locks.
        with system.locked_folder(found, wait=False) as mine:
            if mine:
                shutil.rmtree(found, ignore_errors=True)


@contextmanager
def _part_of(into: Path) -> Iterator[Path]:
    """Yield a new folder beside the target; at the end it is removed unless it was renamed."""
    part = Path(tempfile.mkdtemp(prefix=f"{PART}{into.name}-", dir=into.parent))
    with system.locked_folder(part, wait=False):
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _written(part: Path, given: Mapping[Path, FileState], blobs: Callable[[str], bytes]) -> list[Path]:
    """Write the tree into a new folder; return the files without bytes.

    Links are made last, so that nothing is written through one.
    """
    there = {path: state for path, state in sorted(given.items()) if state.kind != "none"}
    missing: list[Path] = []
    modes: list[tuple[Path, FileState]] = []
    for path, state in there.items():
        _check(path, there)
        target = part / path
        if state.kind == "folder":
            target.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
            modes.append((target, state))
        elif state.why == "listed":
            continue
        elif state.kind == "file" and not state.kept:
            missing.append(path)
        elif state.kind == "file":
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, state.content(blobs))
            modes.append((target, state))
    for path, state in there.items():
        if state.kind == "link":
            (part / path).parent.mkdir(parents=True, exist_ok=True)
            (part / path).symlink_to(state.target)
    # The modes of folders come last: a read-only folder could not be filled.
    for target, state in reversed(modes):
        target.chmod(state.mode & 0o777)
        set_time(target, state)
    return missing


def set_time(target: Path, state: FileState) -> None:
    """Give a written file the recorded time of its last change."""
    if state.mtime is not None:
        with suppress(OSError):
            os.utime(target, ns=(state.mtime, state.mtime))


def _check(path: Path, there: Mapping[Path, FileState]) -> None:
    if path.is_absolute() or ".." in path.parts:
        raise CorruptRecording(f"the file {str(path)!r} does not lie within its folder")
    for above in path.parents:
        state = there.get(above)
        if state is not None and state.kind != "folder":
            raise CorruptRecording(
                f"the file {str(path)!r} is said to lie in {str(above)!r}, which is a {state.kind}"
            )


def _write(target: Path, data: bytes) -> None:
    descriptor = os.open(
        target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.CLOEXEC, _FILE
    )
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
