"""The identity of a home: an Ed25519 key, made on first use and kept outside of the home.

    HOME/home-id                      a random number that names the home
    KEYS/homes/ID/identity.json       the private key's seed, readable by its owner alone
    KEYS/homes/ID/identity.pub        the public key, `ed25519:` and 64 hex digits; below it the MAC by which the home
                                      knows that it computed the key itself

KEYS is `$XDG_CONFIG_HOME/reenact`, by default `~/.config/reenact`: the user's own folder. A home can come with a
download or an archive; nothing in it confers trust. A `home-id` that is copied from another home only names a key that
its user already has.

Data that a home writes for itself has a MAC with a secret derived from the seed: it costs a hash and needs no library.
Data for other homes is signed; only this imports `cryptography`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from reenact.core import private, system
from reenact.core.patterns import lazy
from reenact.errors import UsageError

NAME = "home-id"
"""The file in a home that names it."""

FILE = "identity.json"
PUBLIC = "identity.pub"
KEY = lazy(r"ed25519:[0-9a-f]{64}")
"""A public key, as text."""

MARK = "home"
"""The member of a header, and of a seal, that names the home that wrote it."""

_BYTES = 32
_LONGEST = 256
_NAMED = lazy(r"[0-9a-f]{32}")
_ODD = system.NONBLOCK | system.NOFOLLOW | system.CLOEXEC
"""Flags to open a file that may be a pipe or a link."""


class Identity:
    """The key pair of one home.

    Args:
        folder: The folder of the home's keys.
        seed: The private key, 32 bytes.
    """

    def __init__(self, folder: Path, seed: bytes) -> None:
        self.folder = folder
        self._seed = seed
        self._secret = hmac.digest(seed, b"reenact home 1", "sha256")

    @classmethod
    def of(cls, home: Path, keys: str = "") -> Identity | None:
        """Return the identity of a home; None if its user has no private key for it.

        `keys` is the user's folder of keys, by default `keys_folder()`.
        """
        folder = kept(home, keys)
        if folder is None:
            return None
        path = folder / FILE
        try:
            if not is_private(path.stat()):
                return None
            data = orjson.loads(path.read_bytes())
            seed = bytes.fromhex(data["seed"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return cls(folder, seed) if len(seed) == _BYTES else None

    @classmethod
    def made(cls, home: Path, keys: str = "") -> Identity:
        """Return a home's identity; make it if missing. Concurrent processes get the same one.

        Raises UsageError if it cannot be written, or the existing file is invalid.
        """
        found = cls.of(home, keys)
        if found is not None:
            return found
        path = _made_folder(home, keys) / FILE
        data = orjson.dumps({"version": 1, "seed": system.random_hex(_BYTES)}) + b"\n"
        try:
            _first(path, data)
        except OSError as error:
            raise unwritable(path.parent, error) from None
        found = cls.of(home, keys)
        if found is None:
            raise UsageError(
                f"{path} cannot be used: `chmod 600` it if it is damaged by its mode alone; else delete it, and the "
                "home gets a new key"
            )
        return found

    @property
    def known_key(self) -> str:
        """The public key, if it was computed before; else empty. Needs no library."""
        try:
            with (self.folder / PUBLIC).open("rb") as file:
                text, _, mac = file.read(_LONGEST).decode("ascii").partition("\n")
        except (OSError, ValueError):
            return ""
        return text if KEY.fullmatch(text) and self.wrote(PUBLIC, text.encode(), mac.strip()) else ""

    @property
    def key(self) -> str:
        """The public key. Raises ImportError where `cryptography` is missing."""
        text = public_of(self._seed)
        if self.known_key != text:
            with suppress(OSError):
                private.write(self.folder / PUBLIC, f"{text}\n{self.mac(PUBLIC, text.encode())}\n")
        return text

    def mac(self, what: str, data: bytes) -> str:
        """Return this home's MAC of data, as hex digits."""
        return hmac.digest(self._secret, what.encode() + b"\0" + data, "sha256").hex()

    def wrote(self, what: str, data: bytes, mac: object) -> bool:
        """Return True if this home wrote that MAC."""
        return isinstance(mac, str) and hmac.compare_digest(
            self.mac(what, data).encode(), mac.encode("utf-8", "surrogatepass")
        )

    def stamp(self, what: str) -> int:
        """Return the `application_id` that marks a SQLite database as this home's own."""
        return int(self.mac(what, b"")[:8], 16) & 0x7FFFFFFF

    def sign(self, data: bytes) -> str:
        """Return the signature of data, as hex digits. Raises ImportError."""
        return signature_of(self._seed, data)


