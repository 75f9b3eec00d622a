"""Take in recordings piece by piece: append, write to the disk, acknowledge.

Existing bytes stay as they are: equal bytes are acknowledged again, others refused. One round of `fdatasync` in
parallel for all files of a request costs about as much as one alone: the file system commits them together.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import orjson

from reenact.core import private, system
from reenact.core.model.event import FORMAT
from reenact.core.model.header import ID
from reenact.core.store import chain
from reenact.core.store.base import BLOB, FILE, Damaged, Piece, PieceTaken
from reenact.core.store.deleted import Tombstones
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.quotas import IntakeLimits, StoredSizes
from reenact.core.store.shared import SAME

RECEIVED = "received"
"""The file in a received recording's folder that is touched while its sender writes."""

_BLOCK = 4096
"""Bytes to read at once in search of the last newline; doubled while there is none."""

_AGAIN = 5.0
"""Seconds between two marks that a recording is being written."""

_AT_ONCE = 16


class LocalIntake:
    """Takes the pieces for one folder of recordings. Any thread may call it.

    Args:
        store: The recordings.
        limits: The limits.
        checked: Check that a piece belongs to a recording, in whole lines. Not needed for pieces that another store
            has checked.
    """

    def __init__(
        self, store: LocalStore, limits: IntakeLimits | None = None, *, checked: bool = True
    ) -> None:
        self._store = store
        self._checked = checked
        self._sizes = StoredSizes(store, limits or IntakeLimits())
        self._pool = ThreadPoolExecutor(_AT_ONCE, "reenact-sync")
        self._heard: dict[str, float] = {}
        self._deleted = Tombstones(store.root)

    def close(self) -> None:
        """End its threads."""
        self._pool.shutdown()

    def lengths(self, ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the length of each file of these recordings. A missing recording has no files."""
        found = {}
        for id in ids:
            if ID.fullmatch(id):
                with contextlib.suppress(OSError), os.scandir(self._store.folder(id)) as files:
                    found[id] = {
                        file.name: file.stat(follow_symlinks=False).st_size
                        for file in files
                        if FILE.fullmatch(file.name)
                    }
        return found

    def has(self, id: str, address: str) -> bool:
        """Return True if a blob is there."""
        found = BLOB.fullmatch(address)
        return bool(ID.fullmatch(id) and found and self._blob(id, found[1]).is_file())

    def heard(self, ids: Iterable[str]) -> None:
        """Mark recordings as being written elsewhere: `living.alive` is true for them for a while."""
        now = monotonic()
        if len(self._heard) > 10_000:
            self._heard.clear()
        for id in ids:
            if ID.fullmatch(id) and now - self._heard.get(id, -_AGAIN) >= _AGAIN:
                self._heard[id] = now
                with contextlib.suppress(OSError):
                    os.utime(self._store.folder(id) / RECEIVED)

    def no_room(self, id: str, more: int) -> PieceTaken | None:
        """Return the refusal of so many more bytes of a recording, or None if they are taken."""
        self._sizes.look()
        return self._sizes.problem(id, more)

    def project_full(self, more: int, recordings: int) -> PieceTaken | None:
        """Return the refusal of so many more bytes and recordings, or None if they are taken."""
        self._sizes.look()
        return self._sizes.project_problem(more, recordings)

    def written(self, id: str) -> None:
        """Count a recording that was written to the store directly."""
        self._sizes.written(id)

    def room(self) -> int:
        """Return the number of bytes that a new recording may have now."""
        return self._sizes.room()

    def take(self, pieces: Sequence[Piece]) -> list[PieceTaken]:
        """Append the pieces; on return, each `ok` piece is on the disk."""
        answers: dict[int, PieceTaken] = {}
        self._sizes.look()
        if self._checked:
            gone = self._deleted.among({piece.recording for piece in pieces})
            answers = {
                at: PieceTaken("gone", detail=gone[piece.recording].told)
                for at, piece in enumerate(pieces)
                if piece.recording in gone
            }
        # Blobs come first: a reader of a line must find the blobs that it names.
        self._take_blobs(
            {
                at: one
                for at, one in enumerate(pieces)
                if one.name.startswith("sha256:") and at not in answers
            },
            answers,
        )
        written: set[Path] = set()
        folders: set[Path] = set()
        for at, piece in enumerate(pieces):
            if at not in answers:
                answers[at] = self._append(piece, written, folders)
        self._sync(written)
        self._sync(folders)
        return [answers[at] for at in range(len(pieces))]

    # -- lines -----------------------------------------------------------------------------------------------

    def _append(self, piece: Piece, written: set[Path], folders: set[Path]) -> PieceTaken:
        if problem := self._unfit(piece):
            return PieceTaken("refused", detail=problem)
        if no_room := self._sizes.problem(piece.recording, len(piece.data)):
            return no_room
        folder = self._store.folder(piece.recording)
        path = folder / piece.name
        try:
            existed = path.exists()
            if not existed:
                if piece.offset:
                    return PieceTaken("gap", detail="no part of it is here yet")
                if piece.name == EVENTS:
                    if self._checked and (problem := no_header(piece)):
                        return PieceTaken("refused", detail=problem)
                    if self._checked and (problem := chain.fault(piece.name, piece.data, 0, b"")):
                        return Damaged("refused", detail=problem)
                    private.folder(folder)
                    (folder / RECEIVED).touch(0o600)
                    os.utime(folder / RECEIVED, (0, 0))
                    folders |= {folder, folder.parent, folder.parent.parent}
                elif not (folder / EVENTS).exists():
                    return PieceTaken("gap", detail=f"its {EVENTS} comes first")
                folders.add(folder)
            taken, new = _write(path, piece, checked=self._checked and (existed or piece.name != EVENTS))
        except OSError as error:
            return PieceTaken("refused", detail=f"it cannot be written here: {error.strerror}")
        self._sizes.add(piece.recording, new)
        if taken.status == "ok":
            # Also if nothing was new: another process may have written it without a sync so far.
            written.add(path)
        return taken

    def _unfit(self, piece: Piece) -> str:
        return unfit(piece) if self._checked else unnamed(piece)

    # -- blobs -----------------------------------------------------------------------------------------------

    def _take_blobs(self, pieces: Mapping[int, Piece], answers: dict[int, PieceTaken]) -> None:
        parts: dict[int, Path] = {}
        for at, piece in pieces.items():
            try:
                part = self._part(piece)
            except OSError as error:
                part = PieceTaken("refused", detail=f"it cannot be written here: {error.strerror}")
            if isinstance(part, Path):
                parts[at] = part
            else:
                answers[at] = part
        self._sync(set(parts.values()))
        folders = set()
        for at, part in parts.items():
            place = self._blob(pieces[at].recording, pieces[at].name.removeprefix("sha256:"))
            part.replace(place)
            folders |= {place.parent, place.parent.parent, place.parent.parent.parent}
            answers[at] = PieceTaken("ok", len(pieces[at].data))
        self._sync(folders)

    def _part(self, piece: Piece) -> Path | PieceTaken:
        """Write a blob's bytes to a file without its final name; return the file, or the result."""
        if problem := unfit_blob(piece, self._sizes.limits.blob):
            return PieceTaken("refused", detail=problem)
        digest = piece.name.removeprefix("sha256:")
        place = self._blob(piece.recording, digest)
        if place.is_file():
            return PieceTaken("ok", len(piece.data))
        if no_room := self._sizes.problem(piece.recording, len(piece.data)):
            return no_room
        private.folder(place.parent)
        part = place.with_name(f"{digest}.{secrets.token_hex(4)}.part")
        with os.fdopen(
            os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.CLOEXEC, 0o600), "wb"
        ) as file:
            file.write(piece.data)
        self._sizes.add(piece.recording, len(piece.data))
        return part

    def _blob(self, id: str, digest: str) -> Path:
        return self._store.folder(id) / "blobs" / digest[:2] / digest

    def _sync(self, paths: Iterable[Path]) -> None:
        # Each thread gets a share of the paths: a task for each path would cost more than the sync itself.
        some = list(paths)
        for _ in self._pool.map(synced, [some[at::_AT_ONCE] for at in range(min(_AT_ONCE, len(some)))]):
            pass


