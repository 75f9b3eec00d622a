"""Differences of two texts as short windows, for terminals, tests and the debugger."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from reenact.analysis.diff.words import Segment, marked
from reenact.analysis.views.text import one_line, visible
from reenact.analysis.views.verdict import place
from reenact.errors import ABSENT, Divergence, Mismatch

RECORDED = "yellow"
"""The colour of the recorded side, and of A. It says nothing about good and bad."""

ACTUAL = "cyan"
"""The colour of the actual side, and of B."""

_SHOWN = 8
_AROUND = 60
_LONGEST = 600
_PAGE = 4 * _LONGEST
_COMPARED = 20_000
"""Characters of the differing part that are compared word by word."""


def recorded_and_actual(mismatch: Mismatch) -> tuple[Text, Text]:
    """Return the two sides of a mismatch as JSON, each with its own parts in bold."""
    return difference(written(mismatch.recorded), written(mismatch.actual))


def divergence_lines(divergence: Divergence) -> Iterator[str]:
    """Yield a divergence as plain text: place, sentence, and each part, recorded and actual."""
    yield place(divergence)
    if divergence.detail:
        yield f"  {one_line(divergence.detail)}"
    for mismatch in divergence.mismatches[:_SHOWN]:
        yield f"  {one_line(mismatch.path)}"
        words = segments(written(mismatch.recorded), written(mismatch.actual))
        if any(sign == "=" and text.strip('" ') for sign, text in words):
            yield f"    {bracketed(words)}"
        else:
            recorded, actual = sides(words)
            yield f"    recorded  {recorded}"
            yield f"    actual    {actual}"
    if (more := len(divergence.mismatches) - _SHOWN) > 0:
        yield f"  and {more} more differences"


def difference(old: str, new: str) -> tuple[Text, Text]:
    """Return two texts, each with its own parts in bold, without long equal stretches."""
    return sides(segments(old, new))


def segments(old: str, new: str) -> tuple[Segment, ...]:
    """Compare two texts word by word, in time that grows with the part that differs."""
    start, end = _ends(old, new)
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    long = max(len(one), len(other)) > _COMPARED
    inner = (Segment("-", one), Segment("+", other)) if long else marked(one, other)
    around = Segment("=", old[:start]), Segment("=", old[len(old) - end :])
    return tuple(one for one in (around[0], *inner, around[1]) if one.text)


def sides(words: Sequence[Segment], *, full: bool = False) -> tuple[Text, Text]:
    """Return both texts of a comparison as short windows around the differences.

    Args:
        words: The comparison.
        full: Leave nothing out.
    """
    found = Text(), Text()
    for sign, text in shown(words, full=full):
        for side, own, style in zip(found, "-+", (RECORDED, ACTUAL), strict=True):
            if sign in ("=", own):
                side.append(visible(text), f"bold {style}" if sign == own else "")
    return found


def bracketed(words: Sequence[Segment], *, full: bool = False) -> str:
    """Return a comparison as one plain text with the marks of `git diff --word-diff`."""
    marks = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
    return "".join(
        f"{marks[sign][0]}{visible(text)}{marks[sign][1]}" for sign, text in shown(words, full=full)
    )


def shown(words: Sequence[Segment], *, full: bool = False) -> Iterator[Segment]:
    """Shorten long equal stretches, and cut a text that differs all over to a page."""
    left = _PAGE
    for index, (sign, text) in enumerate(words):
        part = text if full else _window(sign, text, first=index == 0, last=index == len(words) - 1)
        yield Segment(sign, part)
        left -= len(part)
        if left < 0 and not full and index < len(words) - 1:
            more = sum(len(segment.text) for segment in words[index + 1 :])
            yield Segment("=", f" … {more:,} more characters")
            return


def _window(sign: str, text: str, *, first: bool, last: bool) -> str:
    if sign != "=":
        return cut(text, _LONGEST)
    if first or last:
        near = text[-_AROUND:] if first else text[:_AROUND]
        return text if len(text) <= 2 * _AROUND else f"…{near}" if first else f"{near}…"
    return cut(text, 3 * _AROUND)


def cut(text: str, limit: int) -> str:
    """Return a text, without its middle if it is longer than the limit."""
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"


def _ends(old: str, new: str) -> tuple[int, int]:
    """Return the number of equal characters at both ends, in whole words."""
    start = _same(old, new)
    while 0 < start < max(len(old), len(new)) and old[start - 1].isalnum():
        start -= 1
    most = min(len(old), len(new)) - start
    end = _same(old[::-1][:most], new[::-1][:most])
    while end > 0 and old[len(old) - end].isalnum() and end < most:
        end -= 1
    return start, end


def _same(old: str, new: str) -> int:
    """Return the number of equal characters at the beginning."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[:middle] == new[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def written(value: Any) -> str:
    """Return one side of a mismatch as JSON, or as Python writes it."""
    if isinstance(value, str):
        return value if value is ABSENT or value == ABSENT else json.dumps(value, ensure_ascii=False)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
