"""A verdict on a terminal: what was replayed, and where it left its recording, recorded against actual."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from reenact.model.divergence import ABSENT, Divergence, Mismatch, Verdict

_AROUND = 60
_LONGEST = 700
_COMPARED = 3000
_SHOWN = 8
_MISSING = 10


def panel(verdict: Verdict, *, name: str = "") -> Panel:
    """The whole verdict, in a frame."""
    word, color = headline(verdict)
    title = Text.assemble(
        (word, f"bold {color}"), f"  {verdict.recording}", (f"  {name}" if name else "", "dim")
    )
    return Panel(Group(*_parts(verdict)), title=title, title_align="left", border_style=color, expand=False)


def headline(verdict: Verdict) -> tuple[str, str]:
    """One word for a verdict, and its colour."""
    if verdict.faithful:
        return "faithful", "green"
    return ("diverged", "red") if verdict.divergences else ("not wholly from the recording", "yellow")


def _parts(verdict: Verdict) -> Iterator[RenderableType]:
    yield Text(f"{verdict.served} {'answer' if verdict.served == 1 else 'answers'} served from the recording")
    for label, count in sorted(verdict.live.items()):
        yield Text.assemble("let through live: ", (label, "bold"), f" \N{MULTIPLICATION SIGN} {count}")
    for rule in verdict.rules:
        yield Text.assemble("under the rule: ", (rule, "bold"))
    for note in verdict.notes:
        yield Text.assemble(("! ", "yellow"), note)
    for divergence in verdict.divergences:
        yield Text()
        yield from _divergence(divergence)
    named = {divergence.step for divergence in verdict.divergences}
    left = [(step, address) for step, address in verdict.missing if step not in named]
    if left:
        yield Text()
        yield Text(f"never asked for: {len(left)} recorded {'step' if len(left) == 1 else 'steps'}", "yellow")
        for step, address in left[:_MISSING]:
            yield Padding(Text(f"{step:>4}  {address}"), (0, 0, 0, 2))
        if len(left) > _MISSING:
            yield Padding(Text(f"      and {len(left) - _MISSING} more", "dim"), (0, 0, 0, 2))


def _divergence(divergence: Divergence) -> Iterator[RenderableType]:
    where = f"step {divergence.step}  " if divergence.step is not None else ""
    yield Text.assemble((divergence.kind.value, "bold red"), "  ", (where, "bold"), divergence.address)
    if divergence.detail:
        yield Padding(Text(divergence.detail), (0, 0, 0, 2))
    for mismatch in divergence.mismatches[:_SHOWN]:
        yield Padding(_mismatch(mismatch), (0, 0, 0, 2))
    if (more := len(divergence.mismatches) - _SHOWN) > 0:
        yield Padding(Text(f"and {more} more differences", "dim"), (0, 0, 0, 2))
    if divergence.hint:
        yield Padding(Text(divergence.hint, "dim"), (0, 0, 0, 2))


def _mismatch(mismatch: Mismatch) -> RenderableType:
    old, new = _text(mismatch.recorded), _text(mismatch.actual)
    recorded, actual = difference(old, new)
    return Group(
        Text(mismatch.path, "bold"),
        Text.assemble(("  recorded  ", "dim"), recorded),
        Text.assemble(("  actual    ", "dim"), actual),
    )


def difference(old: str, new: str) -> tuple[Text, Text]:
    """Two texts, each with what the other has not in bold; long equal stretches left out."""
    start, end = _ends(old, new)
    words = _words(old[start : len(old) - end]), _words(new[start : len(new) - end])
    steps: Sequence[tuple[str, int, int, int, int]]
    if max(map(len, words)) > _COMPARED:
        steps = [("replace", 0, len(words[0]), 0, len(words[1]))]
    else:
        steps = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
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


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)


def _ends(old: str, new: str) -> tuple[int, int]:
    """How many characters are equal at the beginning and at the end, in whole words."""
    start = _same(old, new)
    while 0 < start < max(len(old), len(new)) and old[start - 1].isalnum():
        start -= 1
    most = min(len(old), len(new)) - start
    end = _same(old[::-1][:most], new[::-1][:most])
    while end > 0 and old[len(old) - end].isalnum() and end < most:
        end -= 1
    return start, end


def _same(old: str, new: str) -> int:
    """How many characters are equal at the beginning."""
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


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if value is ABSENT or value == ABSENT else json.dumps(value, ensure_ascii=False)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
