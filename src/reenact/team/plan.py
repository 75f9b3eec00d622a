"""Search plans: find the recordings and steps that match a filter by Postgres.

SQL narrows the search, by its indexes, to the recordings and steps that may match. Python then evaluates the whole
filter, so that the answer equals that of the local index, step by step. Texts, arguments and outputs are searched
only where all other terms hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import and_, false, func, not_, or_, select, true

from reenact.core.query.filter import Facts, Filter, holds
from reenact.core.query.grammar import OF_RECORDING, All, Node, Not, Some, Term, terms
from reenact.core.store.details import PARTS, Details, Wanted
from reenact.team.conditions import Condition, in_column, inside, of_recording, of_step
from reenact.team.tables import RECORDINGS, STEPS, TEXTS

_ASKED = {
    "label": ("label", "model"),
    "tokens": ("input_tokens", "output_tokens"),
    "step": ("number",),
}
"""The columns that fields are made of, which are none themselves."""

Step = Mapping[str, Any]


class Plan:
    """The search plan of a filter.

    Args:
        wanted: The filter.
        project: The key of the project.

    Attributes:
        about_steps: The filter has terms about steps.
        heads: Holds for each recording that matches the filter's terms about recordings.
        recordings: Holds for each recording that may match.
        steps: Holds for each step that may be needed.
        columns: The columns to read of those steps.
        parts: The parts to search: of `details.PARTS`.
    """

    def __init__(self, wanted: Filter, project: int) -> None:
        self._wanted = wanted
        self._project = project
        node = wanted.candidates
        self._node = node
        self._looks = {id(term): Wanted(term) for term in terms(node) if _hidden(term)}
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
        self.parts = sorted({look.name for look in self._looks.values()}, key=PARTS.index)
        heads = [_of_head(part) for part in _ands(wanted.node) if _fields(part) <= OF_RECORDING]
        self.heads: Condition = and_(true(), *(head for head in heads if head is not None))
        self.about_steps = wanted.about_steps
        found = self.heads
        if wanted.about_steps:
            # `not error` means recordings without such a step: it is not they that are found, but those with one.
            bound = self._without(node) if wanted.meant(()) is not None else self._of_recordings(node)
            found = found if bound is None else and_(found, bound)
        self.recordings = found
        within = self._of_steps(node)
        self.steps = true() if within is None else within

    def meant(self, line: Facts, steps: Sequence[Step], details: Details) -> tuple[int, ...] | None:
        """Return the numbers of a recording's matching steps, or None where it does not match.

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
        return self._wanted.meant(
            sorted(self._holding(self._node, set(by_number), _Asked(line, by_number, details)))
        )

    # -- what Python says ------------------------------------------------------------------------------------

    def _holding(self, node: Node, among: set[int], asked: _Asked) -> set[int]:
        if not among:
            return among
        if isinstance(node, Term):
            return self._term(node, among, asked)
        if isinstance(node, Not):
            return among - self._holding(node.inner, among, asked)
        # Evaluate searches in texts last: fewer steps are left by then.
        inner = sorted(node.inner, key=lambda part: any(_hidden(term) for term in terms(part)))
        if isinstance(node, All):
            for part in inner:
                among = self._holding(part, among, asked)
            return among
        found: set[int] = set()
        for part in inner:
            found |= self._holding(part, among - found, asked)
        return found

    def _term(self, term: Term, among: set[int], asked: _Asked) -> set[int]:
        if _hidden(term):
            return asked.details.holding(self._looks[id(term)], among)
        test = holds(term)
        if term.field in OF_RECORDING:
            return among if test(asked.line.get(term.field)) else set()
        return {number for number in among if test(_value(asked.steps[number], term.field))}

    # -- what SQL says ---------------------------------------------------------------------------------------

    def _of_steps(self, node: Node) -> Condition | None:
        """Return a condition true for each step that may match; None where SQL cannot decide."""
        if isinstance(node, Term):
            return of_step(node).condition if in_column(node) else None
        if isinstance(node, Not):
            exact = _exact(node.inner)
            return None if exact is None else not_(func.coalesce(exact, false()))
        bounds = [self._of_steps(part) for part in node.inner]
        known = [bound for bound in bounds if bound is not None]
        if isinstance(node, All):
            return and_(true(), *known) if known else None
        return or_(false(), *known) if len(known) == len(bounds) else None

    def _of_recordings(self, node: Node) -> Condition | None:
        """Return a condition for recordings with a matching step; None where SQL cannot decide."""
        if isinstance(node, Term) and _hidden(node):
            return self._says(self._looks[id(node)])
        if isinstance(node, Term) and node.field in OF_RECORDING:
            return of_recording(node).condition
        if isinstance(node, (All, Some)) and not all(map(in_column, terms(node))):
            own = [part for part in node.inner if all(map(in_column, terms(part)))]
            others = [self._of_recordings(part) for part in node.inner if part not in own]
            # Terms in columns must hold for the same step: combine them.
            bounds = [self._of_recordings(type(node)(tuple(own))), *others] if own else others
            known = [bound for bound in bounds if bound is not None]
            if isinstance(node, All):
                return and_(true(), *known) if known else None
            return or_(false(), *known) if len(known) == len(bounds) else None
        bound = self._of_steps(node)
        return None if bound is None else _having(bound)

    def _without(self, node: Node) -> Condition | None:
        exact = _exact(node)
        return None if exact is None else not_(_having(exact))

    def _says(self, look: Wanted) -> Condition | None:
        """Return the condition that a recording's texts have a word, or are not yet indexed."""
        words = [word.lower().decode() for word in look.words() if b"\0" not in word]
        if not words:
            return None
        part = PARTS.index(look.name)
        said = and_(TEXTS.c.part == part, *(inside(TEXTS.c.body, word) for word in words))
        if look.name != "text":
            # JSON may write a letter as its number, which the search does not see.
            said = or_(said, and_(TEXTS.c.part == part, inside(TEXTS.c.body, "\\u")))
        known = select(TEXTS.c.recording).where(said)
        other = RECORDINGS.alias()
        unknown = select(other.c.key).where(other.c.project == self._project, other.c.worded != other.c.known)
        return RECORDINGS.c.key.in_(known.union_all(unknown))


