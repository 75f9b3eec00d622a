"""A divergence, recorded against actual, with what differs marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from reenact.analysis.views.verdict import place
from reenact.core.align.subsequence import common
from reenact.errors import ABSENT, Divergence, Mismatch

_SHOWN = 8
_AROUND = 60
_LONGEST = 700
_COMPARED = 3000


def recorded_and_actual(mismatch: Mismatch) -> tuple[Text, Text]:
    """The two sides of a mismatch as JSON, each with what the other has not in bold."""
    return difference(written(mismatch.recorded), written(mismatch.actual))


def divergence_lines(divergence: Divergence) -> Iterator[str]:
    """One divergence as plain text: its place, its sentence, and each part, recorded and actual."""
    yield place(divergence)
    if divergence.detail:
        yield f"  {divergence.detail}"
    for mismatch in divergence.mismatches[:_SHOWN]:
        recorded, actual = recorded_and_actual(mismatch)
        yield f"  {mismatch.path}"
        yield f"    recorded  {recorded}"
        yield f"    actual    {actual}"
    if (more := len(divergence.mismatches) - _SHOWN) > 0:
        yield f"  and {more} more differences"


def difference(old: str, new: str) -> tuple[Text, Text]:
    """Two texts, each with what the other has not in bold; long equal stretches left out."""
    start, end = _ends(old, new)
    words = _words(old[start : len(old) - end]), _words(new[start : len(new) - end])
    steps: Sequence[tuple[str, int, int, int, int]]
    if max(map(len, words)) > _COMPARED:
        steps = [("replace", 0, len(words[0]), 0, len(words[1]))]
    else:
        steps = list(_steps(*words))
    left, right = Text(), Text()
    for text in (left, right):
        text.append(_shortened(old[:start], first=True))
    for kind, a, b, c, d in steps:
        one, other = "".join(words[0][a:b]), "".join(words[1][c:d])
        if kind == "equal":
            left.append(_shortened(one))
            right.append(_shortened(other))
        else:
            left.append(_shortened(one, limit=_LONGEST), "bold red")
            right.append(_shortened(other, limit=_LONGEST), "bold green")
    for text in (left, right):
        text.append(_shortened(old[len(old) - end :], last=True))
    return left, right


def _steps(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield stretches of both: (`equal` or `replace`, a, b, c, d), one[a:b] against other[c:d]."""
    a = c = begun = 0
    pairs = [*common(one, other), (len(one), len(other))]
    for at, (i, j) in enumerate(pairs):
        if at and (i, j) == (a, c) and at < len(pairs) - 1:
            a, c = i + 1, j + 1
            continue
        if begun < a:
            yield "equal", begun, a, c - (a - begun), c
        if a < i or c < j:
            yield "replace", a, i, c, j
        begun, a, c = i, i + 1, j + 1


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)


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


def _shortened(text: str, *, first: bool = False, last: bool = False, limit: int = 2 * _AROUND) -> str:
    if len(text) <= limit:
        return text
    if first:
        return "…" + text[-_AROUND:]
    if last:
        return text[:_AROUND] + "…"
    return f"{text[: limit // 2]} … {text[-limit // 2 :]}"


def written(value: Any) -> str:
    """One side of a mismatch as JSON; text that is not JSON-able as Python has it."""
    if isinstance(value, str):
        return value if value is ABSENT or value == ABSENT else json.dumps(value, ensure_ascii=False)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
