"""Chain the lines of a file, so that damage is found and named.

From format 2 on, the last member of each line is `"sum"`: the first 16 hex digits of the BLAKE2b-256 digest of all
bytes of the file before it, from the first line on up to the comma before `"sum"`. A flipped bit, a removed, doubled or
moved line changes the sums of all lines after it.

A fork refers to its parent's lines. For the digest such a line counts as the line that it stands for, so that a fork
has the same sums (and the same signed seal) after its parent's lines were put in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import orjson

_TAIL = b',"sum":"%b"}'
LENGTH = len(_TAIL % (b"0" * 16))
"""The bytes of a line's sum, with its comma and the line's closing brace."""

_SUM = re.compile(rb',"sum":"[0-9a-f]{16}"\}')


def begin() -> hashlib.blake2b:
    """The digest of a file that is empty so far."""
    return hashlib.blake2b(digest_size=32)


def tail(digest: hashlib.blake2b) -> bytes:
    """The end of a line, from the comma before its sum on; `digest` is over all bytes before that."""
    return _TAIL % digest.hexdigest()[:16].encode()


def has_sum(line: bytes) -> bool:
    """Whether a line ends with a sum, right or wrong."""
    return _SUM.fullmatch(line, max(0, len(line) - LENGTH)) is not None


def bare(line: bytes) -> bytes:
    """A line (without its newline) less its sum, where it has one."""
    return line[:-LENGTH] + b"}" if has_sum(line) else line


def content(line: bytes) -> bytes:
    """The bytes of a line that count for the digest: all before its sum, or before its closing brace."""
    return bare(line.rstrip())[:-1]


def unsigned(body: bytes, signature: Any) -> bytes | None:
    """The part of a sealed line that its signature covers: all before its last member, `"signed"`.

    Args:
        body: The line up to its sum.
        signature: The value of that member. None where the line has none: all of it is covered.

    None where the signature is not the last member.
    """
    if signature is None:
        return body
    end = b',"signed":' + orjson.dumps(signature)
    return body[: -len(end)] if body.endswith(end) else None


def chained(lines: Iterable[bytes]) -> bytes:
    """The bytes of a file with these lines, each with its sum in the place of the one that it may have."""
    digest, file = begin(), bytearray()
    for line in lines:
        body = content(line)
        digest.update(body)
        end = tail(digest) + b"\n"
        digest.update(end)
        file += body + end
    return bytes(file)
