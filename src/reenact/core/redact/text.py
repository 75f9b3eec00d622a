"""Positions, escapes and quotes in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from reenact.core.patterns import compiled, lazy
from reenact.core.redact.shapes import TOKEN
from reenact.core.redact.work import Work


class FoundSecret(NamedTuple):
    """A secret found at data[start:end]."""

    start: int
    end: int
    value: str  # without escapes; the token is made of it
    quote: bytes = b""  # for a bare number: the quote to put around the token, so that JSON stays JSON
    whole: bool = False  # complete, even though it may stand at the end of a stream's chunk


Look = Callable[[bytes, int, Work], Iterable[FoundSecret]]
"""Looks at one place of the data for a secret, and counts what it reads there."""

ALNUM = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_ESCAPED_BEFORE = lazy(rb"(\\+)(?:[nrtbf]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})\Z")
# `[` and a letter open a section of a configuration file.
_JSON = lazy(rb"(?:data|event):|\s*+(?:[{\"]|\[\s*+(?:[\[{\"\]\-0-9]|true\b|false\b|null\b|\Z))")
SOFT = rb"\\++(?![nrtbf\"'\s]|u00(?:26|3c|3e|27|22|0a))"  # a backslash that is part of the text
FORM_VALUE = lazy(rb"(?:[^\s&\"'\\#<>`]++|" + SOFT + rb")++")


def hit(data: bytes, start: int, end: int, value: str, *, quote: bytes = b"") -> Iterator[FoundSecret]:
    """Yield the hit, unless it is empty or a token."""
    if start < end and not TOKEN.fullmatch(data, start, end):
        yield FoundSecret(start, end, value, quote)


def boundary(data: bytes, at: int, *, strict: bool = False) -> bool:
    """Return True if a secret may begin here: not in a word (an escaped newline's n is none)."""
    if at == 0:
        return True
    before = data[at - 1]
    if before not in ALNUM and not (strict and before in b"-_"):
        return True
    return _ESCAPED_BEFORE.search(data, max(0, at - 24), at) is not None


def slashes(data: bytes, at: int) -> int:
    """Return the number of backslashes before this place."""
    piece = data[max(0, at - 64) : at]
    return len(piece) - len(piece.rstrip(b"\\"))


def level_of(backslashes: bytes) -> int:
    """Return the nesting of a JSON string, as the backslashes of its opening quote: 0, 1, 3, 7."""
    return (len(backslashes) + 1).bit_length() - 1


def plain(raw: bytes, level: int) -> str:
    """Return a value decoded from JSON strings nested `level` + 1 deep."""
    text = raw.decode("utf-8", "surrogateescape")
    for _ in range(level + 1):
        if "\\" not in text:
            break
        try:
            text = str(json.loads(f'"{text}"', strict=False))
        except ValueError:
            break
    return text


def close(data: bytes, start: int, quote: int, level: int, work: Work) -> int | None:
    """Return the end of the string from `start`: its own quote, or that of an enclosing string.

    In a string nested `level` deep its own quote bears 2**level - 1 backslashes, and each backslash of its
    text is 2**(level + 1) of them; a quote that belongs to the text bears 2**(level + 1) - 1 or more.
    """
    began, end = work.closes.get((quote, level), (len(data) + 1, None))
    if start < began or (end is not None and start > end):  # else: it ends where the one around it does
        found = _closing(quote, level).search(data, start)
        end = found and (found.start("end") if found["end"] else found.start())
        work.closes[quote, level] = (start, end)
    return end


@lru_cache(maxsize=64)
def _closing(quote: int, level: int) -> re.Pattern[bytes]:
    """Return the pattern of the end of a string with that quote. It takes linear time."""
    if quote != 0x22:  # a repr within JSON: the string around it ends at a quote without a backslash
        return compiled(rb"(?<!\\)(?:\\\\)*+(?:%c|(?P<end>\"))" % quote)
    period = 2 << level
    return compiled(rb"(?<!\\)(?:\\{%d})*+(?P<end>\\{0,%d}+\")" % (period, period // 2 - 1))


def is_json(data: bytes) -> bool:
    """Return True if a text begins like JSON, or like events of JSON."""
    return _JSON.match(data, 0, 128) is not None


def name_behind(found: re.Match[bytes]) -> bytes:
    """Return the name of a backward match, without the n of an escaped newline before it."""
    name = found["name"][::-1]
    return name[1:] if found["before"][:1] == b"\\" and name[:1] in {b"n", b"r", b"t"} else name