def unnamed(piece: Piece) -> str:
    """Return the reason that a piece has an invalid recording or file name; empty if valid."""
    if not ID.fullmatch(piece.recording):
        return "that is no id of a recording"
    return "" if FILE.fullmatch(piece.name) else "a recording has no file of that name"


def unfit(piece: Piece) -> str:
    """Return the fault of a piece of a file; empty if none."""
    if problem := unnamed(piece):
        return problem
    if not piece.data.endswith(b"\n"):
        return "a piece ends with a line"
    if piece.data.startswith(SAME) or b"\n" + SAME in piece.data:
        return "a fork is sent whole, with its parent's lines"
    return ""


def unfit_blob(piece: Piece, most: int) -> str:
    """Return the fault of a blob; empty if none.

    Args:
        piece: The blob.
        most: The largest size in bytes.
    """
    digest = BLOB.fullmatch(piece.name)
    if not ID.fullmatch(piece.recording) or digest is None or piece.offset:
        return "that is the name of no recording, or of no blob"
    if hashlib.sha256(piece.data).hexdigest() != digest[1]:
        return "its bytes have another hash"
    return f"a blob has {most} bytes at most here" if len(piece.data) > most else ""


def no_header(piece: Piece) -> str:
    """Return the reason that a piece is no valid beginning of a recording; empty if valid."""
    try:
        header = orjson.loads(piece.data[: piece.data.index(b"\n")])
        begins = header["event"] == "opened" and isinstance(header["format"], int)
    except (ValueError, KeyError, TypeError):
        begins = False
    if not begins:
        return "a recording begins with a header"
    if header["format"] > FORMAT:
        return f"it is in format {header['format']}, and this server reads up to {FORMAT}: upgrade the server"
    if header.get("id") != piece.recording:
        return "its header names another recording"
    parent = header.get("parent")
    if isinstance(parent, dict) and not ID.fullmatch(str(parent.get("id"))):
        return "its header names a parent that is no recording"
    return ""


