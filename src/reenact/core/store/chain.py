"""Chain the lines of a file, so that damage is found and named.

From format 2 on, the last member of each line is `"sum"`: 32 hex digits, the BLAKE2b-128 digest of the sum of the line
before it (nothing for the first line) and of the line's own bytes up to the comma before `"sum"`. A flipped bit changes
the line's sum; a removed, doubled or moved line leaves a line whose sum does not continue the one before it. The last
sum stands for all lines of the file.

A fork refers to its parent's lines. Such a line has the sum of the line that it stands for, so that a fork has the same
sums (and the same signed seal) after its parent's lines were put in.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import orjson

from reenact.core.patterns import lazy

FIRST = b""
"""The sum before the first line."""

BEFORE, AFTER = b',"sum":"', b'"}'
"""The bytes around a line's sum."""

CHAINED = 2
"""The first format whose lines have sums."""

LENGTH = len(BEFORE) + 32 + len(AFTER)
"""The bytes of a line's sum, with its comma and the line's closing brace."""

_EMPTY = blake2b(digest_size=16)
_SUM = lazy(rb',"sum":"([0-9a-f]{32})"\}')


def sum_of(before: bytes, content: bytes) -> bytes:
    """Return the sum of a line, 32 hex digits.

    Args:
        before: The sum of the line before it.
        content: The line's bytes that count, see `content`.
    """
    digest = _EMPTY.copy()  # faster than a new one
    digest.update(before)
    digest.update(content)
    return digest.hexdigest().encode()


def tail(check: bytes) -> bytes:
    """Return the end of a line, from the comma before its sum on."""
    return BEFORE + check + AFTER


def stated(line: bytes) -> bytes | None:
    """Return the sum at the end of a line, right or wrong; None if it has none."""
    found = _SUM.fullmatch(line, max(0, len(line) - LENGTH))
    return found[1] if found is not None else None


def bare(line: bytes) -> bytes:
    """Return a line (without its newline) less its sum, if it has one."""
    return line[:-LENGTH] + b"}" if stated(line) is not None else line


def content(line: bytes) -> bytes:
    """Return the bytes of a line that its sum covers: all before the sum or closing brace."""
    return bare(line.rstrip())[:-1]


def unsigned(body: bytes, signature: Any) -> bytes | None:
    """Return the part of a sealed line that its signature covers: all before `"signed"`.

    None if the signature is not the last member.

    Args:
        body: The line up to its sum.
        signature: The value of that member. None if the line has none: then all of it is covered.
    """
    if signature is None:
        return body
    try:
        end = b',"signed":' + orjson.dumps(signature)
    except TypeError:
        return None
    return body[: -len(end)] if body.endswith(end) else None


def fault(name: str, data: bytes, at: int, last: bytes) -> str:
    """Return the fault of lines that continue a file, with the line's number; empty if none.

    Args:
        name: The file's name, for the sentence.
        data: Whole lines.
        at: The length of the file before them.
        last: The file's last bytes, `LENGTH` of them and the newline; nothing if it is empty.
    """
    lines = data.split(b"\n")[:-1]
    before = stated(last.rstrip(b"\n")) if at else FIRST
    if not lines or before is None or (not at and not _begins_chain(lines[0])):
        return ""
    for number, line in enumerate(lines, 1):
        before = sum_of(before, line[:-LENGTH])
        if line[-LENGTH:] != tail(before):
            place = f"line {number}" + (f" after byte {at}" if at else "")
            why = "it was changed, or a line before it was removed, doubled or moved"
            return f"{name}, {place}: damaged: {why if stated(line) else 'it is cut off, or has no sum'}"
    return ""


def _begins_chain(header: bytes) -> bool:
    """Return True if a file with this first line has sums: all do from format 2 on."""
    try:
        version = orjson.loads(header)["format"]
    except (ValueError, KeyError, TypeError):
        return False
    return stated(header) is not None or (type(version) is int and version >= CHAINED)


def chained(lines: Iterable[bytes]) -> bytes:
    """Return the bytes of a file with these lines, each with its sum (replaced or added)."""
    before, file = FIRST, bytearray()
    for line in lines:
        body = content(line)
        before = sum_of(before, body)
        file += body + tail(before) + b"\n"
    return bytes(file)
