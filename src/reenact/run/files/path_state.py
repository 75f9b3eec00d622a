"""The state of a path, compared with a recorded one."""

from __future__ import annotations

import hashlib
import stat
from functools import partial
from pathlib import Path

from reenact.core.files.states import FileState, Fingerprint
from reenact.core.query.recorded_run import RecordedRun

_PIECE = 1 << 20


def is_state_of(path: Path, state: FileState, salt: bytes) -> bool:
    """Return True if a path is in a recorded state, as far as that is known.

    Names in a folder are not compared.
    """
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return state.kind == "none"
    mode = status.st_mode
    if state.kind == "link":
        return stat.S_ISLNK(mode) and str(path.readlink()) == state.target
    if state.kind == "folder":
        return stat.S_ISDIR(mode) and stat.S_IMODE(mode) == state.mode
    if state.kind == "none":
        # The state of a pipe, socket or device is not recorded.
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    if not stat.S_ISREG(mode):
        return False
    if status.st_size != state.size or stat.S_IMODE(mode) != state.mode:
        return False
    known = state.blob or state.print
    return not known or _content(path, salt, plain=bool(state.blob)) == known


def looks_like(path: Path, state: FileState) -> bool:
    """Return True if a file has the recorded size, mode and time."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    known = stat.S_ISREG(status.st_mode) and state.mtime in (None, status.st_mtime_ns)
    return known and status.st_size == state.size and stat.S_IMODE(status.st_mode) == state.mode


def holds_other(path: Path, data: bytes) -> bool:
    """Return True for a file with other bytes than these."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return False
        return status.st_size != len(data) or path.read_bytes() != data
    except OSError:
        return False


def _content(path: Path, salt: bytes, *, plain: bool) -> str:
    """Return the address of a file's bytes, or their fingerprint; empty if it cannot be read."""
    address, keyed = hashlib.sha256(), Fingerprint(salt)
    try:
        with path.open("rb", buffering=0) as file:
            while piece := file.read(_PIECE):
                (address if plain else keyed).update(piece)
    except OSError:
        return ""
    return f"sha256:{address.hexdigest()}" if plain else keyed.text()


def bytes_of(recording: RecordedRun, state: FileState) -> bytes:
    """Return the recorded bytes of a file; none if they are not recorded."""
    return state.content(partial(blob, recording)) if state.kind == "file" and state.blob else b""


def blob(recording: RecordedRun, address: str) -> bytes:
    """Return the recorded bytes. Raises CorruptRecording."""
    return bytes(recording.logs[0].value({"$blob": address}))
