"""Two texts word by word: what is in both, what only in the first, what only in the second."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from reenact.core.align.subsequence import common

Sign = Literal["=", "-", "+"]

# Scripts without spaces between words are compared letter by letter.
_DENSE = "\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef"
_WORDS = re.compile(rf"(\A\s+|[{_DENSE}]|[^\W{_DENSE}]+|[^\w\s])(\s*)")
_LINES = re.compile(r"([^\n]*\n|[^\n]+)()")
_MOST = 1 << 26
_ALIKE = 0.2
_SHORT = 4

Token = tuple[str, str]
"""A word, and the space after it: compared are the words."""


class Segment(NamedTuple):
    """A stretch of two texts: `=` in both, `-` only in the first, `+` only in the second."""

    sign: Sign
    text: str


def marked(a: str, b: str) -> tuple[Segment, ...]:
    """Return both texts as stretches: `=` and `-` give the first text, `=` and `+` the second.

    Texts that have little in common are taken whole, one instead of the other: marks all over would say nothing.
    """
    if a == b:
        return (Segment("=", a),) if a else ()
    one, other = _tokens(a, b)
    keys = [word for word, _ in one], [word for word, _ in other]
    pairs = common(*keys)
    alike = sum(len(keys[0][i]) for i, _ in pairs)
    if alike < _ALIKE * max(sum(map(len, keys[0])), sum(map(len, keys[1]))):
        return tuple(_joined([Segment("-", a), Segment("+", b)]))
    return tuple(_joined(_smoothed(_joined(_raw(one, other, pairs)))))


def _tokens(a: str, b: str) -> tuple[list[Token], list[Token]]:
    one, other = _WORDS.findall(a), _WORDS.findall(b)
    if len(one) * len(other) <= _MOST:
        return one, other
    return _LINES.findall(a), _LINES.findall(b)


def _raw(one: list[Token], other: list[Token], pairs: list[tuple[int, int]]) -> Iterator[Segment]:
    texts = [[word + space for word, space in tokens] for tokens in (one, other)]
    i = j = 0
    equal: list[str] = []
    for p, q, length in _runs(pairs, (len(one), len(other))):
        if i < p or j < q:
            gone, come = "".join(texts[0][i:p]), "".join(texts[1][j:q])
            # The space that follows both is none of the change.
            tail = gone[len(gone.rstrip()) :]
            tail = tail if gone and come and tail == come[len(come.rstrip()) :] else ""
            yield Segment("=", "".join(equal))
            yield Segment("-", gone.removesuffix(tail))
            yield Segment("+", come.removesuffix(tail))
            equal = [tail]
        i, j = p + length, q + length
        if texts[0][p:i] == texts[1][q:j]:
            equal += texts[0][p:i]
            continue
        for (word, space), (_, spaced) in zip(one[p:i], other[q:j], strict=True):
            equal.append(word)
            if space == spaced:
                equal.append(space)
            else:
                yield Segment("=", "".join(equal))
                yield Segment("-", space)
                yield Segment("+", spaced)
                equal = []
    yield Segment("=", "".join(equal))


def _runs(pairs: list[tuple[int, int]], ends: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield runs of consecutive pairs: both starts and the length; an empty one at the end."""
    begin = length = 0
    for place, (i, j) in enumerate(pairs):
        if length and (i, j) != (pairs[begin][0] + length, pairs[begin][1] + length):
            yield *pairs[begin], length
            begin, length = place, 0
        length += 1
    if length:
        yield *pairs[begin], length
    yield *ends, 0


def _joined(segments: Iterable[Segment]) -> list[Segment]:
    """Join adjacent stretches of one sign, drop empty ones, and put `-` before `+`."""
    joined: list[Segment] = []
    equal, gone, come = list[str](), list[str](), list[str]()
    for sign, text in segments:
        if not text:
            continue
        # A stretch of one sort ends where one of the other begins.
        if sign == "=":
            if gone or come:
                joined += _changed(gone, come)
                gone, come = [], []
            equal.append(text)
        else:
            if equal:
                joined.append(Segment("=", "".join(equal)))
                equal = []
            (gone if sign == "-" else come).append(text)
    if equal:
        joined.append(Segment("=", "".join(equal)))
    return joined + _changed(gone, come)


def _changed(gone: list[str], come: list[str]) -> list[Segment]:
    found = [Segment("-", "".join(gone))] if gone else []
    return [*found, Segment("+", "".join(come))] if come else found


def _smoothed(segments: list[Segment]) -> Iterator[Segment]:
    """Count short common words between rewritten parts, such as "of", as rewritten too."""
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