class _Asked:
    """One recording, while it is asked."""

    def __init__(self, line: Facts, steps: Mapping[int, Step], details: Details) -> None:
        self.line = line
        self.steps = steps
        self.details = details


def _having(condition: Condition) -> Condition:
    return RECORDINGS.c.key.in_(select(STEPS.c.recording).where(condition))


def _exact(node: Node) -> Condition | None:
    """Return a condition true for exactly the matching steps; None where SQL cannot decide."""
    if isinstance(node, Term):
        bound = of_step(node) if in_column(node) else None
        return bound.condition if bound is not None and bound.exact else None
    if isinstance(node, Not):
        inner = _exact(node.inner)
        return None if inner is None else not_(func.coalesce(inner, false()))
    parts = [_exact(part) for part in node.inner]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return and_(true(), *known) if isinstance(node, All) else or_(false(), *known)


def _of_head(node: Node) -> Condition | None:
    """Return a condition from the terms about recordings; None where it cannot be decided."""
    if isinstance(node, Term):
        return of_recording(node).condition
    if isinstance(node, Not):
        return None
    bounds = [_of_head(part) for part in node.inner]
    known = [bound for bound in bounds if bound is not None]
    if isinstance(node, All):
        return and_(true(), *known)
    return or_(false(), *known) if len(known) == len(bounds) else None


def _hidden(term: Term) -> bool:
    """Return whether a term must be searched for in texts, arguments or outputs."""
    return not in_column(term) and term.field not in OF_RECORDING


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
