"""Search for the decisive answers: the smallest set of changes that changes the outcome.

Delta debugging over the answers of two runs. A function gives the effect of a set of answers: nothing is run here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum

from reenact.core.dataclass import dataclass
from reenact.core.messages.spelling import spelled
from reenact.core.model import codec
from reenact.core.model.log import CallRecord, Log
from reenact.core.model.plain import compact
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.counterparts import align, answer, asked
from reenact.core.replay.watch import edit_of


class Result(str, Enum):
    """The result of a trial."""

    GOOD = "good"
    BAD = "bad"
    UNDECIDED = "undecided"


class Alike(str, Enum):
    """The likeness of the two runs' questions."""

    SAME = "the same question"
    NEWS = "the same question after another history"
    PLACE = "another question at the same place"


@dataclass(frozen=True, slots=True)
class Change:
    """An answer, or a series of reads, that differs between the two runs.

    Attributes:
        name: A short name: `step 7, model gpt-4o`, or `the reads of entropy:urandom in main`.
        step: The bad run's step, or None for a series of reads.
        other: The good run's step.
        alike: The likeness of the questions.
        bad, good: The answers as text.
        reads: Scope path and source of a series of reads.
    """

    name: str
    step: int | None = None
    other: int | None = None
    alike: Alike = Alike.SAME
    bad: str = ""
    good: str = ""
    reads: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Differences:
    """All answers and reads that differ between two runs.

    Attributes:
        answers: The most relevant first: those to equal questions before others, early ones before late ones.
        reads: Clocks, entropy, variables.
        shared: The number of steps with a counterpart.
        fixed: Different answers that cannot be given in the other run: cancelled, cut off, or broken streams.
    """

    answers: tuple[Change, ...]
    reads: tuple[Change, ...]
    shared: int
    fixed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisiveSearch:
    """The outcome of a search.

    Attributes:
        changes: The smallest set that was found to change the outcome, or None.
        minimal: No smaller part of it does; False if the trials were used up before that was certain.
        spent: The trials were used up.
    """

    changes: tuple[Change, ...] | None
    minimal: bool = True
    spent: bool = False


Test = Callable[[Collection[Change]], Result]


# -- what differs --------------------------------------------------------------------------------------------


def differences(bad: RecordedRun, good: RecordedRun, live: Collection[str] = ()) -> Differences:
    """Return a bad run's answers that differ from a good one's, without those that run live."""
    answers: list[Change] = []
    reads: list[Change] = []
    fixed: list[int] = []
    shared = 0
    facts = RecordingFacts(bad), RecordingFacts(good)
    for log in bad.logs:
        other = next((each for each in good.logs if each.process == log.process), None)
        if other is None:
            continue
        steps = _steps(facts[0], log), _steps(facts[1], other)
        pairs = align(log, other)
        shared += len(pairs)
        for one, two in pairs.items():
            call = log.calls[one]
            if _lives(call, live) or _answered_outside(log, call, live):
                continue
            step, counterpart = steps[0][one], steps[1][two]
            if answer(log, call) == answer(other, counterpart.call):
                continue
            if answer(log, call) is None or edit_of(other, counterpart.call) is None:
                fixed.append(step.step.number)
            else:
                answers.append(_change(step, counterpart))
        reads += _reads(log, other)
    answers.sort(key=lambda change: (change.alike is Alike.PLACE, change.step))
    return Differences(tuple(answers), tuple(reads), shared, tuple(fixed))


def _change(bad: StepFacts, good: StepFacts) -> Change:
    """Return a step's answer, and its counterpart."""
    call = bad.call
    what = asked(bad.step.log, call), asked(good.step.log, good.call)
    same, news = what[0].whole == what[1].whole, what[0].news == what[1].news
    name = f"step {bad.step.number}, {call.kind} {call.name.rstrip(':')}"
    alike = Alike.SAME if same else Alike.NEWS if news else Alike.PLACE
    return Change(name, bad.step.number, good.step.number, alike, _shown(bad), _shown(good))


