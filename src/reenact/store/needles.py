"""What must stand in a value's bytes if a term is to hold for it: looked for first, since that costs next to nothing.

Needles are ASCII words in small letters. They may be fewer than there could be, never one too many.
"""

from __future__ import annotations

import re

from reenact.model.facts import PATH
from reenact.model.grammar import Term

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_WORD = re.compile(r"[A-Za-z0-9_]+")
_PLACE = re.compile(r"-?\d+")
# Numbers are written in several ways: 10 and 1e1. A word that is told apart from them has another letter than e.
_TELLING = re.compile(r"[a-df-zA-DF-Z_]")
_NUMBERED = re.compile(r"\\[xuUN0-9]")
_REPEATED = re.compile(r"[?*]|\{\d*,?\d*\}")
# Letters that a pattern takes for i, s and k, whatever their case.
_ODD = re.compile("[\u0131\u0130\u017f\u212a]".encode())
_GLOB = re.compile(r"[*?]")


class Needles:
    """The needles of a term about a text, an argument or an output.

    Attributes:
        name: An argument's name as an outline has it, quoted: that alone is never left out.
        keys: The other keys of the path.
        words: What the value says, in small letters.
    """

    def __init__(self, term: Term) -> None:
        root, *path = PATH.findall(term.field)
        named = root == "args" and bool(path) and _NAME.fullmatch(path[0]) is not None
        self.name = f'"{path.pop(0)}":'.encode() if named else b""
        self.keys = tuple(word for key in path if not _PLACE.fullmatch(key) for word in _words(key))
        self.words = tuple(word.lower() for text in _texts(term) for word in _words(text))

    def in_outline(self, line: bytes) -> bool:
        """Whether the term may hold for what is outlined."""
        if self.name not in line:
            return False
        there = all(key in line for key in self.keys)
        if there and self.words:
            there = self.in_text(line)
        # Where a value is left out, or written with \u, what it says is not to be seen.
        return there or b"\\u" in line

    def in_text(self, text: bytes) -> bool:
        """Whether the term may hold for a text."""
        folded = text.lower()
        return all(word in folded for word in self.words) or _ODD.search(text) is not None

    def in_none(self, block: bytes) -> bool:
        """Whether a look at a whole block says that the term holds nowhere in it."""
        return self.name not in block


def _words(text: str) -> list[bytes]:
    return [word.encode() for word in _WORD.findall(text) if _TELLING.search(word)]


def _texts(term: Term) -> list[str]:
    if not isinstance(term.value, str):
        return []
    if term.op == "==":
        return [term.value]
    if term.op == ":":
        return _GLOB.split(term.value)
    return runs(term.value) if term.op == "~" else []


def runs(pattern: str) -> list[str]:
    """Texts that stand in whatever a regular expression matches; of one that is not simple, none."""
    # Alternatives; what `(?` begins (flags, looking ahead); letters by number, and what was found before.
    if "|" in pattern or "(?" in pattern or _NUMBERED.search(pattern):
        return []
    found, depth, place = [""], 0, 0
    while place < len(pattern):
        letter = pattern[place]
        repeated = _REPEATED.match(pattern, place)
        if repeated is not None:
            # What it stands behind may be left out.
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
