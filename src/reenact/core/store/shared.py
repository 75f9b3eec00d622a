"""The data that a fork shares with its parent: lines by their number, and blobs.

A fork repeats its parent up to a step. It writes `{"event":"same","line":57,"sum":…}` for each line that equals its
parent's, in the order in which the fork repeated them, and keeps no bytes of them. Its sum is that of the line it
stands for (see `chain`), so a reader puts the parent's bytes in its place and nothing else changes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from reenact.core import private, system
from reenact.core.dataclass import dataclass
from reenact.core.model.header import ID
from reenact.core.model.storable import storable
from reenact.core.patterns import lazy
from reenact.core.store import chain
from reenact.core.store.base import NAMED_BLOB
from reenact.errors import CorruptRecording, UsageError

EVENTS = "events.jsonl"

_TAIL = 1 << 20
"""Bytes at the end of a file that are searched for its seal."""

SAME = b'{"event":"same"'
"""The beginning of a line that refers to a line of the parent."""
_REFERENCE = lazy(rb'\{"event":"same","line":(\d{1,12})(?:\}|(,"sum":"[0-9a-f]{32}"\}))')

MOST = 100
"""The maximum number of forks between a recording and its first ancestor."""

_LEAST = 64_000_000
"""Bytes of a parent's lines that any fork may repeat.

The limit of a larger parent is twice its size.
"""

_SHORT = 64


def opened(path: Path) -> IO[bytes]:
    """Open a file of a recording.

    Raises OSError, or CorruptRecording for a folder, a pipe or a device.
    """
    try:
        file = open(  # noqa: SIM115 - returned open
            path, "rb", opener=lambda name, flags: os.open(name, flags | system.NONBLOCK | system.CLOEXEC)
        )
    except IsADirectoryError:
        raise CorruptRecording(f"{path} is no file; delete it") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise CorruptRecording(f"{path} is no file; delete it")
    return file


def read(path: Path) -> bytes:
    """Return the bytes of a recording's file. Raises as `opened` does."""
    with opened(path) as file:
        return file.read()


@dataclass(frozen=True, slots=True)
class Parentage:
    """The origin of a recording: its parent's id, the step, and the verb (`fork`, `resume`)."""

    id: str
    step: int | None
    how: str


def reference(line: int) -> bytes:
    """Return the line that stands for a line of the parent."""
    return SAME + b',"line":%d}' % line


def origin(header: Any) -> Parentage | None:
    """Return the recording's parent as its header names it, or None.

    (The header of a child process has a number there.)
    """
    parent = header.get("parent") if isinstance(header, Mapping) else None
    # The id becomes the name of a folder, and a header may be foreign.
    if not isinstance(parent, dict) or not ID.fullmatch(str(parent.get("id") or "")):
        return None
    step = parent.get("step")
    known = isinstance(step, int) and not isinstance(step, bool) and abs(step) < 1 << 53
    return Parentage(
        str(parent["id"]), step if known else None, storable(str(parent.get("how") or ""), _SHORT)
    )


def origin_of(line: bytes) -> Parentage | None:
    """Return the parent from the unparsed header line, or None."""
    try:
        header = orjson.loads(line) if b'"parent":{' in line else {}
    except ValueError:
        return None
    return origin(header)


def origins(recordings: Path, names: Iterable[str] | None = None) -> dict[str, Parentage]:
    """Return the parents of those recordings of a folder (by default, of all) that have one."""
    found = {}
    for name in _names(recordings) if names is None else names:
        said = origin(_header(recordings / name))
        if said is not None:
            found[name] = said
    return found


def whole(data: bytes, folder: Path, seen: tuple[str, ...] = ()) -> bytes:
    """Return events with their parent's lines put in.

    Raises CorruptRecording if the parent, or one of these lines, is missing.
    """
    if SAME not in data:
        return data
    lines = data.split(b"\n")
    parent: list[bytes] | None = None
    left = 0
    for place, line in enumerate(lines):
        if not line.startswith(SAME):
            continue
        found = _REFERENCE.fullmatch(line)
        if found is None:
            # Torn or damaged: the reader reports it.
            continue
        number = int(found[1])
        if parent is None:
            parent = _parent(lines[0], folder, seen)
            left = max(_LEAST, 2 * sum(map(len, parent)))
        if not 0 < number <= len(parent) or not parent[number - 1]:
            raise CorruptRecording(
                f"{folder / EVENTS}, line {place + 1}: line {number} of its parent is missing; restore the parent"
            )
        left -= len(parent[number - 1])
        if left < 0:
            raise CorruptRecording(
                f"{folder / EVENTS}, line {place + 1}: it repeats its parent's lines many times; ask for it again"
            )
        lines[place] = chain.content(parent[number - 1]) + (found[2] or b"}")
    return b"\n".join(lines)


