"""Compile a filter to the conditions of a database, and search where these do not decide.

A database has a dialect: its condition for one comparison, and for conditions joined and negated. The rest is here,
once: which part of a filter the database decides, in which order the other parts are looked for, and the steps that
match. So the answer is the same for the index of a folder (`query`) and for a team's Postgres (`reenact.team.plan`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from reenact.core.dataclass import dataclass
from reenact.core.query.filter import Facts, holds
from reenact.core.query.grammar import OF_RECORDING, All, Node, Not, Some, Term, terms
from reenact.core.store.details import Details, WantedTerm

WORDS = ("kind", "label", "ended", "scope", "model", "calls", "error")
"""The fields of a step that are kept in a column as words."""

NUMERIC = ("step", "tokens", "input_tokens", "output_tokens", "cost", "duration")
"""The fields of a step that are kept in columns as numbers."""

C = TypeVar("C")

Decide: TypeAlias = Callable[[Node, set[int]], "set[int] | None"]
"""Returns the steps that match a part of a filter, or None if it is not completely decided."""


@dataclass(frozen=True, slots=True)
class Bound(Generic[C]):
    """The condition of a part of a filter.

    Attributes:
        condition: True wherever the part holds; elsewhere false, null or, unless it is exact, true.
        exact: The condition is true only where the part holds.
    """

    condition: C
    exact: bool = False


class Dialect(Protocol[C]):
    """The conditions of a database."""

    def takes(self, node: Node) -> bool:
        """Return True for a part that is given to `bound` as a whole. Comparisons always are."""

    def bound(self, node: Node) -> Bound[C] | None:
        """Return the condition of such a part; None if the database has none."""

    def every(self, conditions: Sequence[C]) -> C:
        """Return the condition that all of them hold."""

    def either(self, conditions: Sequence[C]) -> C:
        """Return the condition that one of them holds."""

    def negated(self, condition: C) -> C:
        """Return the condition that an exact one does not hold: true also where that is null."""


def bound(node: Node, dialect: Dialect[C]) -> Bound[C] | None:
    """Return the condition of the steps that may match a part of a filter, or None."""
    if isinstance(node, Term) or dialect.takes(node):
        return dialect.bound(node)
    if isinstance(node, Not):
        inner = bound(node.inner, dialect)
        if inner is None or not inner.exact:
            return None
        return Bound(dialect.negated(inner.condition), exact=True)
    bounds = [bound(part, dialect) for part in node.inner]
    known = [one for one in bounds if one is not None]
    conditions = [one.condition for one in known]
    whole = len(known) == len(bounds)
    exact = whole and all(one.exact for one in known)
    if isinstance(node, Some):
        return Bound(dialect.either(conditions), exact) if whole else None
    return Bound(dialect.every(conditions), exact) if conditions or whole else None


def arranged(node: Node) -> Node:
    """Return the same condition with the parts that columns decide first, and as one part.

    The other parts are then searched for in fewer steps.
    """
    if isinstance(node, Term) or of_columns(node):
        return node
    if isinstance(node, Not):
        return Not(arranged(node.inner))
    easy = tuple(part for part in node.inner if of_columns(part))
    hard = tuple(arranged(part) for part in node.inner if not of_columns(part))
    kind = type(node)
    return kind((kind(easy), *hard) if easy else hard)


class Compiled(Generic[C]):
    """A filter's condition on steps, compiled for one database.

    Attributes:
        node: The condition, arranged for the search.
        bound: The database's condition for the steps that may match, or None.
        parts: The blocks to search (`details.PARTS`), in the order of the search.
    """

    def __init__(self, node: Node, dialect: Dialect[C]) -> None:
        self.node = arranged(node)
        self.bound = bound(self.node, dialect)
        found = terms(self.node)
        self.looks = {id(term): WantedTerm(term) for term in found if is_hidden(term)}
        self.parts = tuple(dict.fromkeys(look.name for look in self.looks.values()))
        self._tests = {id(term): holds(term) for term in found if term.field in OF_RECORDING}

    def steps(
        self, recording: Facts, numbers: Collection[int], decide: Decide, details: Details
    ) -> list[int]:
        """Return the matching steps of one recording.

        Args:
            recording: Its summary.
            numbers: The steps for which `bound` holds.
            decide: Decides what columns decide.
            details: The values that have no column.
        """

        def found(node: Node, among: set[int]) -> set[int] | None:
            decided = decide(node, among)
            if decided is not None or not isinstance(node, Term):
                return decided
            if node.field in OF_RECORDING:
                return among if self._tests[id(node)](recording.get(node.field)) else set()
            return details.holding(self.looks[id(node)], among)

        return sorted(_matching(self.node, set(numbers), found))


def _matching(node: Node, among: set[int], decide: Decide) -> set[int]:
    if not among:
        return among
    decided = decide(node, among)
    if decided is not None:
        return decided
    if isinstance(node, Not):
        return among - _matching(node.inner, among, decide)
    assert not isinstance(node, Term)
    if isinstance(node, All):
        for part in node.inner:
            among = _matching(part, among, decide)
        return among
    found: set[int] = set()
    for part in node.inner:
        found |= _matching(part, among - found, decide)
    return found


def in_column(term: Term) -> bool:
    """Return True if columns of a step are enough to decide a comparison."""
    return term.field in WORDS or term.field in NUMERIC


def of_columns(node: Node) -> bool:
    """Return True if columns of a step are enough to decide a part of a filter."""
    return all(map(in_column, terms(node)))


def is_hidden(term: Term) -> bool:
    """Return True if a comparison is decided by a search in texts, arguments or outputs."""
    return not in_column(term) and term.field not in OF_RECORDING


def is_number(value: Any) -> bool:
    """Return True for a number that a database compares as Python does."""
    # Numbers that SQLite cannot hold are compared by Python; in both, true is 1.
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) < 2**63
        and math.isfinite(value)
    )
