"""Search plans: find the recordings and steps that match a filter, with Postgres.

SQL and its indexes reduce the search to the recordings and steps that may match. Python then evaluates the whole
filter, so that the result equals that of the local index. Texts, arguments and outputs are searched only if all other
terms hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import BigInteger, and_, cast, not_, or_, select, true
from sqlalchemy.dialects.postgresql import ARRAY

from reenact.core.query.filter import Facts, Filter, holds
from reenact.core.query.grammar import OF_RECORDING, All, Node, Term, terms
from reenact.core.store.compiler import Bound, Compiled, bound, in_column, of_columns
from reenact.core.store.details import PARTS, Details, WantedTerm
from reenact.core.store.fact_numbers import sought
from reenact.team.conditions import STEP, Condition, StepDialect, inside, of_recording
from reenact.team.tables import FACTS, RECORDINGS, STEPS, TEXTS

_ASKED = {
    "label": ("label", "model"),
    "tokens": ("input_tokens", "output_tokens"),
    "step": ("number",),
}
"""The columns from which fields without a column are computed."""

Step = Mapping[str, Any]


class SearchPlan:
    """The search plan of a filter.

    Args:
        wanted: The filter.
        project: The key of the project.

    Attributes:
        about_steps: True if the filter has terms about steps.
        heads: The condition for recordings that match the filter's terms about recordings.
        recordings: The condition for recordings that may match.
        steps: The condition for steps that may be needed.
        columns: The columns to read of those steps.
        parts: The parts to search, of `details.PARTS`.
        by_facts: True if the condition `recordings` uses facts.
    """

    def __init__(self, wanted: Filter, project: int) -> None:
        self._wanted = wanted
        self._compiled = Compiled(wanted.candidates, STEP)
        node = self._compiled.node
        self._tests = {id(term): holds(term) for term in terms(node) if in_column(term)}
        self.columns = sorted(
            {
                "number",
                *(
                    column
                    for term in terms(node)
                    if in_column(term)
                    for column in _ASKED.get(term.field, (term.field,))
                ),
            }
        )
        self.parts = sorted(self._compiled.parts, key=PARTS.index)
        heads = [bound(part, HeadDialect()) for part in _ands(wanted.node) if _fields(part) <= OF_RECORDING]
        self.heads: Condition = and_(true(), *(head.condition for head in heads if head is not None))
        self.about_steps = wanted.about_steps
        self.by_facts = False
        found = self.heads
        if wanted.about_steps:
            # `not error` matches recordings without an error, which have no step to find.
            if wanted.meant(()) is not None:
                within = self._without()
            else:
                dialect = RecordingDialect(self._compiled.looks, project)
                of_recordings = bound(node, dialect)
                within = None if of_recordings is None else of_recordings.condition
                self.by_facts = dialect.by_facts and within is not None
            found = found if within is None else and_(found, within)
        self.recordings = found
        self.steps: Condition = true() if self._compiled.bound is None else self._compiled.bound.condition

    def meant(self, line: Facts, steps: Sequence[Step], details: Details) -> tuple[int, ...] | None:
        """Return the numbers of a recording's matching steps, or None if it does not match.

        Args:
            line: The recording's summary.
            steps: The steps for which `steps` holds.
            details: The values without a column.
        """
        if not self._wanted.head(line):
            return None
        if not self._wanted.about_steps:
            return ()
        by_number = {step["number"]: step for step in steps}

        def decide(node: Node, among: set[int]) -> set[int] | None:
            test = self._tests.get(id(node)) if isinstance(node, Term) else None
            if test is None or not isinstance(node, Term):
                return None
            return {number for number in among if test(_value(by_number[number], node.field))}

        return self._wanted.meant(self._compiled.steps(line, by_number, decide, details))

    def _without(self) -> Condition | None:
        """Return a condition for recordings without a matching step; None if SQL cannot decide."""
        exact = self._compiled.bound
        return not_(_having(exact.condition)) if exact is not None and exact.exact else None


class HeadDialect(StepDialect):
    """The conditions of comparisons about recordings.

    No condition counts as exact, so Python tests them again.
    """

    def bound(self, node: Node) -> Bound[Condition] | None:
        """Return the condition of a comparison about the recording, or None for any other."""
        assert isinstance(node, Term)
        return Bound(of_recording(node).condition) if node.field in OF_RECORDING else None


class RecordingDialect(HeadDialect):
    """The conditions on recordings with a matching step.

    Args:
        looks: The searches in texts, arguments and outputs, by the `id` of their terms.
        project: The key of the project.
    """

    def __init__(self, looks: Mapping[int, WantedTerm], project: int) -> None:
        self._looks = looks
        self._project = project
        self.by_facts = False
        """True if a comparison was answered by facts."""

    def takes(self, node: Node) -> bool:
        """Return True for a node of columns alone, because one step must match all of it."""
        return of_columns(node)

    def bound(self, node: Node) -> Bound[Condition] | None:
        """Return the condition that a step may match this part; None if SQL cannot decide."""
        if of_columns(node):
            within = bound(node, STEP)
            return None if within is None else Bound(_having(within.condition))
        if not isinstance(node, Term):
            return None
        if id(node) not in self._looks:
            return super().bound(node)
        facts = sought(node)
        if facts is not None:
            self.by_facts = True
            return Bound(self._has(facts))
        said = self._says(self._looks[id(node)])
        return None if said is None else Bound(said)

    def _has(self, facts: Sequence[int]) -> Condition:
        """Return the condition that a recording has one of some facts, or has no facts yet."""
        known = select(FACTS.c.recording).where(FACTS.c.facts.overlap(cast(facts, ARRAY(BigInteger))))
        other = RECORDINGS.alias()
        unknown = select(other.c.key).where(other.c.project == self._project, other.c.facted != other.c.known)
        return RECORDINGS.c.key.in_(known.union_all(unknown))

    def _says(self, look: WantedTerm) -> Condition | None:
        """Return the condition that a recording's texts contain a word, or are not stored yet."""
        words = [word.lower().decode() for word in look.words() if b"\0" not in word]
        if not words:
            return None
        part = PARTS.index(look.name)
        said = and_(TEXTS.c.part == part, *(inside(TEXTS.c.body, word) for word in words))
        if look.name != "text":
            # JSON may escape a letter as its number, which the search does not find.
            said = or_(said, and_(TEXTS.c.part == part, inside(TEXTS.c.body, "\\u")))
        known = select(TEXTS.c.recording).where(said)
        other = RECORDINGS.alias()
        unknown = select(other.c.key).where(other.c.project == self._project, other.c.worded != other.c.known)
        return RECORDINGS.c.key.in_(known.union_all(unknown))


def _having(condition: Condition) -> Condition:
    return RECORDINGS.c.key.in_(select(STEPS.c.recording).where(condition))


def _ands(node: Node) -> Collection[Node]:
    return node.inner if isinstance(node, All) else (node,)


def _fields(node: Node) -> set[str]:
    return {term.field for term in terms(node)}


def _value(step: Step, field: str) -> Any:
    if field == "label":
        model = step["model"]
        return [step["label"]] if model is None else [step["label"], f"model:{model}"]
    if field == "calls":
        return orjson.loads(step["calls"]) if step["calls"] is not None else None
    if field == "tokens":
        tokens = step["input_tokens"], step["output_tokens"]
        return None if None in tokens else sum(tokens)
    return step["number" if field == "step" else field]
