"""Secrets whose names are values beside them.

`{"value": "...", "type": "text", "name": "password"}` is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reenact.core.patterns import lazy
from reenact.core.redact.name_forms import GAP
from reenact.core.redact.names import is_placeholder
from reenact.core.redact.text import close, level_of
from reenact.core.redact.work import LOOKS_A_HIT, Work

_BRACES_A_LOOK = 6
_REACH = 512  # bytes on each side of the name that are searched for members of its object
_NAMES = (
    b"name", b"key", b"field", b"id", b"label", b"header", b"param", b"parameter", b"variable", b"property",
    b"attribute", b"option", b"selector", b"element", b"input", b"locator", b"target",
)  # fmt: skip
# The same names, read backwards: `"name": "` before the name of a secret, or `"selector": "#`.
_NAMES_IT = lazy(
    rb"[#.@]?[\"']\\*+\s*+:\s*+[\"']\\*+(?P<naming>" + b"|".join(name[::-1] for name in _NAMES) + rb")[\"']",
    re.IGNORECASE,
)
_OF_INPUTS = frozenset(
    {b"field", b"label", b"id", b"selector", b"element", b"input", b"locator", b"target", b"option"}
)
"""The names beside which a `text` was typed; beside a `name` it belongs to an answer."""

_VALUE = lazy(
    rb"[\"'](?P<of>value|val|text)\\{0,15}[\"']"
    + GAP
    + rb":"
    + GAP
    + rb"(?P<slashes>\\{0,15})(?P<open>[\"'])",
    re.IGNORECASE,
)
_BRACE = lazy(rb"[{}]")
_LINES_BEFORE = lazy(
    rb"[\s\-\"']value[\"']?[ \t]*+[:=][ \t]*+[\"']?(?P<value>[^\s\"'\\&{}\[\]<>$(|*!,]{4,200})[\"']?"
    rb"(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n)(?:[ \t]|\\{1,15}t){0,40}(?:name|key)[ \t]*+[:=][ \t]*+[\"']?[\w.\-]{1,80}\Z",
    re.IGNORECASE,
)
_DEFAULT = lazy(
    rb"\\{0,15}[\"']"
    + GAP
    + rb"\{(?:[^{}]{0,400}?[\s{n])??default\s{0,20}=\s{0,20}(?P<slashes>\\{0,15})(?P<open>[\"'])"
)


class Sibling(NamedTuple):
    """A value that a name beside it calls secret.

    Attributes:
        start: Its first byte.
        end: The byte after it; of a text that breaks off, the end of the data.
        level: The nesting of its JSON string.
        open: It breaks off.
    """

    start: int
    end: int
    level: int
    open: bool


def siblings(data: bytes, at: int, before: bytes, work: Work) -> Iterator[Sibling]:
    """Yield the values beside a name that ends here.

    Args:
        data: The text.
        at: The end of the name.
        before: The text before the name, reversed.
        work: Counts what is read.
    """
    named = _NAMES_IT.match(before)
    if named is not None:
        work.spend(LOOKS_A_HIT / 2)
        of_input = named["naming"][::-1].lower() in _OF_INPUTS
        for start, end in object_around(data, at, work, _REACH):
            for found in _VALUE.finditer(data, start, end):
                work.spend(LOOKS_A_HIT)
                if of_input or found["of"].lower() != b"text":
                    yield from _quoted(data, found, work)
    elif default := _DEFAULT.match(data, at, at + _REACH):
        work.read(default.end() - at)
        yield from _quoted(data, default, work)
    elif before[:1] in b" :=\"'":
        begin = max(0, at - 400)
        if b"value" in data[begin:at].lower() and (line := _LINES_BEFORE.search(data, begin, at)):
            work.read(400)
            if not is_placeholder(line["value"]):
                yield Sibling(*line.span("value"), level=0, open=False)


def _quoted(data: bytes, found: re.Match[bytes], work: Work) -> Iterator[Sibling]:
    level = level_of(found["slashes"])
    end = close(data, found.end(), found["open"][0], level, work)
    stop = len(data) if end is None else end
    if not is_placeholder(data[found.end() : stop]):
        yield Sibling(found.end(), stop, level, end is None)


def object_around(data: bytes, at: int, work: Work, reach: int) -> list[tuple[int, int]]:
    """Return the parts of the object around this place, at most `reach` bytes away.

    The objects in it are left out.
    """
    first, last = max(0, at - reach), min(len(data), at + reach)
    begin, end = data.rfind(b"{", first, at) + 1 or first, data.find(b"}", at, last)
    end = last if end < 0 else end
    if data.find(b"}", begin, at) < 0 and data.find(b"{", at, end) < 0:
        work.read(end - begin)
        return [(begin, end)]
    work.read((last - first) // 4)
    before = [(found.start(), found[0] == b"{") for found in _BRACE.finditer(data, first, at)]
    after = [(found.start(), found[0] == b"}") for found in _BRACE.finditer(data, at, last)]
    work.spend((len(before) + len(after)) / _BRACES_A_LOOK)
    parts = [(start + 1, stop) for stop, start in _outer(reversed(before), at, first - 1)]
    return [*parts, *((start + 1, stop) for start, stop in _outer(after, at - 1, last))]


def _outer(braces: Iterable[tuple[int, bool]], begin: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches outside of inner objects, up to the brace that ends the object.

    Args:
        braces: The place of each brace, and True for one that may end the object, in the order of the walk.
        begin: Where the walk begins.
        last: The end of the walk if no brace ends the object.
    """
    depth = 0
    for place, ends in braces:
        if not ends:
            if not depth:
                yield begin, place
            depth += 1
        elif depth:
            depth -= 1
            begin = place
        else:
            yield begin, place
            return
    if not depth:
        yield begin, last