def public_of(seed: bytes) -> str:
    """Return a private key's (32 bytes) public key as text. Raises ImportError."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    return f"ed25519:{Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw().hex()}"


def signature_of(seed: bytes, data: bytes) -> str:
    """Return a private key's signature of data, as hex digits. Raises ImportError."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    return Ed25519PrivateKey.from_private_bytes(seed).sign(data).hex()


def keys_folder() -> Path:
    """Return the user's folder for the keys of homes: `reenact` in the configuration directory.

    Raises UsageError where the user has no such directory.
    """
    above = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(above):  # noqa: PTH117 - by the XDG specification a relative path is ignored
        above = os.path.expanduser("~/.config")  # noqa: PTH111 - it raises nothing where there is no home directory
    if not os.path.isabs(above):  # noqa: PTH117
        raise UsageError(
            "there is no folder for this home's key, because the user has no home directory: set XDG_CONFIG_HOME to a "
            "folder that is yours alone and stays"
        )
    return Path(above) / "reenact"


def kept(home: Path, keys: str = "") -> Path | None:
    """Return the folder of a home's keys, its trust list and its consents.

    None if the home has no name yet, or its user no configuration directory.
    """
    name = _read_name(owner(home) / NAME)
    with suppress(UsageError):
        return _below(keys, name) if name else None
    return None


def _made_folder(home: Path, keys: str = "") -> Path:
    """Return the folder of a home's keys; make it, and the home's name, if missing.

    Raises UsageError if one of them cannot be written.
    """
    above = owner(home)
    path = above / NAME
    try:
        private.folder(above)
        if not os.path.lexists(path):
            _first(path, f"{system.random_hex(16)}\n".encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): the home gets no key") from None
    name = _read_name(path)
    if not name:
        raise UsageError(f"{path} names no home: delete it, and the home gets a new key")
    folder = _below(keys, name)
    try:
        private.folder(folder)
    except OSError as error:
        raise unwritable(folder, error) from None
    return folder


def _below(keys: str, name: str) -> Path:
    return Path(keys or keys_folder()) / "homes" / name


def unwritable(folder: Path, error: OSError) -> UsageError:
    """Return the error for a folder of keys that cannot be written."""
    return UsageError(
        f"{folder}, the folder of this home's key, cannot be written ({error.strerror}): set XDG_CONFIG_HOME to a "
        "folder that is yours alone and stays"
    )


def _read_name(path: Path) -> str:
    """Return the name in a home's file, which may be anything: a home can be downloaded."""
    try:
        file = os.open(path, os.O_RDONLY | _ODD)
        try:
            data = os.read(file, _LONGEST) if stat.S_ISREG(os.fstat(file).st_mode) else b""
        finally:
            os.close(file)
    except OSError:
        return ""
    text = data.decode("ascii", "replace").strip()
    return text if _NAMED.fullmatch(text) else ""


def _first(path: Path, data: bytes) -> None:
    """Write a file unless it exists; of concurrent writers the first wins. Raises OSError."""
    part = path.with_name(f".{path.name}.{system.random_hex(6)}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    try:
        # Unlike a rename, a link replaces nothing.
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


def owner(home: Path) -> Path:
    """Return the folder whose identity a home has; a server's project has that of the server."""
    parent = home.parent
    if parent.name == "projects" and (parent.parent / "keys.sqlite").is_file():
        return parent.parent
    return home


def signed_by(key: str, data: bytes, signature: object) -> bool:
    """Return True if a public key's signature of the data is valid. Raises ImportError."""
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
    """Return a short form of a public key to compare by eye: five groups of four hex digits."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return "-".join(digest[at : at + 4] for at in range(0, 20, 4))


def canonical(data: Mapping[str, Any], leave: tuple[str, ...] = ()) -> bytes:
    """Return a line's members in canonical JSON: sorted, and without the marks."""
    kept = {name: value for name, value in data.items() if name != MARK and name not in leave}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)


def is_private(state: os.stat_result) -> bool:
    """Return True if only the user may read and change a file; one from a checkout fails this."""
    if not hasattr(os, "geteuid"):
        return True
    return not state.st_mode & 0o077 and os.geteuid() in {0, state.st_uid}
