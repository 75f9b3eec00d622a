"""Compare two recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from reenact.analysis.diff import alignment, pair_order
from reenact.analysis.diff.content import Content, contents, said
from reenact.analysis.diff.differences import differences, parts
from reenact.analysis.diff.parting import parting
from reenact.analysis.diff.result import Diff, Difference, Kind, Pair, Side, Spent
from reenact.core.model.header import program_of
from reenact.core.model.plain import error_line
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.match import Rules
from reenact.core.store.local import argument_of
from reenact.errors import ABSENT, UsageError

T = TypeVar("T")


_MOST = 200_000
"""The maximum number of steps of both recordings: more would take minutes."""


def compare(a: RecordedRun, b: RecordedRun, ignore: Iterable[str] = ()) -> Diff:
    """Align the steps of two recordings by content, and return the differences. Reads only.

    Args:
        a: The first run, for example the good one.
        b: The second run.
        ignore: The parts that are not compared, by the rules of a replay: `args.body.seed`.

    Raises:
        UsageError: A recording has no steps, the two have more than 200,000, or a rule cannot match anything.
    """
    rules = Rules(ignore)
    for recording in (a, b):
        if not recording.steps:
            raise UsageError(
                f"recording {recording.id} has no steps, so it cannot be compared; "
                f"`reenact show {argument_of(recording)}` shows what it holds"
            )
    if (count := len(a.steps) + len(b.steps)) > _MOST:
        raise UsageError(
            f"recordings {a.id} and {b.id} have {count:,} steps together, and a comparison takes {_MOST:,} at most; "
            "compare shorter runs, or look at one with `reenact show`"
        )
    facts = RecordingFacts(a), RecordingFacts(b)
    steps = contents(facts[0]), contents(facts[1])
    # Align in a fixed order, so that of several equally good alignments the same one is found from both sides.
    flipped = _outline(steps[1]) < _outline(steps[0])
    one, other = reversed(steps) if flipped else steps
    mates = alignment.align(one, other)
    spine = pair_order.backbone(mates)
    moved = pair_order.moved(mates, spine, (one, other))
    places = list(pair_order.told(mates, spine, (len(one), len(other))))
    moved_here = {mates[i] for i in moved} if flipped else moved
    if flipped:
        places = [(i, j) for j, i in places]
    found = _Pairing(steps, moved_here, rules).pairs(_deleted_first(places))
    return Diff(
        a=_side(facts[0], steps[0]),
        b=_side(facts[1], steps[1]),
        pairs=tuple(found),
        parting=parting(found, facts),
        ending=tuple(_ending(a, b)),
        program=tuple(_program(a, b)),
        ignored=tuple(rules.applied) if ignore else (),
    )


def _outline(steps: Sequence[Content]) -> tuple[int, list[tuple[str, tuple[str, bytes, bytes]]]]:
    """Return the aligned content as a key: the recording with the lesser one comes first."""
    return len(steps), [(step.scope, step.key) for step in steps]


def _deleted_first(places: Iterable[pair_order.Place]) -> list[pair_order.Place]:
    """Order the steps between two pairs: first the deleted ones, then the inserted ones."""
    found: list[pair_order.Place] = []
    waiting: list[pair_order.Place] = []
    for place in places:
        if place[0] is None:
            waiting.append(place)
        elif place[1] is None:
            found.append(place)
        else:
            found += [*waiting, place]
            waiting.clear()
    return found + waiting


class _Pairing:
    """Makes pairs of steps in order; a difference that was reported once is not repeated."""

    def __init__(
        self, steps: tuple[Sequence[Content], Sequence[Content]], moved: set[int], rules: Rules
    ) -> None:
        self._a, self._b = steps
        self._moved = moved
        self._rules = rules
        self._told: set[tuple[str, str]] = set()
        self._parted = False

    def pairs(self, places: Iterable[pair_order.Place]) -> list[Pair]:
        """Return all pairs."""
        return [self._pair(*place) for place in places]

    def _pair(self, i: int | None, j: int | None) -> Pair:
        a = self._a[i] if i is not None else None
        b = self._b[j] if j is not None else None
        steps = _each(lambda content: content.facts.step, a, b)
        took = _each(lambda content: content.spent, a, b)
        if a is None or b is None:
            self._parted = self._parted or any(side is not None and side.turn is not None for side in (a, b))
            return Pair(Kind.INSERTED if a is None else Kind.DELETED, *steps, spent=took)
        found, carried = self._news(differences(a, b, self._rules), a)
        carried = carried or self._history(a, b)
        self._parted = self._parted or (bool(found) and a.turn is not None)
        kind = Kind.CHANGED if found else Kind.MOVED if i in self._moved else Kind.SAME
        return Pair(kind, *steps, differences=found, carried=carried, spent=took)

    def _news(self, found: tuple[Difference, ...], a: Content) -> tuple[tuple[Difference, ...], bool]:
        """Return the differences without settings that an earlier model call has reported."""
        if a.turn is None or not found:
            return found, False
        news = []
        for difference in found:
            if difference.path.startswith("args"):
                key = difference.path, repr((difference.a, difference.b))
                if key in self._told:
                    continue
                self._told.add(key)
            news.append(difference)
        return tuple(news), len(news) < len(found)

    def _history(self, a: Content, b: Content) -> bool:
        """Return whether the messages sent before differ."""
        if not self._parted or a.turn is None or b.turn is None:
            return False
        one, other = (turn.call.messages[: turn.known] for turn in (a.turn, b.turn))
        return len(one) != len(other) or any(
            x is not y and x != y and said(x) != said(y) for x, y in zip(one, other, strict=True)
        )


def _each(take: Callable[[Content], T], a: Content | None, b: Content | None) -> tuple[T | None, T | None]:
    return take(a) if a is not None else None, take(b) if b is not None else None


def _side(facts: RecordingFacts, steps: Sequence[Content]) -> Side:
    took = [content.spent for content in steps]
    costs = [item.cost for item in took if item.cost is not None]
    counted = [item for item in took if item.input_tokens is not None]
    total = Spent(
        facts.recording.duration,
        sum(item.input_tokens or 0 for item in counted) if counted else None,
        sum(item.output_tokens or 0 for item in counted) if counted else None,
        round(sum(costs), 9) if costs else None,
    )
    return Side(
        recording=facts.recording,
        facts=facts,
        steps=len(facts.steps),
        failed=sum(step.call.status == "error" for step in facts),
        models=tuple(dict.fromkeys(model for step in facts if (model := step.get("model")))),
        spent=total,
    )


def _ending(a: RecordedRun, b: RecordedRun) -> Iterable[Difference]:
    if a.status != b.status:
        yield Difference("status", a.status, b.status)
    sealed = [recording.logs[0].sealed or {} for recording in (a, b)]
    outputs = [{"output": item["output"]} if "output" in item else {} for item in sealed]
    yield from parts(outputs[0], outputs[1], "", "")
    errors = [error_line(item["error"]) if item.get("error") else ABSENT for item in sealed]
    if errors[0] != errors[1]:
        yield Difference("error", *errors)


def _program(a: RecordedRun, b: RecordedRun) -> Iterable[Difference]:
    """Return the differences of the program. Its folder and hash seed are left out."""
    kept = ("argv", "python", "platform", "git", "packages")
    recorded = (program_of(recording.header) for recording in (a, b))
    programs = [{key: program[key] for key in kept if key in program} for program in recorded]
    one, other = (program.pop("packages", None) or {} for program in programs)
    if all(programs):
        yield from parts(programs[0], programs[1], "", "")
        # Of a program that is not Python, no packages are known.
        for name in sorted({*one, *other}) if one and other else ():
            if one.get(name) != other.get(name):
                yield Difference(f"packages.{name}", one.get(name, ABSENT), other.get(name, ABSENT))