def _write(path: Path, piece: Piece, *, checked: bool) -> tuple[PieceTaken, int]:
    """Append the missing bytes, if their sums continue the file.

    Return the result and their number.

    On OSError the file is unchanged.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | system.CLOEXEC | system.NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        # Two senders may send the same bytes: a restarted shipper, and a person.
        system.lock(file)
        size = os.fstat(file).st_size
        if piece.offset > size:
            return PieceTaken("gap", size, f"{size} bytes are here"), 0
        known = min(size - piece.offset, len(piece.data))
        if known and system.pread(file, known, piece.offset) != piece.data[:known]:
            detail = "other bytes are stored here already, and are never overwritten"
            return PieceTaken("differs", size, detail), 0
        if checked and (problem := _fault(file, size, piece.name, piece.data[known:])):
            return Damaged("refused", size, problem), 0
        rest = memoryview(piece.data)[known:]
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError:
            os.ftruncate(file, size)
            raise
        return PieceTaken("ok", max(size, piece.offset + len(piece.data))), len(piece.data) - known
    finally:
        os.close(file)


def _fault(file: int, size: int, name: str, rest: bytes) -> str:
    """Return the fault of the sums of bytes that continue a file; empty if they fit."""
    begun = _begun(file, size)
    at = size - len(begun)
    start = max(0, at - chain.LENGTH - 1)
    return chain.fault(name, begun + rest, at, system.pread(file, at - start, start))


def _begun(file: int, size: int) -> bytes:
    """Return the bytes after a file's last newline: a line that a killed server left in parts."""
    at, begun = size, b""
    while at and b"\n" not in begun:
        count = min(at, max(_BLOCK, len(begun)))
        at -= count
        begun = system.pread(file, count, at) + begun
    return begun.rpartition(b"\n")[2]


def synced(paths: Iterable[Path]) -> None:
    """Sync files to the disk. A file that was deleted meanwhile is skipped."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            system.sync(path)
