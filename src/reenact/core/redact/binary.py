"""Tell a secret in text from bytes that only look like one: packed data, pictures, programs.

A gigabyte of random bytes has `otp=` several times; to replace the bytes after it would destroy the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reenact.core.patterns import lazy
from reenact.core.redact.text import FoundSecret

_AROUND = 64  # bytes on each side that tell text from noise
_LEAST = 4  # bytes of a value before its first control byte
_RUN = 12  # bytes of text in a row that noise does not contain by chance
_CONTROL = bytes({*range(32), 127} - set(b"\t\n\f\r\x1b"))
_HIGH = bytes(range(128, 256))
_FIRST = lazy(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_TEXT = lazy(rb"[\t\n\r\x20-\x7e]{%d}" % _RUN)


def in_text(data: bytes, hits: Sequence[FoundSecret]) -> Iterator[FoundSecret]:
    """Return the hits that stand in text, each up to its first NUL."""
    for found in hits:
        control = _FIRST.search(data, found.start, found.end)
        if control is not None and control.start() < min(found.start + _LEAST, found.end):
            continue
        if _in_noise(data, found):
            continue
        zero = data.find(b"\0", found.start, found.end)
        yield found if zero < 0 else _cut(data, found, zero)


def _in_noise(data: bytes, found: FoundSecret) -> bool:
    """Return True for bytes as compression, encryption and chance make them.

    Text of any encoding has no control bytes; tables, programs and pickles have few bytes above 127.
    """
    near = data[max(0, found.start - _AROUND) : min(found.end, found.start + _AROUND) + _AROUND]
    if len(near) - len(near.translate(None, _CONTROL)) < 2:
        return False
    high = len(near) - len(near.translate(None, _HIGH))
    return high * 10 >= len(near) * 3 and _TEXT.match(data, found.start, found.start + _RUN) is None


def _cut(data: bytes, found: FoundSecret, end: int) -> FoundSecret:
    return found._replace(end=end, value=data[found.start : end].decode("utf-8", "surrogateescape"))