def _parent(header: bytes, folder: Path, seen: tuple[str, ...]) -> list[bytes]:
    try:
        said = origin(orjson.loads(header))
    except ValueError:
        said = None
    if said is None or said.id in seen or len(seen) > MOST:
        raise CorruptRecording(f"{folder / EVENTS} refers to a parent that its header does not name")
    path = folder.parent / said.id
    try:
        data = read(path / EVENTS)
    except OSError:
        raise CorruptRecording(
            f"{folder.name} is a fork of {said.id}, which is missing in {folder.parent}; restore it"
        ) from None
    return whole(data, path, (*seen, folder.name)).split(b"\n")


def ancestors(folder: Path) -> list[Path]:
    """Return the folders of its parent, the parent's parent and so on, as far as they exist."""
    found: list[Path] = []
    while len(found) <= MOST and (parent := parent_of(folder)) is not None:
        if parent in found:
            break
        found.append(parent)
        folder = parent
    return found


def parent_of(folder: Path) -> Path | None:
    """Return the folder of its parent; None if it has no parent, or the parent is missing."""
    said = origin(_header(folder))
    parent = folder.parent / said.id if said is not None else None
    return parent if parent is not None and parent.is_dir() else None


def shares(folder: Path) -> bool:
    """Return True if a recording cannot be read without its parent."""
    try:
        return origin(_header(folder)) is not None and SAME in read(folder / EVENTS)
    except (OSError, CorruptRecording):
        return False


def fetch(data: bytes, source: Iterable[Path], target: Path) -> None:
    """Copy the blobs that these lines name into a recording's folder, unless they are there."""
    for digest in {match[1].decode() for match in NAMED_BLOB.finditer(data)}:
        place = Path("blobs", digest[:2], digest)
        if (target / place).exists():
            continue
        for folder in source:
            if (folder / place).is_file():
                private.folder((target / place).parent)
                part = (target / place).with_suffix(f".{os.getpid()}")
                private.write(part, read(folder / place))
                part.replace(target / place)
                break


def flatten(folder: Path, target: Path | None = None) -> None:
    """Write a fork's events and blobs whole, into another folder or (by default) in place.

    After that it no longer needs its parent.
    """
    place = target or folder
    data = whole(read(folder / EVENTS), folder)
    fetch(data, [folder, *ancestors(folder)], place)
    part, written = place / ".events.part", (folder / EVENTS).stat()
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    # Keep its time of change.
    os.utime(part, ns=(written.st_atime_ns, written.st_mtime_ns))
    part.replace(place / EVENTS)


def detach(recordings: Path, leaving: Iterable[str]) -> list[str]:
    """Make the forks of deleted recordings whole, unless they are deleted too.

    Return their ids.

    Raises UsageError for a fork that is still being written.
    """
    going = set(leaving)
    forks = [
        id
        for id, said in origins(recordings).items()
        if said.id in going and id not in going and shares(recordings / id)
    ]
    for id in forks:
        if running(recordings / id):
            raise UsageError(f"{id} is a fork of {origins(recordings)[id].id} and still runs; wait for it")
    for id in forks:
        flatten(recordings / id)
    return forks


def running(folder: Path) -> int:
    """Return the number of the live process that still writes a recording; 0 if none does."""
    try:
        with opened(folder / EVENTS) as file:
            header = orjson.loads(file.readline())
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            tail = file.read()
        pid = int(header.get("pid") or 0)
        if tail[tail.rfind(b"\n", 0, len(tail) - 1) + 1 :].startswith(b'{"event":"sealed"') or pid <= 0:
            return 0
    except (OSError, ValueError, TypeError, AttributeError, OverflowError, CorruptRecording):
        return 0
    # The number may belong to a process of another user now.
    return pid if system.runs(pid, others=False) else 0


def _names(recordings: Path) -> Iterator[str]:
    try:
        yield from sorted(path.name for path in recordings.iterdir())
    except FileNotFoundError:
        return


def _header(folder: Path) -> Mapping[str, Any]:
    try:
        with opened(folder / EVENTS) as file:
            line = file.readline()
        found = orjson.loads(line) if b'"parent":{' in line else {}
    except (OSError, ValueError, CorruptRecording):
        return {}
    return found if isinstance(found, dict) else {}


def process_files(names: Iterable[str]) -> list[str]:
    """Return the names of the events files among names, that of the first process first."""
    found = [name for name in names if name.startswith("events.") and name.endswith(".jsonl")]
    return sorted(found, key=lambda name: (name != EVENTS, name))
