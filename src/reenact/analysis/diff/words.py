"""Compare two texts word by word: common parts, and parts of only one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from reenact.core.align.subsequence import Run, common_runs

Sign = Literal["=", "-", "+"]

# Scripts without spaces between words are compared letter by letter.
_DENSE = "\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef"
_WORDS = re.compile(rf"(?:[^\W{_DENSE}]+|\S)\s*|\A\s+")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST = 1 << 26
_ALIKE = 0.2
_SHORT = 4

Sides = tuple[list[str], list[str]]
"""The parts of the first text, and those of the second."""

Change = tuple[str, str, str]
"""A text that both have, then what only the first has, and what only the second has."""

_SIGNS: tuple[Sign, Sign, Sign] = ("=", "-", "+")


class Segment(NamedTuple):
    """A stretch of two texts: `=` in both, `-` only in the first, `+` only in the second."""

    sign: Sign
    text: str


def marked(a: str, b: str) -> tuple[Segment, ...]:
    """Return both texts as stretches: `=` and `-` give the first text, `=` and `+` the second.

    Texts with little in common are returned whole, the second in place of the first: marks everywhere would be useless.
    """
    if a == b:
        return (Segment("=", a),) if a else ()
    texts, words = _split(a, b)
    runs = common_runs(*words)
    alike = sum(sum(map(len, words[0][i : i + length])) for i, _, length in runs)
    if alike < _ALIKE * max(sum(map(len, side)) for side in words):
        changes = [("", a, b)]
    else:
        changes = _smoothed(_changes(texts, words, runs))
    return tuple(
        Segment(sign, text) for change in changes for sign, text in zip(_SIGNS, change, strict=True) if text
    )


def _split(a: str, b: str) -> tuple[Sides, Sides]:
    """Return the words of both texts, with the spaces after them and without.

    Very long texts are split into lines.
    """
    one, other = _WORDS.findall(a), _WORDS.findall(b)
    if len(one) * len(other) <= _MOST:
        return (one, other), (list(map(str.rstrip, one)), list(map(str.rstrip, other)))
    lines = _LINES.findall(a), _LINES.findall(b)
    return lines, lines


def _changes(texts: Sides, words: Sides, runs: Iterable[Run]) -> Iterator[Change]:
    """Yield each change after the text that is equal before it; at the end an equal text alone."""
    equal: list[str] = []
    i = j = 0
    for p, q, length in [*runs, (len(texts[0]), len(texts[1]), 0)]:
        if i < p or j < q:
            gone, come = "".join(texts[0][i:p]), "".join(texts[1][j:q])
            # The space after both is not part of the change.
            tail = gone[len(gone.rstrip()) :]
            tail = tail if gone and come and tail == come[len(come.rstrip()) :] else ""
            yield "".join(equal), gone.removesuffix(tail), come.removesuffix(tail)
            equal = [tail]
        i, j = p + length, q + length
        if texts[0][p:i] == texts[1][q:j]:
            equal += texts[0][p:i]
            continue
        for word, one, other in zip(words[0][p:i], texts[0][p:i], texts[1][q:j], strict=True):
            if one == other:
                equal.append(one)
            else:
                yield "".join([*equal, word]), one[len(word) :], other[len(word) :]
                equal = []
    yield "".join(equal), "", ""


def _smoothed(changes: Iterable[Change]) -> list[Change]:
    """Join changes with only a short equal word between them, such as "of".

    The word counts as rewritten too.
    """
    found: list[tuple[str, list[str], list[str]]] = []
    for equal, gone, come in changes:
        short = len(equal.strip()) < _SHORT and "\n\n" not in equal
        if found and short and (gone or come):
            found[-1][1].extend((equal, gone))
            found[-1][2].extend((equal, come))
        else:
            found.append((equal, [gone], [come]))
    return [(equal, "".join(gone), "".join(come)) for equal, gone, come in found]
