"""Signed addresses: who has one may read what it names, until it expires.

The signature is an HMAC of the path and the moment of expiry, with a key that stays in the store's home.
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
from reenact.errors import RecordingError

KEY = "signing.key"
"""The file with the key, in the store's home. Without it, all addresses that were given out are void."""

_BYTES = 32


class Signer:
    """Signs paths and checks them.

    Args:
        key: The secret; `Signer.of(home)` has the one of a store.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def of(cls, home: Path) -> Signer:
        """The signer of a store's home; its key is made where there is none, and readable by its owner alone."""
        path = home / KEY
        # A recorded program did not ask for this randomness.
        with boundary.entered(None):
            try:
                home.mkdir(parents=True, exist_ok=True, mode=0o700)
                return cls(_read(path) or _make(path))
            except OSError as error:
                raise RecordingError(
                    f"{path}: {error.strerror}; without a key no address is signed"
                ) from None

    def sign(self, path: str, *, seconds: float) -> tuple[str, datetime]:
        """A path with its expiry and signature, good for that long from now; and when it expires."""
        with boundary.entered(None):
            expires = int(time.time() + seconds)
        address = f"{quote(path)}?expires={expires}&signature={self._signature(path, expires)}"
        return address, datetime.fromtimestamp(expires, UTC)

    def allows(self, path: str, expires: str, signature: str) -> bool:
        """Whether that is a signature of ours for that path, and still good."""
        if not (expires.isascii() and expires.isdigit() and len(expires) < 16 and signature.isascii()):
            return False
        known = hmac.compare_digest(self._signature(path, int(expires)), signature)
        with boundary.entered(None):
            return known and int(expires) > time.time()

    def _signature(self, path: str, expires: int) -> str:
        # The moment has digits alone: no path can be written so that two of them sign the same.
        return hmac.new(self._key, f"{expires}\n{path}".encode(), hashlib.sha256).hexdigest()


def _read(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return b""
    return key if len(key) == _BYTES else b""


def _make(path: Path) -> bytes:
    """Write a new key as a whole: of two processes that make one at once, both have that of the first."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(_BYTES))
    try:
        os.link(part, path)
    except OSError:
        # One is there already, or is damaged, or this disk knows no links.
        if not _read(path):
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return _read(path)
