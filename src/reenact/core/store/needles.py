"""Find the bytes that a matching value must contain: the search for them is cheap.

Needles are ASCII words in lower case. Some may be missed, but each one found is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reenact.core.patterns import lazy
from reenact.core.query.facts import PATH
from reenact.core.query.grammar import Term

_NAME = lazy(r"[A-Za-z0-9_-]+")
_WORD = lazy(r"[A-Za-z0-9_-]+")
_PLACE = lazy(r"-?\d+")
# Numbers are written in several ways: 10 and 1e1. A word is distinct from them if it has a letter other than e.
_TELLING = lazy(r"[a-df-zA-DF-Z_]")
_NUMBERED = lazy(r"\\[xuUN0-9]")
_REPEATED = lazy(r"[?*]|\{\d*,?\d*\}")
# To a pattern, a dotless i, a long s and the Kelvin sign equal i, s and k: split words at these letters.
_SPELLED = lazy(r"[isk]", re.IGNORECASE | re.ASCII)
_GLOB = lazy(r"[*?]")


class Needles:
    """The needles of a term about a text, an argument or an output.

    Attributes:
        name: An argument's name as in an outline, quoted. Only this is never left out.
        key: The longest word among the other keys of the path.
        word: The longest word in the value, in lower case.
    """

    def __init__(self, term: Term) -> None:
        root, *path = PATH.findall(term.field)
        named = root == "args" and bool(path) and _NAME.fullmatch(path[0]) is not None
        self.name = f'"{path.pop(0)}":'.encode() if named else b""
        self.key = _longest(key for key in path if not _PLACE.fullmatch(key))
        self.word = _longest(_texts(term)).lower()

    def in_outlines(self, lines: Sequence[bytes], numbers: Iterable[int]) -> list[int]:
        """Return the numbers of the lines for which the term may hold."""
        name, key, word = self.name, self.key, self.word
        # A value that is left out, or written with \u, cannot be searched.
        return [
            number
            for number in numbers
            if name in (line := lines[number - 1])
            and ((key in line and (not word or word in line.lower())) or b"\\u" in line)
        ]

    def in_texts(self, block: bytes, between: bytes, numbers: Iterable[int]) -> list[int]:
        """Return the numbers of a block's texts for which the term may hold."""
        word, folded = self.word, block.lower()
        if word not in folded:
            return []
        texts = folded.split(between)
        return [number for number in numbers if word in texts[number - 1]]


def _longest(texts: Iterable[str]) -> bytes:
    return max((word for text in texts for word in _words(text)), key=len, default=b"")


def _words(text: str) -> list[bytes]:
    return [word.encode() for word in _WORD.findall(text) if _TELLING.search(word)]


def _texts(term: Term) -> list[str]:
    if not isinstance(term.value, str):
        return []
    if term.op == "==":
        return [term.value]
    texts = _GLOB.split(term.value) if term.op == ":" else runs(term.value) if term.op == "~" else []
    return [part for text in texts for part in _SPELLED.split(text)]


def runs(pattern: str) -> list[str]:
    """Return texts that every match of a regular expression contains; none if it is not simple."""
    # Alternatives; groups that begin with `(?` (flags, look-ahead); letters by number, and backreferences.
    if "|" in pattern or "(?" in pattern or _NUMBERED.search(pattern):
        return []
    found, depth, place = [""], 0, 0
    while place < len(pattern):
        letter = pattern[place]
        repeated = _REPEATED.match(pattern, place)
        if repeated is not None:
            # The letter before it may be missing.
            found += [found.pop()[:-1], ""]
            place = repeated.end()
            continue
        if letter == "[":
            place = _class_end(pattern, place)
        escaped = letter == "\\"
        if escaped:
            place += 1
            letter = pattern[place]
        else:
            depth += (letter == "(") - (letter == ")")
        place += 1
        if letter.isalnum() if escaped else letter in "[().^$+":
            found.append("")
        elif depth == 0:
            found[-1] += letter
    return found


def _class_end(pattern: str, place: int) -> int:
    place += 2 if pattern[place + 1] == "^" else 1
    # A bracket that comes first does not close it.
    place += pattern[place] == "]"
    while pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    return place
