"""The result of a comparison of two recordings: frozen values, the same for every interface."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import Any

from reenact.analysis.diff.words import Segment, marked
from reenact.core.dataclass import dataclass
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.errors import ABSENT


class Kind(str, Enum):
    """The relation of the two sides of a pair."""

    SAME = "same"
    CHANGED = "changed"
    INSERTED = "inserted"
    DELETED = "deleted"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of a step that differs.

    Attributes:
        path: Its path: `args.order_id`, `new_messages[0].text`, `answer.calls[0].args.id`, `output.total`, `error`.
        a: The first run's value, plain, or `ABSENT`.
        b: The second run's value.
        who: The sender of a message: `user`, `tool get_order`.
    """

    path: str
    a: Any
    b: Any
    who: str = ""

    @property
    def question(self) -> bool:
        """Return whether it is part of the question, not of the answer."""
        return self.path.startswith(("args", "new_messages", "tools"))

    @property
    def words(self) -> tuple[Segment, ...] | None:
        """The comparison word by word, if both sides are texts."""
        texts = isinstance(self.a, str) and isinstance(self.b, str)
        return marked(self.a, self.b) if texts and ABSENT not in (self.a, self.b) else None


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds, tokens and US dollars of a step or a run; None if unknown."""

    duration: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A step of the first run and its counterpart in the second; None for a missing side.

    Attributes:
        kind: same, changed, inserted (only in b), deleted (only in a), or moved: the same step in another place.
        differences: The differences, part by part; of a model call only its new messages are compared.
        carried: Earlier input differs, too, as an earlier pair shows: the chat's history, a setting.
        spent: The time, tokens and cost of each side.
    """

    kind: Kind
    a: Step | None
    b: Step | None
    differences: tuple[Difference, ...] = ()
    carried: bool = False
    spent: tuple[Spent | None, Spent | None] = (None, None)

    @property
    def asked(self) -> bool:
        """Return whether the questions differ."""
        return any(difference.question for difference in self.differences)

    @property
    def answered(self) -> bool:
        """Return whether the answers differ."""
        return any(not difference.question for difference in self.differences)


@dataclass(frozen=True, slots=True)
class Parting:
    """The first place where the runs part.

    Attributes:
        a: The step of the first run there, or None if it has ended.
        b: The step of the second, or None.
        why: One sentence.
        pair: The first pair that is not the same.
    """

    a: Step | None
    b: Step | None
    why: str
    pair: Pair


@dataclass(frozen=True)
class Side:
    """One of the two runs, with its totals."""

    recording: RecordedRun = field(repr=False)
    facts: RecordingFacts = field(repr=False, compare=False)
    steps: int
    failed: int
    models: tuple[str, ...]
    spent: Spent

    @property
    def id(self) -> str:
        """The recording's id."""
        return self.recording.id

    def of(self, step: Step) -> StepFacts:
        """Return the facts of one of its steps."""
        return self.facts.steps[step.number - 1]


@dataclass(frozen=True)
class Diff:
    """The comparison of two recordings.

    Attributes:
        a: The first run.
        b: The second.
        pairs: All steps of both, in order, counterparts in one pair.
        parting: The first difference, or None.
        ending: The differences of the runs' output, status and error.
        program: The differences of the programs: arguments, git revision, versions of Python and packages.
        ignored: The rules that made a difference.
    """

    a: Side
    b: Side
    pairs: tuple[Pair, ...] = field(repr=False)
    parting: Parting | None
    ending: tuple[Difference, ...] = ()
    program: tuple[Difference, ...] = ()
    ignored: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return one line: the two runs, and the first difference."""
        found = "the same" if self.same else "different"
        return f"<Diff of {self.a.id} and {self.b.id}: {found}, {len(self.pairs)} pairs of steps>"

    @property
    def same(self) -> bool:
        """Return whether both runs have the same questions, answers and end."""
        return self.parting is None and not self.ending

    @cached_property
    def counts(self) -> dict[Kind, int]:
        """Return the number of pairs of each kind."""
        found = Counter(pair.kind for pair in self.pairs)
        return {kind: found[kind] for kind in Kind}

    @property
    def shared(self) -> int:
        """Return the number of pairs with two sides; 0 if the runs have nothing in common."""
        return len(self.pairs) - self.counts[Kind.INSERTED] - self.counts[Kind.DELETED]
