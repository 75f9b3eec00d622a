"""Make sections of a page from the results of other modules."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.analysis.anomalies import Anomaly
from reenact.analysis.attempts import Reproduction
from reenact.analysis.decisive import Alike, Change, Differences
from reenact.analysis.diff import Diff, Kind
from reenact.analysis.pages.blocks import Block, Note, Section, table, text, versus
from reenact.analysis.world import RepeatedQuestion
from reenact.core.query.recorded_run import Step

_MOST = 12


def anomalies(found: Sequence[Anomaly]) -> Section:
    """Return the section of anomalies, the most suspect step first."""
    if not found:
        return Section("Anomalies", (text("No anomalies found."),))
    rows = [
        (each.severity, "" if each.step is None else str(each.step), each.sentence, each.evidence, each.rule)
        for each in found[: 2 * _MOST]
    ]
    blocks: list[Block] = [table(("severity", "step", "what", "evidence", "rule"), rows)]
    if len(found) > 2 * _MOST:
        blocks.append(text(f"and {len(found) - 2 * _MOST} more"))
    return Section("Anomalies", tuple(blocks))


def attempts(done: Reproduction, asked: Sequence[RepeatedQuestion] | None = None) -> Section:
    """Return the section of the attempts to reproduce it, and of the repeated questions."""
    blocks: list[Block] = [text(f"{done.result.value}{f': {done.where}' if done.where else ''}")]
    if done.attempts:
        rows = [
            (
                str(number),
                "no verdict"
                if each.verdict is None
                else "faithful"
                if each.verdict.faithful
                else "not faithful",
                "" if each.status is None else str(each.status),
                f"{each.seconds:.1f} s",
                str(each.verdict.divergence or "") if each.verdict is not None else each.failed,
            )
            for number, each in enumerate(done.attempts, 1)
        ]
        blocks.append(
            table(
                ("replay", "verdict", "exit status", "time", "where it no longer matched the recording"), rows
            )
        )
    blocks += [Note(f"not covered by the recording: {each}") for each in done.uncovered]
    if asked:
        blocks.append(text("The recorded reading requests, asked again:"))
        again = [
            (each.label, each.change, each.detail, "; ".join(str(m) for m in each.mismatches[:3]))
            for each in asked
        ]
        blocks.append(table(("request", "today", "", "what differs"), again))
    return Section("Attempts to reproduce it", tuple(blocks))


def beside(good: str, found: Differences) -> Section:
    """Return the section of a good run's different answers."""
    told = [change for change in found.answers if change.alike is not Alike.PLACE]
    told.sort(key=lambda change: change.step or 0)
    blocks: list[Block] = [
        text(
            f"{found.shared} steps have a counterpart in {good}; {len(told)} of them got a different answer there."
        )
    ]
    blocks += [block for change in told[:_MOST] for block in _change(change)]
    if len(told) > _MOST:
        blocks.append(text(f"and {len(told) - _MOST} more"))
    return Section("Answers of the good run", tuple(blocks))


def decisive(sentence: str, changes: Sequence[Change], notes: Sequence[str] = ()) -> Section:
    """Return the section of the decisive step."""
    blocks = [text(sentence), *(block for change in changes for block in _change(change))]
    return Section("The decisive step", (*blocks, *(Note(each) for each in notes)))


def _change(change: Change) -> list[Block]:
    how = f" ({change.alike.value})" if change.alike is not Alike.SAME else ""
    if change.step is None:
        return [text(change.name)]
    return [text(f"{change.name}{how}"), versus(("this run", change.bad), ("the good run", change.good))]


def diff(found: Diff) -> Section:
    """Return the section of a comparison. The first run is the page's own."""
    parting = found.parting
    if parting is None:
        return Section(
            "Compared with a good run", (text(f"It does the same as {found.b.id}, step by step."),)
        )
    steps = [f"step {step.number}" if step is not None else "its end" for step in (parting.a, parting.b)]
    blocks: list[Block] = [
        text(f"It differs from {found.b.id} from {steps[0]} (there: {steps[1]}): {parting.why}")
    ]
    rows = [
        (
            pair.kind.value,
            _place(pair.a),
            _place(pair.b),
            "; ".join(dict.fromkeys(difference.path for difference in pair.differences[:4])),
        )
        for pair in found.pairs
        if pair.kind is not Kind.SAME
    ]
    blocks.append(table(("", "this run", "the good run", "what differs"), rows[: 5 * _MOST]))
    if len(rows) > 5 * _MOST:
        blocks.append(text(f"and {len(rows) - 5 * _MOST} more steps"))
    return Section("Compared with a good run", tuple(blocks))


def _place(step: Step | None) -> str:
    return f"step {step.number}, {step.call.kind} {step.call.name.rstrip(':')}" if step is not None else ""
