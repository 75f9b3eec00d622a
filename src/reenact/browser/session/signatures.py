"""Signed addresses: the bearer may read the named file until the address expires.

The signature is an HMAC of the path and the moment of expiry. Its key is beside that of the store's home, in the user's
configuration directory.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from reenact.core import boundary
from reenact.core.trust import Identity
from reenact.errors import RecordingError, UsageError

KEY = "signing.key"
"""The file with the key. If it is deleted, all earlier addresses become invalid."""

_BYTES = 32


class Signer:
    """Signs paths and checks them.

    Args:
        key: The secret; `Signer.of(home)` reads a store's own.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def of(cls, home: Path) -> Signer:
        """Return the signer of a store's home.

        A missing key is created, readable only by its owner. Raises RecordingError.
        """
        # The random key is no effect of the recorded program.
        with boundary.entered(None):
            try:
                path = Identity.made(home).folder / KEY
            except UsageError as error:
                raise RecordingError(f"no address can be signed: {error}") from None
            try:
                return cls(_read(path) or _make(path))
            except OSError as error:
                raise RecordingError(
                    f"{path}: {error.strerror}; without a key no address is signed"
                ) from None

    def sign(self, path: str, *, seconds: float) -> tuple[str, datetime]:
        """Return a path with its signature, valid for `seconds` from now, and its expiry."""
        with boundary.entered(None):
            expires = int(time.time() + seconds)
        address = f"{quote(path)}?expires={expires}&signature={self._signature(path, expires)}"
        return address, datetime.fromtimestamp(expires, UTC)

    def allows(self, path: str, expires: str, signature: str) -> bool:
        """Return True if the signature is valid for that path and has not expired."""
        if not (expires.isascii() and expires.isdigit() and len(expires) < 16 and signature.isascii()):
            return False
        known = hmac.compare_digest(self._signature(path, int(expires)), signature)
        with boundary.entered(None):
            return known and int(expires) > time.time()

    def _signature(self, path: str, expires: int) -> str:
        # The moment contains only digits, so two pairs never give the same text to sign.
        return hmac.new(self._key, f"{expires}\n{path}".encode(), hashlib.sha256).hexdigest()


def _read(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return b""
    return key if len(key) == _BYTES else b""


def _make(path: Path) -> bytes:
    """Write a new key atomically: of two processes at once, both use the first one's key."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(_BYTES))
    try:
        os.link(part, path)
    except OSError:
        # A key exists already or is damaged, or this disk has no hard links.
        if not _read(path):
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return _read(path)
