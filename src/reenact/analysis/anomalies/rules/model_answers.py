"""Answers: empty, cut off, invented, contradicting what the tools said."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Container, Iterator
from typing import Any

from reenact.analysis.anomalies.case import Case, Use, short
from reenact.analysis.anomalies.known import KnownFacts, stated
from reenact.analysis.anomalies.registry import RuleFinding, rule
from reenact.core.model.plain import parsed

_NUMBER = r"[$€£]?\s?(\d[\d,]*(?:\.\d+)?)"


@rule("empty-answer", severity="error")
def empty_answer(case: Case) -> Iterator[RuleFinding]:
    """A model call without words and tool calls, or a run with an empty output."""
    for said in case.said:
        answer = said.answer
        if answer is not None and not said.text.strip() and not answer.calls:
            thought = " (it only thought)" if answer.thinking else ""
            yield RuleFinding(said.step, f"the answer is empty{thought}", said.call.finish)
    final = case.final
    if case.output is not None and not case.output.strip(' "[]{}') and case.recording.status == "ok":
        yield RuleFinding(final.step if final else None, "the run ended with an empty output", case.output)


@rule("truncated", severity="error")
def truncated(case: Case) -> Iterator[RuleFinding]:
    """An answer that was cut off at its greatest length."""
    for said in case.said:
        if said.call.cut:
            yield RuleFinding(
                said.step,
                f"the answer was cut off (finish reason {said.call.finish})",
                "…" + said.text[-80:].strip() if said.text else "",
            )


@rule("invented", severity="warning", weight=0.2)
def invented(case: Case, *, least: int = 1) -> Iterator[RuleFinding]:
    """Ids, amounts or names in an answer that neither appear in earlier texts nor follow."""
    known = KnownFacts()
    uses = list(reversed(case.uses))
    for said in case.said:
        known.learn(message.text for message in said.turn.new)
        while uses and uses[-1].step < said.step:
            known.learn([uses.pop().result])
        if not said.text.strip():
            continue
        unknown = known.unknown(stated(said.text))
        if len(unknown) >= least:
            more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
            yield RuleFinding(
                said.step,
                f"{', '.join(short(one, 40) for one in unknown[:3])}{more}: not in any earlier prompt or tool result",
                _around(said.text, unknown[0]),
            )
        # Report once: later answers repeat it.
        known.learn([said.text])


def _around(text: str, what: str) -> str:
    place = max(text.find(what), 0)
    return short(text[max(0, place - 60) : place + len(what) + 60])


_VALUES = 1000
"""Values of a field at most."""

_NAME = 80
"""Letters of a field's name at most."""

_STATES = re.compile(rf"(?::|=|(?<![^\W_])(?:is|was|are|were|of))\s*[*_`]*{_NUMBER}", re.IGNORECASE)
_BOUNDARY = re.compile(r"\b(?=\w)")


@rule("contradiction", severity="error")
def contradiction(case: Case) -> Iterator[RuleFinding]:
    """An answer that gives another figure for something than the tool whose result it reports."""
    fields: dict[str, tuple[set[float], int]] = {}
    uses = [use for use in reversed(case.uses) if not use.failed]
    for said in case.answers:
        while uses and uses[-1].step < said.step:
            _learn(fields, uses.pop())
        if said.to_tools:
            continue
        for name, found in _says(said.text, fields).items():
            values, step = fields[name]
            if not any(abs(found - value) < 0.005 for value in values):
                yield RuleFinding(
                    said.step,
                    f"the answer gives {found:g} for '{name}', the tool said {next(iter(values)):g} in step {step}",
                    _around(said.text, name),
                    (step,),
                )


def _learn(fields: dict[str, tuple[set[float], int]], use: Use) -> None:
    """Learn a JSON result's figures by field name, if of several words: 'total price', not 'id'."""
    for name, value in _leaves(parsed(use.text)):
        words = re.sub(r"[_\s-]+|(?<=[a-z])(?=[A-Z])", " ", name).strip().lower()
        if " " in words and len(words) <= _NAME:
            values, _ = fields.get(words, (set[float](), 0))
            if len(values) < _VALUES:
                values.add(value)
            fields[words] = (values, use.step)


def _leaves(value: Any, depth: int = 0) -> Iterator[tuple[str, float]]:
    if depth > 6:
        return
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, (int, float)) and not isinstance(item, bool):
                yield str(name), float(item)
            else:
                yield from _leaves(item, depth + 1)
    elif isinstance(value, list):
        for item in value[:200]:
            yield from _leaves(item, depth + 1)


def _says(text: str, fields: Container[str]) -> dict[str, float]:
    """Return the figures that a text gives for fields: the first for each."""
    found: dict[str, float] = {}
    for states in _STATES.finditer(text):
        # The name of a field comes before "is", perhaps in emphasis.
        before = text[max(0, states.start() - _NAME - 20) : states.start()].rstrip().rstrip("*_`").lower()
        for start in _BOUNDARY.finditer(before):
            if (name := before[start.start() :]) in fields:
                with contextlib.suppress(ValueError):
                    found.setdefault(name, float(states[1].replace(",", "")))
    return found
