"""Tool calls: too many, repeated, loops, storms of retries, unused results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from operator import eq

from reenact.analysis.anomalies.case import Case, Use, short
from reenact.analysis.anomalies.registry import RuleFinding, rule
from reenact.analysis.anomalies.risk import RISKY, risky
from reenact.analysis.anomalies.vocabulary import Vocabulary
from reenact.core.model.plain import compact

_WORDS = re.compile(r"[^\W_]{3,}")
# Bounded: a result of half a megabyte without spaces or digits took minutes, and no other thread ran meanwhile.
_STATED = re.compile(r"[A-Za-z_][\w.-]{0,99}\d[\w.-]*|\d[\d,.:-]+\d|[A-Z][a-z]{2,}")
_RUN = re.compile(r"[\w.,:-]++")
_FEW = 2
_LOOKS = 50_000_000


@rule("many-calls", severity="warning")
def many_calls(case: Case, *, most: int = 10) -> Iterator[RuleFinding]:
    """More tool calls than a run of this kind should need."""
    if len(case.uses) > most:
        counts: dict[str, int] = {}
        for use in case.uses:
            counts[use.name] = counts.get(use.name, 0) + 1
        often = sorted(counts.items(), key=lambda one: -one[1])[:4]
        yield RuleFinding(
            case.uses[most].step,
            f"{len(case.uses)} tool calls, more than {most}",
            ", ".join(f"{name} × {count}" for name, count in often),
        )


@rule("repeated-call", severity="warning")
def repeated_call(case: Case, *, tools: tuple[str, ...] = RISKY) -> Iterator[RuleFinding]:
    """The same tool with the same arguments again, though nothing was changed in between."""
    first: dict[str, Use] = {}
    told: set[str] = set()
    for use in case.uses:
        before = first.get(use.key)
        if before is not None and not before.failed and use.key not in told and _given(use):
            told.add(use.key)
            same = before.result == use.result
            yield RuleFinding(
                use.step,
                f"{use.name} was called again with the arguments of step {before.step}"
                f" and gave {'the same' if same else 'something else'}",
                short(use.spelled),
                (before.step,),
                severity=None if same else "info",
            )
        if risky(use, tools) and not use.failed and before is None:
            # It is right to read again after a change.
            first = {key: one for key, one in first.items() if risky(one, tools)}
        first.setdefault(use.key, use)


def _given(use: Use) -> bool:
    return use.kind == "tool" or bool(use.args)


@rule("loop", severity="error")
def loop(case: Case, *, times: int = 3) -> Iterator[RuleFinding]:
    """The same calls, or the same words, again and again, with a period of any length."""
    uses = case.uses
    for found in _loops([use.key for use in uses], times):
        yield _looped(found, [use.step for use in uses], "calls", lambda place: uses[place].spelled)
    said = case.answers
    for found in _loops([short(one.text, 10_000) for one in said], times):
        yield _looped(found, [one.step for one in said], "answers", lambda place: said[place].text)


def _loops(keys: Sequence[str], times: int) -> Iterator[tuple[int, int, int]]:
    covered = -1
    for start, period, length in tandems(keys, times):
        if start > covered:
            covered = start + length - 1
            yield start, period, length


def _looped(
    found: tuple[int, int, int], steps: Sequence[int], what: str, spelled: Callable[[int], str]
) -> RuleFinding:
    start, period, length = found
    words = " → ".join(short(spelled(place), 50) for place in range(start, start + min(period, 3)))
    return RuleFinding(
        steps[start + period],
        f"the same {f'{period} {what}' if period > 1 else what[:-1]} {length // period} times in a row,"
        f" from step {steps[start]} to {steps[start + length - 1]}",
        words + (f" (and {period - 3} more)" if period > 3 else ""),
        tuple(steps[start : start + length]),
    )


_WORK = 3_000_000
"""Comparisons of calls at most, in the search for loops."""


def tandems(keys: Sequence[str], times: int) -> list[tuple[int, int, int]]:
    """Return the repetitions in a sequence: (start, period, length), of `times` rounds or more.

    In a long sequence of few different keys, long periods are left out: each takes a look at all of it.
    """
    numbers: dict[str, int] = {}
    items = [numbers.setdefault(key, len(numbers)) for key in keys]
    found = []
    work, least = _WORK, b"\x01" * (times - 1)
    for period in range(1, len(items) // times + 1):
        # That many rounds need as many equal keys a period apart: most periods are excluded by this.
        if least not in bytes(map(eq, items[::period], items[period::period])):
            continue
        work -= len(items)
        if work < 0:
            break
        same = bytes(map(eq, items, items[period:]))
        runs = re.finditer(rb"\x01{%d,}" % (period * (times - 1)), same)
        found += [(run.start(), period, run.end() - run.start() + period) for run in runs]
    # The longest stretch first, with its shortest period.
    return sorted(found, key=lambda one: (one[0], one[1]))


@rule("retry-storm", severity="error", weight=0.15)
def retry_storm(case: Case, *, times: int = 3) -> Iterator[RuleFinding]:
    """A tool (or an HTTP exchange) that fails and is tried again at once, several times."""
    for uses in (case.uses, case.http):
        run: list[Use] = []
        for use in (*uses, None):
            if use is not None and use.failed and (not run or run[-1].name == use.name):
                run.append(use)
                continue
            if len(run) >= times:
                yield RuleFinding(
                    run[1].step,
                    f"{run[0].name} failed {len(run)} times in a row, steps {run[0].step} to {run[-1].step}",
                    short(run[0].result),
                    tuple(one.step for one in run),
                )
            run = [use] if use is not None and use.failed else []


@rule("unused-result", severity="info", weight=0.05)
def unused_result(case: Case, *, least: int = 40) -> Iterator[RuleFinding]:
    """A tool's result of which nothing appears in any later answer or argument."""
    later = Vocabulary()
    told: set[str] = set()
    texts: list[tuple[int, str]] = [
        (said.step, said.text + compact([call.args for call in said.answer.calls]) if said.answer else "")
        for said in case.said
    ]
    if case.output:
        texts.append((1 << 60, case.output))
    for use in reversed(case.uses):
        while texts and texts[-1][0] > use.step:
            later.learn(texts.pop()[1].lower())
        if use.failed or len(use.text) < least or use.key in told:
            continue
        stated = _stated(use.text) or {word.lower() for word in _WORDS.findall(use.text)}
        given = compact(use.args).lower()
        # Parts of words count, too, unless the texts are so long that the search would take quadratic time.
        known: str | set[str] = given
        if len(stated) * len(given) > _LOOKS:
            known = _stated(given) | {word.lower() for word in _WORDS.findall(given)}
        stated = {word for word in stated if word not in known}
        if len(stated) > _FEW and not any(later.holds(word) for word in stated):
            told.add(use.key)
            yield RuleFinding(
                use.step, f"no part of the result of {use.name} was used afterwards", short(use.text)
            )


def _stated(text: str) -> set[str]:
    """Return the names, ids and numbers of a text, in lower case.

    Each different run of letters and digits is examined once; plain words are skipped.
    """
    runs = {run for run in _RUN.findall(text) if not (run.isalpha() and run.islower())}
    return {word.lower() for run in runs for word in _STATED.findall(run)}
