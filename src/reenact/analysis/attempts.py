"""Judge several replays of one recording together: find out if the failure reproduces."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from reenact.core.dataclass import dataclass
from reenact.core.model.divergence import Verdict
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import ABSENT, Departure


class Reproduces(str, Enum):
    """The result of several replays."""

    REPRODUCED = "reproduced"
    DIFFERENT = "different"
    FLAKY = "flaky under replay"
    CANNOT_RUN = "cannot run"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One replay.

    Attributes:
        status: The exit status, or None if it took too long.
        lines: Its standard output, without durations and memory addresses.
        verdict: The replay's verdict, or None.
        failed: The reason that there is no verdict.
        complaint: The last line of its standard error.
        seconds: Its duration.
        warnings: The differences from the recorded environment.
    """

    status: int | None
    lines: tuple[str, ...]
    verdict: Verdict | None
    failed: str = ""
    complaint: str = ""
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstDeparture:
    """The first place where a replay was not as recorded.

    Attributes:
        step: The recorded step, or None.
        text: The place and the difference, in one line.
        place: The kind and the address of the departure, and the differing parts.
        doubt: No difference was found, but the verdict has notes, or something ran for real.
    """

    step: int | None
    text: str
    place: tuple[object, ...]
    doubt: bool = False


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The result of several replays of a recording.

    Attributes:
        recording: The id of the replayed recording.
        result: The result.
        where: The first different or flaky place; for a program that cannot run, the reason.
        uncovered: The inputs that the recording does not cover, one sentence each: the likely reasons.
        attempts: The replays, in order.
    """

    recording: str
    result: Reproduces
    where: str = ""
    uncovered: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()


def judge(recording: RecordedRun, attempts: Sequence[Attempt]) -> Reproduction:
    """Judge the replays together."""
    uncovered = tuple(_uncovered(recording, attempts))
    unable = next((why for attempt in attempts if (why := _unable(recording, attempt))), "")
    made = [attempt for attempt in attempts if not _unable(recording, attempt)]

    def told(result: Reproduces, where: str = "") -> Reproduction:
        return Reproduction(recording.id, result, where, uncovered, tuple(attempts))

    if not made:
        return told(Reproduces.CANNOT_RUN, unable)
    if unable:
        return told(
            Reproduces.FLAKY,
            f"it ran {len(made)} times, and could not run {len(attempts) - len(made)} times: {unable}",
        )
    for number, attempt in enumerate(made[1:], 2):
        if parting := _parting(made[0], attempt, number):
            return told(Reproduces.FLAKY, parting)
    verdict = made[0].verdict
    found = departed(recording, made[0])
    if found is not None and verdict is not None and (verdict.divergences or verdict.missing):
        return told(Reproduces.DIFFERENT, found.text)
    return told(Reproduces.REPRODUCED)


def departed(recording: RecordedRun, attempt: Attempt) -> FirstDeparture | None:
    """Return the place where a replay was not as recorded, or None for a faithful one."""
    if why := _unable(recording, attempt):
        return FirstDeparture(None, why, (why,))
    verdict = attempt.verdict
    assert verdict is not None
    if (found := verdict.divergence) is not None:
        return FirstDeparture(
            found.step, str(found), (found.kind, found.address, found.mismatches, found.detail)
        )
    if verdict.missing:
        step, address = verdict.missing[0]
        return FirstDeparture(step, f"step {step}, {address}, was not requested", (step, address))
    if verdict.faithful:
        return None
    doubts = [*(f"{label} ran for real" for label in verdict.live), *verdict.notes]
    return FirstDeparture(None, f"partly from the recording: {doubts[0]}", tuple(doubts), doubt=True)


def _unable(recording: RecordedRun, attempt: Attempt) -> str:
    """Return the reason that the program could not run, or empty."""
    if attempt.verdict is None:
        said = (
            f": {attempt.complaint}" if attempt.complaint and attempt.complaint not in attempt.failed else ""
        )
        return f"{attempt.failed or 'it gave no verdict'}{said}"
    asked = attempt.verdict.served or attempt.verdict.live
    first = attempt.verdict.divergence
    silent = first is not None and first.kind is Departure.MISSING and not asked
    recorded = (recording.logs[0].sealed or {}).get("exit")
    if recording.steps and silent and attempt.status and attempt.status != recorded:
        said = attempt.complaint or "in silence"
        return f"it ended with exit status {attempt.status} before its first question: {said}"
    return ""


def _parting(one: Attempt, other: Attempt, number: int) -> str:
    """Return the first place where two replays differ, or an empty text."""
    firsts = [attempt.verdict.divergence if attempt.verdict is not None else None for attempt in (one, other)]
    places = [(each.kind, each.address) if each is not None else None for each in firsts]
    if places[0] != places[1]:
        told = [str(each) if each is not None else "faithful" for each in firsts]
        return f"replay 1: {told[0]}; replay {number}: {told[1]}"
    for line in range(max(len(one.lines), len(other.lines))):
        left, right = (each.lines[line] if line < len(each.lines) else ABSENT for each in (one, other))
        if left != right:
            return f"line {line + 1} of the output: replay 1 {_short(left)}, replay {number} {_short(right)}"
    if one.status != other.status:
        return f"the exit status: replay 1 {one.status}, replay {number} {other.status}"
    mismatches = [each.mismatches if each is not None else () for each in firsts]
    if mismatches[0] != mismatches[1]:
        differing = next((m for m in mismatches[1] if m not in mismatches[0]), None)
        return f"at {places[0] and places[0][1]}: replay {number} asked {differing}" if differing else ""
    return ""


def _uncovered(recording: RecordedRun, attempts: Sequence[Attempt]) -> dict[str, None]:
    found: dict[str, None] = {}
    for note in recording.notes:
        found[f"while recording: {note}"] = None
    for attempt in attempts:
        if attempt.verdict is None:
            continue
        for note in attempt.verdict.notes:
            if not note.startswith("the recording says: "):
                found[note] = None
        for label in attempt.verdict.live:
            found[f"{label} ran for real"] = None
        for warning in attempt.warnings:
            found[warning] = None
    if any((log.sealed or {}).get("uncertain") for log in recording.logs):
        found["threads raced while it was recorded: their order is uncertain"] = None
    return found


def _short(line: str) -> str:
    return line if line == ABSENT else repr(line if len(line) <= 120 else line[:119] + "…")
