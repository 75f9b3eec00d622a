"""Texts that the terminal and the page share: totals, headings, a step on one line, folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from reenact.analysis.diff import Diff, Difference, Kind, Pair, Spent
from reenact.analysis.views import browsed
from reenact.analysis.views.text import count, money, numbers, one_line, seconds
from reenact.core.messages.spelling import spelled
from reenact.core.model.plain import compact
from reenact.core.query.facts import StepFacts
from reenact.errors import ABSENT

SIGNS = {Kind.SAME: "=", Kind.CHANGED: "~", Kind.INSERTED: "+", Kind.DELETED: "-", Kind.MOVED: "↕"}

Row = tuple[str, str, str, str]
"""A total: its name, A's value, B's value, and the difference."""


def totals(found: Diff) -> list[Row]:
    """Return steps, time, tokens and cost side by side; unknown ones are left out."""
    a, b = found.a, found.b
    rows = [
        ("ended", a.recording.status, b.recording.status, ""),
        _row("steps", a.steps, b.steps, str),
        _row("failed steps", a.failed or None, b.failed or None, str),
        _row("time", a.spent.duration or None, b.spent.duration or None, seconds),
        _row("input tokens", a.spent.input_tokens, b.spent.input_tokens, count),
        _row("output tokens", a.spent.output_tokens, b.spent.output_tokens, count),
        _row("cost", a.spent.cost, b.spent.cost, money),
        ("models", ", ".join(a.models), ", ".join(b.models), ""),
    ]
    return [row for row in rows if row[1] or row[2]]


def _row(what: str, a: float | None, b: float | None, shown: Callable[[Any], str]) -> Row:
    texts = ["" if value is None else shown(value) for value in (a, b)]
    more = (b or 0) - (a or 0)
    change = "" if texts[0] == texts[1] else f"{'+' if more > 0 else '-'}{shown(abs(more))}"
    return what, texts[0], texts[1], change


def counts(found: Diff) -> str:
    """Return the number of pairs of each kind: `9 same · 7 changed · 2 only in A`."""
    words = {
        Kind.SAME: "same",
        Kind.CHANGED: "changed",
        Kind.DELETED: "only in A",
        Kind.INSERTED: "only in B",
        Kind.MOVED: "moved",
    }
    return " · ".join(f"{found.counts[kind]:,} {word}" for kind, word in words.items() if found.counts[kind])


def label(found: Diff, pair: Pair) -> str:
    """Return the label of a pair: `tool:search`, `model:gpt-4o`, or both if they differ."""
    labels = [
        f"{labels[-1]} ({step.call.policy} answer)" if step.call.policy else labels[-1]
        for step, side in ((pair.a, found.a), (pair.b, found.b))
        if step is not None and (labels := side.of(step).get("label"))
    ]
    return " → ".join(dict.fromkeys(one_line(text, 100) for text in labels))


def pair_numbers(pair: Pair) -> tuple[str, str]:
    """Return a pair's step numbers; "" for a side without a step."""
    return str(pair.a.number) if pair.a else "", str(pair.b.number) if pair.b else ""


def took(spent: Spent | None) -> str:
    """Return time, tokens and cost of a step: `1.2 s, 1.3k → 34 tokens, $0.0012`."""
    if spent is None:
        return ""
    parts = [seconds(spent.duration)] if spent.duration else []
    if spent.input_tokens is not None:
        given, made = count(spent.input_tokens), count(spent.output_tokens or 0)
        parts.append(f"{given} → {made} tokens")
    return ", ".join([*parts, *([money(spent.cost)] if spent.cost else [])])


def gist(step: StepFacts) -> str:
    """Return a step on one line: a model's answer, or a tool's arguments and result."""
    turn = step.turn
    if turn is not None:
        answer = turn.call.answer
        said = [answer.text, *map(spelled, answer.calls)] if answer is not None else [turn.call.problem]
        return " ".join(part for part in (*said, step.error) if part.strip())
    if step.call.kind == "http":
        return step.error
    if step.call.kind == "browser" and (done := browsed.sentences(step.output)):
        return done
    came = step.error or (compact(step.output) if step.output is not None else "")
    given = ", ".join(f"{name}={compact(value)}" for name, value in step.args.items())
    return f"{given} → {came}" if came else given


def name(difference: Difference) -> str:
    """Return the path of a difference, with its speaker."""
    return f"{difference.path}  ({difference.who})" if difference.who else difference.path


def value(found: Any) -> str:
    """Return one side of a difference as text."""
    return found if found is ABSENT else compact(found)


def stretches(pairs: Sequence[Pair]) -> Iterator[tuple[bool, list[Pair]]]:
    """Group neighbouring pairs by equality."""
    for equal, group in groupby(pairs, lambda pair: pair.kind is Kind.SAME):
        yield equal, list(group)


def span(pairs: Sequence[Pair]) -> str:
    """Return the numbers of a stretch of pairs: `2-9 (in B 3-10)`."""
    a, b = ([step.number for pair in pairs if (step := getattr(pair, side))] for side in ("a", "b"))
    texts = [numbers(tuple(sorted(side))) for side in (a, b)]
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} (in B {texts[1]})"
