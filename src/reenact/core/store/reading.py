"""Read a recording's files: its folder, or an exported file."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from pathlib import Path

from reenact.core.model.log import Log
from reenact.core.model.schema import is_address
from reenact.core.model.storable import storable
from reenact.core.query.recorded_run import Labels, RecordedRun
from reenact.core.store import labels, shared
from reenact.core.store.lines import read_events
from reenact.core.store.shared import EVENTS, process_files
from reenact.errors import CorruptRecording, NotARecording

_READ = 2 << 30
"""The largest size in bytes of an exported file's events, or of one of its blobs."""


def read_recording(path: Path) -> RecordedRun:
    """Read a recording from its folder or its exported file."""
    if path.is_file():
        return _read_file(path)
    torn: list[str] = []
    logs: list[Log] = []
    for name in process_files(os.listdir(path)):
        with shared.opened(path / name) as file:
            data = file.read()
        if name == EVENTS:
            data = shared.whole(data, path)
        logs.append(Log(read_events(data, f"{path / name}", torn, of=_id_of(logs)), Blobs(path)))
    if not logs or not logs[0].opened:
        raise NotARecording(
            f"{path} is no recording: its {EVENTS} has no header; `reenact list` shows recordings"
        )
    given = labels_of(path, torn)
    found = RecordedRun(str(logs[0].opened.get("id") or path.name), logs, str(path), tuple(torn))
    found.labels = given
    return found


def labels_of(folder: Path, torn: list[str]) -> Labels:
    """Return the labels of a recording in a folder; a damaged file adds a sentence to `torn`."""

    def read(name: str) -> bytes:
        with shared.opened(folder / name) as file:
            return file.read(labels.LARGEST + 1)

    return labels.labels_in(os.listdir(folder), read, torn)


def _id_of(logs: list[Log]) -> str:
    """Return the id of the recording, from the logs read so far."""
    return str(logs[0].opened.get("id") or "") if logs else ""


PAGE = "is a page, to open in a browser; commands need the recording itself, NAME.reenact (a report's page saves it)"
"""The reason that a page is refused."""


def is_page(data: bytes) -> bool:
    """Return True if a file that begins like this is an HTML page."""
    return data[:256].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))


def unreadable() -> tuple[type[Exception], ...]:
    """Return the exceptions of Python's zipfile for a damaged file."""
    from zipfile import BadZipFile  # noqa: PLC0415 - as above

    return BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, OSError


def cause(error: Exception) -> str:
    """Return the text of such an exception, cut: it may hold names of the file."""
    return storable(str(error), 200)


def check_exported(path: Path) -> None:
    """Raise NotARecording for a file that cannot be an exported recording, as it is no zip file."""
    from zipfile import is_zipfile  # noqa: PLC0415 - few commands read an exported file

    if is_zipfile(path):
        return
    with path.open("rb") as file:
        head = file.read(256)
    if is_page(head):
        raise NotARecording(f"{path} {PAGE}")
    raise NotARecording(f"{path} is no exported recording; `reenact import` reads other formats")


def _read_file(path: Path) -> RecordedRun:
    from reenact.core.unpack import Archive  # noqa: PLC0415 - few commands read an exported file

    check_exported(path)
    torn: list[str] = []
    logs: list[Log] = []
    try:
        with Archive(path, str(path), _READ) as archive:
            names = {os.path.basename(name): name for name in archive.names}
            for name in process_files(list(names)):
                events = read_events(archive.read(names[name]), f"{path}:{name}", torn, of=_id_of(logs))
                logs.append(Log(events, _ZippedBlobs(path, names)))
            given = labels.labels_in(names, lambda name: archive.read(names[name], labels.LARGEST), torn)
    except unreadable() as error:
        raise CorruptRecording(f"{path} is damaged ({cause(error)}); ask for it again") from None
    if not logs or not logs[0].opened:
        raise NotARecording(f"{path} is a zip file, but holds no recording")
    found = RecordedRun(str(logs[0].opened.get("id") or path.stem), logs, str(path), tuple(torn))
    found.labels = given
    return found


class Blobs:
    """Fetches blobs from a recording's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, address: str) -> bytes:
        if not is_address(address):
            raise CorruptRecording(f"{self._folder} names a blob {str(address)[:80]!r}, which is no address")
        digest = address.removeprefix("sha256:")
        place = Path("blobs", digest[:2], digest)
        for folder in (self._folder, *shared.ancestors(self._folder)):
            try:
                data = shared.read(folder / place)
            except OSError:
                continue
            return whole_blob(data, address, str(folder / place))
        raise CorruptRecording(
            f"{self._folder}: blob {address[:19]}… is missing; restore the folder's `blobs`"
        )


def whole_blob(data: bytes, address: str, where: str) -> bytes:
    """Return a blob's bytes, checked against its address.

    Raises CorruptRecording for another hash.
    """
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != address:
        raise CorruptRecording(f"{where} is damaged: its bytes have another hash than its name; restore it")
    return data


class _ZippedBlobs:
    """Fetches blobs from an exported recording."""

    def __init__(self, path: Path, names: dict[str, str]) -> None:
        self._path = path
        self._names = names

    def __call__(self, address: str) -> bytes:
        if not is_address(address):
            raise CorruptRecording(f"{self._path} names a blob {str(address)[:80]!r}, which is no address")
        digest = address.removeprefix("sha256:")
        if digest not in self._names:
            raise CorruptRecording(f"{self._path}: blob {address[:19]}… is missing; ask for the file again")
        from reenact.core.unpack import Archive  # noqa: PLC0415 - as above

        with Archive(self._path, str(self._path), _READ) as archive:
            data = archive.read(self._names[digest])
        return whole_blob(data, address, f"{self._path}:{self._names[digest]}")
