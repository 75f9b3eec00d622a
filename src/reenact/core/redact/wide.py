"""Texts in UTF-16 and UTF-32."""

from __future__ import annotations

import codecs
from collections.abc import Callable

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FIRST = frozenset({b"\xff", b"\xfe"})  # of the byte order marks
_SAMPLE = 64  # bytes that show an encoding
_ZEROS = {
    "utf-32-be": (1, 1, 1, 0),
    "utf-32-le": (0, 1, 1, 1),
    "utf-16-be": (1, 0, 1, 0),
    "utf-16-le": (0, 1, 0, 1),
}


def may_be_wide(head: bytes) -> bool:
    """Return True if a text with this beginning may be in UTF-16 or UTF-32."""
    return b"\0" in head[:_SAMPLE] or head[:1] in _FIRST


def wide_encoding(data: bytes) -> str:
    """Return a text's wide encoding, by its byte order mark or its zeros; else empty.

    ASCII in UTF-16 has a zero at every second byte. Some letters of other alphabets may stand between.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    head = data[:_SAMPLE]
    if b"\0" not in head or len(head) < 8:
        return ""
    for name, zeros in _ZEROS.items():
        columns = [head[column::4] for column in range(4)]
        if all(
            (part.count(0) >= len(part) * 0.7) if zero else (part.count(0) <= len(part) * 0.1)
            for part, zero in zip(columns, zeros, strict=True)
        ):
            return name
    return ""


def clean_wide(data: bytes, encoding: str, clean: Callable[[bytes], bytes]) -> bytes:
    """Return a text in that encoding, cleaned; as plain bytes if it is not in that encoding."""
    width = 4 if "32" in encoding else 2
    whole = len(data) - len(data) % width
    try:
        text = data[:whole].decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return clean(data)
    cleaned = clean(text)
    if cleaned is text:
        return data
    return cleaned.decode("utf-8", "surrogatepass").encode(encoding, "surrogatepass") + data[whole:]
