"""The identity of a home: an Ed25519 key, made when it is first needed.

    identity.json   the private key's seed, readable by its owner alone
    identity.pub    the public key, `ed25519:` and 64 hex digits, to hand out; below it the MAC by which the home knows
                    that it worked the key out itself: a file that came with a download has none

What a home writes for itself carries a MAC under a secret that is derived from the seed: it costs a hash, and needs no
library. What is to be recognised elsewhere is signed; `cryptography` is imported for that alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from reenact.errors import UsageError

FILE = "identity.json"
PUBLIC = "identity.pub"
KEY = re.compile(r"ed25519:[0-9a-f]{64}")
"""A public key, as text."""

MARK = "home"
"""The member of a header, and of a seal, that says which home wrote it."""

_BYTES = 32
_LONGEST = 256


class Identity:
    """The key pair of one home.

    Args:
        folder: The home.
        seed: The private key, 32 bytes.
    """

    def __init__(self, folder: Path, seed: bytes) -> None:
        self.folder = folder
        self._seed = seed
        self._secret = hmac.digest(seed, b"reenact home 1", "sha256")

    @classmethod
    def of(cls, home: Path) -> Identity | None:
        """The identity of a home, or None where it has none yet, or none that is private to the user."""
        path = owner(home) / FILE
        try:
            state = path.stat()
            if not private(state):
                return None
            data = orjson.loads(path.read_bytes())
            seed = bytes.fromhex(data["seed"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return cls(path.parent, seed) if len(seed) == _BYTES else None

    @classmethod
    def made(cls, home: Path) -> Identity:
        """The identity of a home, made where there is none. Of processes that begin together all get the same.

        Raises OSError where it cannot be written, or UsageError where the file that is there is of no use.
        """
        found = cls.of(home)
        if found is not None:
            return found
        folder = owner(home)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = folder / f".{FILE}.{secrets.token_hex(6)}"
        data = orjson.dumps({"version": 1, "seed": secrets.token_bytes(_BYTES).hex()}) + b"\n"
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            # The first one stays: unlike a rename, a link replaces nothing.
            with suppress(FileExistsError):
                os.link(part, folder / FILE)
        finally:
            part.unlink(missing_ok=True)
        found = cls.of(home)
        if found is None:
            raise UsageError(
                f"{folder / FILE} cannot be used: if it is your own, `chmod 600` it; if it came with a download, "
                "delete it"
            )
        return found

    @property
    def known_key(self) -> str:
        """The public key, if it was worked out before; else nothing. Needs no library."""
        try:
            with (self.folder / PUBLIC).open(encoding="ascii") as file:
                text, _, mac = file.read(_LONGEST).partition("\n")
        except (OSError, ValueError):
            return ""
        return text if KEY.fullmatch(text) and self.wrote(PUBLIC, text.encode(), mac.strip()) else ""

    @property
    def key(self) -> str:
        """The public key. Raises ImportError where `cryptography` is missing."""
        text = public_of(self._seed)
        if self.known_key != text:
            with suppress(OSError):
                part = self.folder / f".{PUBLIC}.{secrets.token_hex(6)}"
                part.write_text(f"{text}\n{self.mac(PUBLIC, text.encode())}\n", "ascii")
                part.replace(self.folder / PUBLIC)
        return text

    def mac(self, what: str, data: bytes) -> str:
        """What only this home can write below some data, as hex digits."""
        return hmac.digest(self._secret, what.encode() + b"\0" + data, "sha256").hex()

    def wrote(self, what: str, data: bytes, mac: object) -> bool:
        """Whether this home wrote that MAC."""
        return isinstance(mac, str) and hmac.compare_digest(
            self.mac(what, data).encode(), mac.encode("utf-8", "surrogatepass")
        )

    def sign(self, data: bytes) -> str:
        """The signature of some data, as hex digits. Raises ImportError where `cryptography` is missing."""
        return signature_of(self._seed, data)


def public_of(seed: bytes) -> str:
    """The public key of a private one (32 bytes), as text. Raises ImportError where `cryptography` is missing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    return f"ed25519:{Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw().hex()}"


def signature_of(seed: bytes, data: bytes) -> str:
    """A private key's signature of some data, as hex digits. Raises ImportError where `cryptography` is missing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    return Ed25519PrivateKey.from_private_bytes(seed).sign(data).hex()


def owner(home: Path) -> Path:
    """The folder whose identity a home has: its own; a project of a server has that of the server's home."""
    parent = home.parent
    if parent.name == "projects" and (parent.parent / "keys.sqlite").is_file():
        return parent.parent
    return home


def signed_by(key: str, data: bytes, signature: object) -> bool:
    """Whether a signature is that of a public key. Raises ImportError where `cryptography` is missing."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - 35 ms, for what is signed alone
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    if not isinstance(signature, str) or not KEY.fullmatch(key):
        return False
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.removeprefix("ed25519:")))
        public.verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(key: str) -> str:
    """A public key in short, for people to compare: five groups of four hex digits."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return "-".join(digest[at : at + 4] for at in range(0, 20, 4))


def canonical(data: Mapping[str, Any], leave: tuple[str, ...] = ()) -> bytes:
    """One way to write a line's members down, however the line has them: without the marks, and in order."""
    kept = {name: value for name, value in data.items() if name != MARK and name not in leave}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)


def private(state: os.stat_result) -> bool:
    """Whether others than the user may neither read nor change a file: one that came with a checkout is not so."""
    if not hasattr(os, "geteuid"):
        return True
    return not state.st_mode & 0o077 and os.geteuid() in {0, state.st_uid}
