"""Compile a filter for the index: conditions on columns, and searches for the rest.

Both are exact: the result is the set of the steps that match the filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import orjson

from reenact.core.query.filter import Facts, glob, holds
from reenact.core.query.grammar import OF_RECORDING, All, Node, Not, Term, terms
from reenact.core.store.details import Details, Wanted

Condition: TypeAlias = tuple[str, list[Any]]
"""An SQL expression that is 0 or 1, and its values."""

WORDS = ("kind", "label", "ended", "scope", "model", "calls", "error")
"""The columns that hold a word's number; the words are in a table of their own."""

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


class Columns(Protocol):
    """The database, as far as conditions need it."""

    def words(self, column: str) -> Iterable[tuple[int, str]]:
        """Yield the words of a column, with their numbers."""

    def function(self, test: Callable[[Any], bool]) -> str:
        """A name under which SQL finds a test of one value."""


@dataclass(frozen=True, slots=True)
class Known:
    """A part answered by the condition of that place."""

    place: int


@dataclass(frozen=True, slots=True)
class Look:
    """A part answered by a search in texts, arguments or outputs."""

    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Head:
    """A part about the recording."""

    term: Term


@dataclass(frozen=True, slots=True)
class Without:
    """The negation of its inner part."""

    inner: Part


@dataclass(frozen=True, slots=True)
class Every:
    """Each of them holds."""

    inner: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of them holds."""

    inner: tuple[Part, ...]


Part: TypeAlias = Known | Look | Head | Without | Every | Either


class Plan:
    """The plan that finds the steps which match a node of a filter.

    Attributes:
        conditions: The conditions on columns, for each step that `within` selects.
        within: A condition that selects all steps which may match.
        exact: `within` alone is the whole answer.
        first: The block to search first, or None.
    """

    def __init__(self, node: Node, columns: Columns) -> None:
        self._columns = columns
        self.conditions: list[Condition] = []
        self._root = self._part(node)
        self.exact = isinstance(self._root, Known)
        self.first = _first(self._root)
        self.within = self._bound(self._root) or ("1", [])

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
        found = self._steps(self._root, set(numbers), _Asked(recording, said, details))
        return sorted(found)

    def _steps(self, part: Part, among: set[int], asked: _Asked) -> set[int]:
        if not among:
            return among
        if isinstance(part, Known):
            return among & asked.said[part.place]()
        if isinstance(part, Look):
            return asked.details.holding(part.wanted, among)
        if isinstance(part, Head):
            return among if holds(part.term)(asked.recording.get(part.term.field)) else set()
        if isinstance(part, Without):
            return among - self._steps(part.inner, among, asked)
        if isinstance(part, Every):
            for inner in part.inner:
                among = self._steps(inner, among, asked)
            return among
        found: set[int] = set()
        for inner in part.inner:
            found |= self._steps(inner, among - found, asked)
        return found

    # -- making it -------------------------------------------------------------------------------------------

    def _part(self, node: Node) -> Part:
        if all(_in_column(term) for term in terms(node)):
            self.conditions.append(self._condition(node))
            return Known(len(self.conditions) - 1)
        if isinstance(node, Term):
            return Head(node) if node.field in OF_RECORDING else Look(Wanted(node))
        if isinstance(node, Not):
            return Without(self._part(node.inner))
        # What has columns is asked for at once, and first: what is left to be looked for is less then.
        kind = type(node)
        easy = tuple(part for part in node.inner if all(_in_column(term) for term in terms(part)))
        hard = tuple(part for part in node.inner if part not in easy)
        parts = tuple(self._part(part) for part in ((kind(easy), *hard) if easy else hard))
        return Every(parts) if isinstance(node, All) else Either(parts)

    def _bound(self, part: Part) -> Condition | None:
        """Return a condition that holds at least where the part does, or None if there is none."""
        if isinstance(part, Known):
            return self.conditions[part.place]
        if isinstance(part, Without) and isinstance(part.inner, Known):
            return _negated(self.conditions[part.inner.place])
        if not isinstance(part, (Every, Either)):
            return None
        bounds = [self._bound(inner) for inner in part.inner]
        known = [bound for bound in bounds if bound is not None]
        if isinstance(part, Every):
            return _joined(known, "AND") if known else None
        return _joined(known, "OR") if len(known) == len(bounds) else None

    def _condition(self, node: Node) -> Condition:
        if isinstance(node, Term):
            return self._term(node)
        if isinstance(node, Not):
            return _negated(self._condition(node.inner))
        inner = [self._condition(part) for part in node.inner]
        return _joined(inner, "AND" if isinstance(node, All) else "OR")

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


@dataclass(frozen=True, slots=True)
class _Asked:
    recording: Facts
    said: Mapping[int, Callable[[], set[int]]]
    details: Details


def _first(part: Part) -> str | None:
    if isinstance(part, Look):
        return part.wanted.name
    inner: tuple[Part, ...] = ()
    if isinstance(part, Without):
        inner = (part.inner,)
    elif isinstance(part, (Every, Either)):
        inner = part.inner
    names = [_first(one) for one in inner]
    return next((name for name in names if name is not None), None)


def _in_column(term: Term) -> bool:
    return term.field in WORDS or term.field in NUMBERS


def is_number(value: Any) -> bool:
    """Return True for a number that a database compares as Python does."""
    # What SQLite has no room for is compared by Python; to both, true is 1.
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) < 2**63
        and math.isfinite(value)
    )


def _among(column: str, ids: list[int]) -> Condition:
    if len(ids) <= _FEW:
        return f"coalesce({column} IN ({', '.join(map(str, ids))}), 0)", []
    listed = "(SELECT value FROM json_each(?))"
    return f"coalesce({column} IN {listed}, 0)", [orjson.dumps(ids).decode()]


def _negated(condition: Condition) -> Condition:
    return f"NOT {condition[0]}", condition[1]


def _joined(conditions: list[Condition], word: str) -> Condition:
    if not conditions:
        return "1" if word == "AND" else "0", []
    values = [value for _, some in conditions for value in some]
    return f"({f' {word} '.join(text for text, _ in conditions)})", values
