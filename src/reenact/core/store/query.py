"""The SQLite dialect of filters, for the index of a folder.

Each word of a column is tested once, not each step, so its conditions are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import orjson

from reenact.core.query.filter import Facts, glob, holds
from reenact.core.query.grammar import Node, Not, Term
from reenact.core.store.compiler import WORDS, Bound, Compiled, bound, in_column, is_number, of_columns
from reenact.core.store.details import Details
from reenact.core.store.fact_numbers import sought

Condition: TypeAlias = tuple[str, list[Any]]
"""An SQL expression that is 0 or 1, and its values."""

NUMBERS = {
    "step": "number",
    "tokens": "(input_tokens + output_tokens)",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    "duration": "duration",
}
_SQL = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_FEW = 50


class SqlDatabase(Protocol):
    """The database, as far as conditions need it."""

    def words(self, column: str) -> Iterable[tuple[int, str]]:
        """Yield the words of a column, with their numbers."""

    def function(self, test: Callable[[Any], bool]) -> str:
        """Return the name of a test of one value as an SQL function."""


class QueryPlan:
    """The plan that finds the steps which match a node of a filter.

    Attributes:
        conditions: The conditions on columns, for each step that `within` selects.
        within: A condition that selects all steps which may match.
        exact: `within` alone is the whole answer.
        first: The block to search first, or None.
        possible: A condition that selects all recordings which may match, by their facts, or None.
    """

    def __init__(self, node: Node, columns: SqlDatabase) -> None:
        dialect = SqliteDialect(columns)
        self._compiled = Compiled(node, dialect)
        found = self._compiled.bound
        self.within: Condition = ("1", []) if found is None else found.condition
        self.exact = found is not None and found.exact
        self.first = next(iter(self._compiled.parts), None)
        of_facts = bound(node, FactDialect())
        self.possible = None if of_facts is None else of_facts.condition
        self.conditions: list[Condition] = []
        self._places: dict[int, int] = {}
        self._number(self._compiled.node, dialect)

    def _number(self, node: Node, dialect: SqliteDialect) -> None:
        """Give each part that SQL decides, as large as possible, a place among the conditions."""
        if of_columns(node):
            found = bound(node, dialect)
            assert found is not None
            self._places[id(node)] = len(self.conditions)
            self.conditions.append(found.condition)
        elif not isinstance(node, Term):
            for part in (node.inner,) if isinstance(node, Not) else node.inner:
                self._number(part, dialect)

    def steps(
        self,
        recording: Facts,
        numbers: Collection[int],
        said: Mapping[int, Callable[[], set[int]]],
        details: Details,
    ) -> list[int]:
        """Return the matching steps of one recording.

        Args:
            recording: Its summary.
            numbers: The steps that `within` selects.
            said: By the places of `conditions`: the steps that meet the condition.
            details: The values that have no column.
        """

        def decide(node: Node, among: set[int]) -> set[int] | None:
            place = self._places.get(id(node))
            return None if place is None else among & said[place]()

        return self._compiled.steps(recording, numbers, decide, details)


class SqliteDialect:
    """The conditions of SQLite: on the numbers of words, on numbers, and by Python functions."""

    def __init__(self, columns: SqlDatabase) -> None:
        self._columns = columns
        self._known: dict[int, Bound[Condition]] = {}

    def takes(self, node: Node) -> bool:
        """Take comparisons alone."""
        return False

    def bound(self, node: Node) -> Bound[Condition] | None:
        """Return the condition of a comparison; None if it concerns no column."""
        assert isinstance(node, Term)
        if not in_column(node):
            return None
        if id(node) not in self._known:
            self._known[id(node)] = Bound(self._term(node), exact=True)
        return self._known[id(node)]

    def every(self, conditions: Sequence[Condition]) -> Condition:
        """Join conditions by AND."""
        return _joined(conditions, "AND")

    def either(self, conditions: Sequence[Condition]) -> Condition:
        """Join conditions by OR."""
        return _joined(conditions, "OR")

    def negated(self, condition: Condition) -> Condition:
        """Return the negation of a condition; none is ever null."""
        return f"NOT {condition[0]}", condition[1]

    def _term(self, term: Term) -> Condition:
        if term.field == "label":
            return self._label(term.value)
        test = holds(term)
        if term.field in WORDS:
            read: Callable[[str], Any] = orjson.loads if term.field == "calls" else str
            return _among(
                term.field, [id for id, word in self._columns.words(term.field) if test(read(word))]
            )
        column = NUMBERS[term.field]
        if term.op in _SQL and is_number(term.value):
            return f"coalesce({column} {_SQL[term.op]} ?, 0)", [term.value]
        return f"{self._columns.function(test)}({column})", []

    def _label(self, wanted: str) -> Condition:
        fits = glob(wanted).fullmatch
        labels = [id for id, word in self._columns.words("label") if fits(word)]
        models = [id for id, word in self._columns.words("model") if fits(f"model:{word}")]
        return _joined([_among("label", labels), _among("model", models)], "OR")


class FactDialect:
    """The conditions on recordings: they have one of the facts that a comparison needs."""

    def takes(self, node: Node) -> bool:
        """Take comparisons alone."""
        return False

    def bound(self, node: Node) -> Bound[Condition] | None:
        """Return the condition of a comparison; None if no facts decide it."""
        assert isinstance(node, Term)
        facts = sought(node)
        if facts is None:
            return None
        listed = "(SELECT value FROM json_each(?))"
        return Bound(
            (
                f"key IN (SELECT recording FROM facts WHERE fact IN {listed})",  # noqa: S608
                [orjson.dumps(facts).decode()],
            )
        )

    def every(self, conditions: Sequence[Condition]) -> Condition:
        """Join conditions by AND."""
        return _joined(conditions, "AND")

    def either(self, conditions: Sequence[Condition]) -> Condition:
        """Join conditions by OR."""
        return _joined(conditions, "OR")

    def negated(self, condition: Condition) -> Condition:
        """Raise: no condition is exact, and only exact ones are negated."""
        raise AssertionError(condition)


def _among(column: str, ids: list[int]) -> Condition:
    if len(ids) <= _FEW:
        return f"coalesce({column} IN ({', '.join(map(str, ids))}), 0)", []
    listed = "(SELECT value FROM json_each(?))"
    return f"coalesce({column} IN {listed}, 0)", [orjson.dumps(ids).decode()]


def _joined(conditions: Sequence[Condition], word: str) -> Condition:
    if not conditions:
        return "1" if word == "AND" else "0", []
    values = [value for _, some in conditions for value in some]
    return f"({f' {word} '.join(text for text, _ in conditions)})", values
