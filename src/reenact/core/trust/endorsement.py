"""Endorsements: a project's signature for a recording that was at home for its sender.

    endorsed.json   beside a recording's events: `{"key": "ed25519:…", "signature": "…"}`

The signature covers the recording's id and, of each of its processes, the digest that the seal stands for; of one that
is not sealed, its header. A recording that was changed afterwards is not covered.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from reenact.core import system
from reenact.core.trust.identity import KEY, canonical, signed_by

if TYPE_CHECKING:
    from reenact.core.model.log import Log

FILE = "endorsed.json"

_MOST = 4096


def statement(logs: Sequence[Log]) -> bytes | None:
    """Return the bytes that an endorsement signs; None for format 1, which has no digest.

    Args:
        logs: Each process's events, those of the first process first.
    """
    parts = []
    for log in logs:
        if log.sealed is None:
            try:
                parts.append(f"begun {hashlib.sha256(canonical(log.opened)).hexdigest()}")
            except TypeError:
                # Reenact never writes such a header.
                return None
        elif log.seal_digest:
            parts.append(f"sealed {log.seal_digest}")
        else:
            return None
    if not parts:
        return None
    return "\n".join(["reenact endorsement 1", str(logs[0].opened.get("id")), *sorted(parts)]).encode(
        "utf-8", "surrogatepass"
    )


def endorser(logs: Sequence[Log], folder: Path) -> str:
    """Return the key of the valid endorsement in a recording's folder, or an empty text."""
    key, signature = read(folder)
    signed = statement(logs) if key else None
    try:
        return key if signed is not None and signed_by(key, signed, signature) else ""
    except ImportError:
        return ""


def read(folder: Path) -> tuple[str, str]:
    """Return the unchecked key and signature from a recording's folder, or empty texts."""
    with suppress(OSError, ValueError, AttributeError):
        file = os.open(folder / FILE, os.O_RDONLY | system.NONBLOCK | system.CLOEXEC)
        try:
            # The file may be anything: a folder of recordings can come with a download.
            data = os.read(file, _MOST) if stat.S_ISREG(os.fstat(file).st_mode) else b""
        finally:
            os.close(file)
        found = orjson.loads(data)
        key, signature = found.get("key"), found.get("signature")
        if isinstance(key, str) and isinstance(signature, str) and KEY.fullmatch(key):
            return key, signature
    return "", ""


def write(folder: Path, key: str, signature: str) -> None:
    """Write an endorsement beside a recording's events, or replace it. Raises OSError."""
    if read(folder) == (key, signature):
        return
    part = folder / f".{FILE}.{system.random_hex(6)}"
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(orjson.dumps({"key": key, "signature": signature}) + b"\n")
        part.replace(folder / FILE)
    finally:
        part.unlink(missing_ok=True)
