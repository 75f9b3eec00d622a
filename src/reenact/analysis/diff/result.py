"""What a comparison of two recordings comes to: frozen values, for every face the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from reenact.analysis.diff.words import Segment, marked
from reenact.core.model.divergence import ABSENT
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recording import Recording, Step


class Kind(str, Enum):
    """How the two sides of a pair stand to each other."""

    SAME = "same"
    CHANGED = "changed"
    INSERTED = "inserted"
    DELETED = "deleted"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of a step that differs.

    Attributes:
        path: Where: `args.order_id`, `new_messages[0].text`, `answer.calls[0].args.id`, `output.total`, `error`.
        a: What the first run has there, plain, or `ABSENT`.
        b: What the second has.
        who: Of a message who says it: `user`, `tool get_order`.
    """

    path: str
    a: Any
    b: Any
    who: str = ""

    @property
    def question(self) -> bool:
        """Whether it is part of what was asked, not of what came."""
        return self.path.startswith(("args", "new_messages", "tools"))

    @property
    def words(self) -> tuple[Segment, ...] | None:
        """Word by word, where both sides are texts."""
        texts = isinstance(self.a, str) and isinstance(self.b, str)
        return marked(self.a, self.b) if texts and ABSENT not in (self.a, self.b) else None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a step, or a run, took: seconds, tokens, US dollars as far as prices are known; None: nobody counted."""

    duration: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A step of the first run and its counterpart in the second; one of them is None where it has none.

    Attributes:
        kind: same, changed, inserted (only in b), deleted (only in a), or moved: the same step in another place.
        differences: What differs, part by part; of a model call only what is new in it is compared.
        carried: What was sent before differs too, as an earlier pair has told: the chat's history, a setting.
        spent: What each side took.
    """

    kind: Kind
    a: Step | None
    b: Step | None
    differences: tuple[Difference, ...] = ()
    carried: bool = False
    spent: tuple[Spent | None, Spent | None] = (None, None)

    @property
    def asked(self) -> bool:
        """Whether the questions differ."""
        return any(difference.question for difference in self.differences)

    @property
    def answered(self) -> bool:
        """Whether the answers differ."""
        return any(not difference.question for difference in self.differences)


@dataclass(frozen=True, slots=True)
class Parting:
    """The first place where the runs part.

    Attributes:
        a: The step of the first run there, or None: it has ended.
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

    recording: Recording = field(repr=False)
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
        """What is known of one of its steps."""
        return self.facts.steps[step.number - 1]


@dataclass(frozen=True)
class Diff:
    """Two recordings, compared.

    Attributes:
        a: The first run.
        b: The second.
        pairs: All steps of both, in order: what belongs together as one pair.
        parting: The first difference, or None.
        ending: What differs in the runs' output, status and error.
        program: What differs in the programs: arguments, git revision, versions of Python and packages.
        ignored: The rules that made a difference.
    """

    a: Side
    b: Side
    pairs: tuple[Pair, ...] = field(repr=False)
    parting: Parting | None
    ending: tuple[Difference, ...] = ()
    program: tuple[Difference, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether both runs asked the same, were answered the same, and ended the same."""
        return self.parting is None and not self.ending

    @cached_property
    def counts(self) -> dict[Kind, int]:
        """How many pairs there are of each kind."""
        found = Counter(pair.kind for pair in self.pairs)
        return {kind: found[kind] for kind in Kind}

    @property
    def shared(self) -> int:
        """How many pairs have two sides; none where the runs have nothing to do with each other."""
        return len(self.pairs) - self.counts[Kind.INSERTED] - self.counts[Kind.DELETED]
