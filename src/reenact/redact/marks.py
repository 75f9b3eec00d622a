"""Marks: the places of the data where a secret may be, found by hyperscan in one pass.

The built-in marks are literal strings. That is deliberate: hyperscan compiles hundreds of literals in some
5 ms, but needs 90 ms for the regular expressions that would mark the same places exactly, and that in each
process. (Keeping the compiled database on disk is no way out: a damaged one crashes the process that scans
with it, or finds nothing, and hyperscan's own checksum keeps nobody from making one.) So a mark says little,
and the look at its place decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import hyperscan

from reenact.redact.names import Names, words_of
from reenact.redact.rules import DEFAULT_RULES

CASELESS: int = hyperscan.HS_FLAG_CASELESS
# One mark is enough to let Python read the whole, and `\w+` would raise one for each character.
PREFILTER: int = hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_SINGLEMATCH
_BUILT_IN = DEFAULT_RULES.names | DEFAULT_RULES.headers
_SEPARATORS = ("", "_", "-", ".", " ")
# What may follow a name where it is one: a quote, escaped or not, a separator, or spaces before that.
_AFTER_A_NAME = ('"', "'", r"\"", r"\'", r"\\", r"\t", "]", ":", "=", ">", "%5", "\t", " =", " :", "  ")


class Mark(NamedTuple):
    """What hyperscan is to look for; `back` is how far before its end the look at it begins."""

    text: str
    flags: int = 0
    back: int = 0


class Database:
    """A compiled hyperscan database that any thread may use.

    hyperscan works in a scratch space, which serves one scan at a time; the spare ones wait in a list, whose
    pop and append are atomic. So threads, a signal handler in the middle of a scan, and a fork all find one
    of their own.
    """

    def __init__(self, marks: Sequence[tuple[bytes, int]], *, literal: bool = False) -> None:
        self._db = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._db.compile(
            expressions=[text for text, _ in marks],
            ids=range(len(marks)),
            flags=[flags for _, flags in marks],
            literal=literal,
        )
        self._spare: list[hyperscan.Scratch] = []

    def scan(self, data: bytes) -> list[tuple[int, int]]:
        """(the mark's number, where it ends) of all marks."""
        try:
            scratch = self._spare.pop()
        except IndexError:
            scratch = self._db.scratch.clone()
        marks: list[tuple[int, int]] = []
        self._db.scan(data, match_event_handler=_mark, context=marks, scratch=scratch)
        self._spare.append(scratch)
        return marks


def _mark(number: int, _start: int, end: int, _flags: int, marks: Any) -> None:
    marks.append((number, end))


def name_marks(names: Names) -> Iterator[Mark]:
    """Literals for the ends of all built-in names.

    A name of one word is a word of prose, too ("pass", "session", the "pin" in "opinion"), so it is marked
    together with what may follow it where it is a name; of one of several words the last two are enough, with
    all separators they may have.
    """
    for spelled in names.ends.values():
        if spelled not in _BUILT_IN:
            continue
        words = words_of(spelled)[-2:]
        if len(words) == 2:
            yield from (Mark(separator.join(words), CASELESS) for separator in _SEPARATORS)
        else:
            yield from (Mark(words[0] + after, CASELESS, len(after)) for after in _AFTER_A_NAME)
            yield Mark(f"-{words[0]} ", CASELESS, 1)  # a flag


def own_name_marks(names: Names) -> Iterator[Mark]:
    """Regular expressions for the ends of the user's names: "kundenkey" may also be spelled "kunden_key"."""
    for name, spelled in names.ends.items():
        if spelled not in _BUILT_IN:
            words = words_of(spelled)
            parts = words if len(words) > 1 else list(name)
            yield Mark(r"[_\-. ]?".join(map(re.escape, parts)), CASELESS)


def compiles(pattern: str) -> bool:
    """Can hyperscan find the places of this pattern of Python's?"""
    if not pattern.isascii():
        return False
    try:
        Database([(pattern.encode(), PREFILTER)])
    except hyperscan.error:
        return False
    return True
