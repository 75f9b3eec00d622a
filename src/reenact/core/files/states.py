"""The state of one path: a file, a folder, a link, or nothing; and its form in a recording."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import field, replace
from typing import Literal, TypeAlias, cast

from reenact.core.dataclass import dataclass
from reenact.core.model.event import Tree
from reenact.core.model.schema import is_address
from reenact.errors import CorruptRecording

Kind: TypeAlias = Literal["file", "folder", "link", "none"]
Why: TypeAlias = Literal["", "ignored", "secret", "large", "unread", "listed"]

KINDS = ("file", "folder", "link", "none")
REASONS = ("ignored", "secret", "large", "unread", "listed")
"""The reasons that a file's bytes are not kept; `listed`: the run only listed its folder."""

NAMES = 1_000_000
"""The maximum number of names of a listed folder."""

LONGEST = 4096
"""The maximum number of characters of a path, and of a link's target."""

SHORT = 4096
"""The largest size in bytes of a file whose bytes are in the state itself."""

_MODES = 0o7777
_LARGEST = 1 << 53
_LATEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class FileState:
    """A path at one moment of a run.

    Attributes:
        kind: `file`, `folder`, `link`, or `none`: nothing was there.
        mode: The permission bits.
        size: The size of a file in bytes.
        blob: The address of a file's bytes, or an empty text if they are not kept.
        print: Of a file without kept bytes: `fingerprint` of its bytes, or an empty text if it was not read.
        masked: Of a file with secrets: `fingerprint` of its bytes with tokens in their place. A replay writes these,
            where the program got a secret from outside.
        target: The target of a link.
        why: The reason that a file's bytes are not kept, else empty.
        names: The names in a folder if it was listed, sorted, else None. The names of folders in it end in `/`.
        mtime: The time of a file's last change in nanoseconds since 1970; None if it is not known.
        text: The bytes of a short file of UTF-8, or None: then those of `blob` are stored beside the events.
    """

    kind: Kind
    mode: int = 0
    size: int = 0
    blob: str = ""
    print: str = ""
    masked: str = ""
    target: str = ""
    why: Why = ""
    names: tuple[str, ...] | None = None
    mtime: int | None = None
    text: str | None = field(default=None, compare=False)

    def timeless(self) -> FileState:
        """Return the state without the time of its last change, and without the names in a folder."""
        return replace(self, names=None, mtime=None)

    def to_tree(self) -> dict[str, Tree]:
        """Return the state as an object of the recording, without empty members."""
        tree: dict[str, Tree] = {"kind": self.kind}
        if self.kind != "none":
            tree["mode"] = self.mode
        if self.kind == "file":
            tree["size"] = self.size
            if self.mtime is not None:
                tree["mtime"] = self.mtime
        if self.text is not None:
            tree["text"] = self.text
        elif self.blob:
            tree["blob"] = self.blob
        for name in ("print", "masked", "target", "why"):
            if value := getattr(self, name):
                tree[name] = value
        if self.names is not None:
            tree["names"] = list(self.names)
        return tree

    @classmethod
    def from_tree(cls, tree: Tree, where: str) -> FileState:
        """Return the state of an object. Raises CorruptRecording, which names the place `where`."""
        if type(tree) is not dict or tree.get("kind") not in KINDS:
            raise CorruptRecording(f"{where}: the state has no kind (`file`, `folder`, `link` or `none`)")
        for name, test in _TESTS.items():
            if name in tree and not test(tree[name]):
                raise CorruptRecording(f"{where}: `{name}` is not valid in the state of a file")
        if tree["kind"] == "link" and not tree.get("target"):
            raise CorruptRecording(f"{where}: the state of a link has no `target`")
        text, blob = tree.get("text"), tree.get("blob", "")
        if text is not None:
            # A text that is no UTF-8 has no bytes.
            data = text.encode("utf-8", "ignore")
            if blob or tree["kind"] != "file" or tree.get("size") != len(data) or data.decode() != text:
                raise CorruptRecording(f"{where}: `text` does not fit the state of the file")
            blob = address_of(data)
        names = tree.get("names")
        return cls(
            tree["kind"],
            tree.get("mode", 0),
            tree.get("size", 0),
            blob,
            tree.get("print", ""),
            tree.get("masked", ""),
            tree.get("target", ""),
            cast("Why", tree.get("why", "")),
            None if names is None else tuple(names),
            tree.get("mtime"),
            text,
        )

    def content(self, blobs: Callable[[str], bytes]) -> bytes:
        """Return the kept bytes of a file; `blobs` returns those of an address."""
        return blobs(self.blob) if self.text is None else self.text.encode()

    @property
    def kept(self) -> bool:
        """True unless it is a file whose bytes are missing."""
        return self.kind != "file" or bool(self.blob)


NOTHING = FileState("none")
"""Nothing is at the path."""


class Fingerprint:
    """Compute the fingerprint of bytes that are not kept, piece by piece.

    Args:
        salt: The salt of the recording's header. With another salt, equal bytes have another fingerprint.
    """

    def __init__(self, salt: bytes) -> None:
        self._hash = hmac.new(salt, digestmod=hashlib.sha256)

    def update(self, piece: bytes) -> None:
        """Add the next bytes."""
        self._hash.update(piece)

    def text(self) -> str:
        """Return the fingerprint of the bytes so far: 16 hex digits."""
        return self._hash.hexdigest()[:16]


def fingerprint(data: bytes, salt: bytes) -> str:
    """Return the fingerprint of bytes that are not kept."""
    made = Fingerprint(salt)
    made.update(data)
    return made.text()


def address_of(data: bytes) -> str:
    """Return the address of bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def is_name(value: Tree) -> bool:
    """Return True for the name of an entry of a folder; that of a folder ends in `/`."""
    if type(value) is not str or not value or len(value) > LONGEST:
        return False
    name = value.removesuffix("/")
    return "/" not in name and "\0" not in name and name not in ("", ".", "..")


def _count(value: Tree, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _names(value: Tree) -> bool:
    return type(value) is list and len(value) <= NAMES and all(map(is_name, value))


def _short(value: Tree) -> bool:
    return type(value) is str and len(value) <= SHORT


def _text(value: Tree) -> bool:
    return type(value) is str and "\0" not in value and len(value) <= LONGEST


_TESTS = {
    "mode": lambda value: _count(value, _MODES),
    "size": lambda value: _count(value, _LARGEST),
    "mtime": lambda value: _count(value, _LATEST),
    "blob": is_address,
    "text": _short,
    "print": _text,
    "masked": _text,
    "target": _text,
    "why": lambda value: value in REASONS,
    "names": _names,
}