def _reads(log: Log, other: Log) -> Iterator[Change]:
    for (path, source), values in log.draws.items():
        others = other.draws.get((path, source))
        # Files are read live: a recording only has digests, status and times of them.
        if source.startswith(("file:", "times:")):
            continue
        if others is not None and codec.packed(others) != codec.packed(values):
            yield Change(f"the reads of {source} in {path}", reads=(path, source))


def _steps(facts: RecordingFacts, log: Log) -> dict[int, StepFacts]:
    return {about.call.number: about for about in facts if about.step.log is log}


def _lives(call: CallRecord, live: Collection[str]) -> bool:
    return call.kind in live or call.label in live


def _answered_outside(log: Log, call: CallRecord, live: Collection[str]) -> bool:
    """Return True if a call is inside of one that is answered whole: then it is never made."""
    while call.within is not None and call.within in log.calls:
        call = log.calls[call.within]
        if not _lives(call, live):
            return True
    return False


def _shown(about: StepFacts) -> str:
    call = about.model_call
    if call is None or call.answer is None:
        return about.error or compact(about.output)
    parts = [call.answer.text] if call.answer.text else []
    parts += map(spelled, call.answer.calls)
    return "\n".join(parts)


# -- the search ----------------------------------------------------------------------------------------------


def _widening(found: Differences) -> Iterator[Sequence[Change]]:
    """Yield the changes to try first, and those to add if the outcome does not turn."""
    yield [change for change in found.answers if change.alike is not Alike.PLACE]
    # Last, answers to other questions: a last answer from the other run changes most outcomes, and explains nothing.
    yield [change for change in found.answers if change.alike is Alike.PLACE]
    yield found.reads


class _Spent(Exception):
    """The trials are used up."""


def search(found: Differences, test: Test, *, trials: int) -> DecisiveSearch:
    """Find a smallest set of changes that makes the outcome good.

    First, all answers to equal questions are changed at once. If that is not enough, those at equal places are added,
    and then the reads; if that is not enough, there is nothing to find. Then each change is tried alone, since mostly
    one is decisive, and then ever smaller parts.

    Args:
        found: The possible changes.
        test: Runs a trial with these changes.
        trials: The maximum number of trials.
    """
    known: dict[frozenset[Change], Result] = {}
    best: list[Change] | None = None

    def good(changes: Iterable[Change]) -> bool:
        nonlocal best
        chosen = frozenset(changes)
        if chosen not in known:
            if len(known) == trials:
                raise _Spent
            known[chosen] = test(chosen)
        if known[chosen] is Result.GOOD and (best is None or len(chosen) < len(best)):
            best = [change for change in (*found.answers, *found.reads) if change in chosen]
        return known[chosen] is Result.GOOD

    try:
        universe: list[Change] = []
        for more in _widening(found):
            universe += more
            if more and good(universe):
                break
        for change in universe[: max(1, trials // 2)]:
            if good([change]):
                return DecisiveSearch((change,))
        if best is None:
            return DecisiveSearch(None)
        _shrink(best, good)
    except _Spent:
        return DecisiveSearch(tuple(best) if best is not None else None, minimal=False, spent=True)
    return DecisiveSearch(tuple(best))


def _shrink(changes: Sequence[Change], good: Callable[[Iterable[Change]], bool]) -> None:
    """Zeller's ddmin: try parts, then the complement of each part, ever finer."""
    parts = 2
    while len(changes) > 1:
        size = -(-len(changes) // parts)
        chunks = [changes[at : at + size] for at in range(0, len(changes), size)]
        smaller = next((chunk for chunk in chunks if good(chunk)), None)
        if smaller is not None:
            changes, parts = smaller, 2
            continue
        rests = ([c for c in changes if c not in chunk] for chunk in chunks)
        smaller = next((rest for rest in rests if rest and good(rest)), None)
        if smaller is not None:
            changes, parts = smaller, max(parts - 1, 2)
        elif parts >= len(changes):
            return
        else:
            parts = min(2 * parts, len(changes))
