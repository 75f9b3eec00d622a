"""Two texts word by word: what is in both, what only in the first, what only in the second."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

from reenact.analyze.diff.subsequence import common

Sign = Literal["=", "-", "+"]

# Scripts without spaces between words are compared letter by letter.
_DENSE = "\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef"
_WORDS = re.compile(rf"[{_DENSE}]|[^\W{_DENSE}]+|\s+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST = 1 << 26
_ALIKE = 0.2
_SHORT = 4


class Segment(NamedTuple):
    """A stretch of two texts: `=` in both, `-` only in the first, `+` only in the second."""

    sign: Sign
    text: str


def marked(a: str, b: str) -> tuple[Segment, ...]:
    """Both texts as one row of stretches. Those with `=` and `-` joined give the first, with `=` and `+` the second.

    Texts that have little in common are taken whole, one instead of the other: marks all over would say nothing.
    """
    if a == b:
        return (Segment("=", a),) if a else ()
    one, other = _tokens(a, b)
    pairs = common(one, other)
    alike = sum(len(one[i]) for i, _ in pairs if not one[i].isspace())
    if alike < _ALIKE * max(len("".join(a.split())), len("".join(b.split()))):
        return tuple(_joined([Segment("-", a), Segment("+", b)]))
    return tuple(_joined(_smoothed(list(_joined(_raw(one, other, pairs))))))


def _tokens(a: str, b: str) -> tuple[list[str], list[str]]:
    one, other = _WORDS.findall(a), _WORDS.findall(b)
    if len(one) * len(other) <= _MOST:
        return one, other
    return _LINES.findall(a), _LINES.findall(b)


def _raw(one: list[str], other: list[str], pairs: list[tuple[int, int]]) -> Iterator[Segment]:
    i = j = 0
    for p, q in [*pairs, (len(one), len(other))]:
        yield Segment("-", "".join(one[i:p]))
        yield Segment("+", "".join(other[j:q]))
        if p < len(one):
            yield Segment("=", one[p])
        i, j = p + 1, q + 1


def _joined(segments: list[Segment] | Iterator[Segment]) -> Iterator[Segment]:
    """Without empty stretches, those of one sign next to each other as one, and what goes before what comes."""
    told = [segment for segment in segments if segment.text]
    for equal, group in groupby(told, lambda segment: segment.sign == "="):
        stretch = list(group)
        signs: tuple[Sign, ...] = ("=",) if equal else ("-", "+")
        for sign in signs:
            text = "".join(segment.text for segment in stretch if segment.sign == sign)
            if text:
                yield Segment(sign, text)


def _smoothed(segments: list[Segment]) -> Iterator[Segment]:
    """A comma or an "of" that two rewritten sentences share by chance is read as rewritten with them."""
    for place, segment in enumerate(segments):
        around = 0 < place < len(segments) - 1
        if (
            segment.sign == "="
            and around
            and len(segment.text.strip()) < _SHORT
            and "\n\n" not in segment.text
        ):
            yield Segment("-", segment.text)
            yield Segment("+", segment.text)
        else:
            yield segment
