"""Digests of the messages between processes."""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b

from reenact.core.boundary import entered

_LOOKED = 16_384
"""The maximum length of a message whose pickle is read."""


def digest(data: bytes) -> str:
    """Return a digest of a message.

    Pickles of equal values may differ, since equal texts are stored once or twice: their digests are equal.
    """
    content = data
    if len(data) <= _LOOKED and data[:1] == b"\x80":
        with suppress(Exception):
            content = _unshared(data)
    return blake2b(content, digest_size=12).hexdigest()


def _unshared(data: bytes) -> bytes:
    """Return the operations of a pickle, with each reference to a text replaced by the text."""
    parts: list[str] = []
    memo: dict[int, str] = {}
    last, places = "", 0
    with entered(None):
        import pickletools
    for operation, argument, _ in pickletools.genops(data):
        name = operation.name
        if name in ("FRAME", "PROTO"):
            continue
        if name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            place = len(memo) if name == "MEMOIZE" else int(argument or 0)
            if last.startswith("text "):
                memo[place] = last
            else:
                memo[place] = f"place {places}"
                places += 1
            continue
        if name in ("GET", "BINGET", "LONG_BINGET"):
            last = memo[int(argument or 0)]
            parts.append(last)
            last = ""
            continue
        last = f"text {argument!r}" if "UNICODE" in name or "BYTES" in name else f"{name} {argument!r}"
        parts.append(last)
    return "\n".join(parts).encode("utf-8", "surrogatepass")
