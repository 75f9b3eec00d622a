"""The Postgres dialect of filters: the conditions of comparisons, exact or not.

Python defines the meaning of a filter (`model.filter`), its patterns and the letters that differ only in case. So SQL
finds the rows for which a term may hold, with an index if there is one, and the caller checks them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Double, and_, cast, false, func, literal, not_, or_, select, true

from reenact.core.model.plain import compact
from reenact.core.query.filter import literal as literal_of
from reenact.core.query.grammar import Node, Term
from reenact.core.store.compiler import WORDS, Bound, in_column, is_number
from reenact.core.store.needles import Needles
from reenact.team.columns import fit
from reenact.team.tables import ODD, RECORDINGS, STEPS, folded, lowered

Condition = ColumnElement[bool]

_SAME = str.maketrans(*ODD)
_LETTERS = re.compile(r"[\x01-\x7f]")
_WHOLE = 1 << 53
_SPECIAL = re.compile(r"[\\%_]")
_COMPARED: dict[str, Callable[[Any, Any], Condition]] = {
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
_NUMBERS: dict[str, ColumnElement[Any]] = {
    "step": STEPS.c.number,
    "tokens": STEPS.c.input_tokens + STEPS.c.output_tokens,
    **{name: STEPS.c[name] for name in ("input_tokens", "output_tokens", "cost", "duration")},
}


class StepDialect:
    """The conditions on a step's columns."""

    def takes(self, node: Node) -> bool:
        """Return True for comparisons."""
        return False

    def bound(self, node: Node) -> Bound[Condition] | None:
        """Return the condition of a comparison; None if it concerns no column."""
        assert isinstance(node, Term)
        return of_step(node) if in_column(node) else None

    def every(self, conditions: Sequence[Condition]) -> Condition:
        """Join conditions by AND."""
        return and_(true(), *conditions)

    def either(self, conditions: Sequence[Condition]) -> Condition:
        """Join conditions by OR."""
        return or_(false(), *conditions)

    def negated(self, condition: Condition) -> Condition:
        """Negate a condition; null becomes true."""
        return not_(func.coalesce(condition, false()))


STEP = StepDialect()


def of_step(term: Term) -> Bound[Condition]:
    """Return the condition of a term about columns of a step."""
    if term.field == "label":
        # `model:gpt-4o` means the model of a call of any kind.
        kind, _, pattern = term.value.partition(":")
        labelled = _globbed(STEPS.c.label, term.value)
        if not _globbed_can_be(kind, "model"):
            return Bound(labelled)
        rest = pattern if kind.lower() == "model" else "*"
        return Bound(or_(labelled, _globbed(STEPS.c.model, rest)))
    if term.field == "calls":
        return Bound(_calls(term))
    if term.field in WORDS:
        return _text(STEPS.c[term.field], term)
    return _number(_NUMBERS[term.field], term)


def of_recording(term: Term) -> Bound[Condition]:
    """Return the condition of a term about the recording itself."""
    if term.field != "tag":
        return _text(RECORDINGS.c[term.field], term)
    tag = func.unnest(RECORDINGS.c.tags).column_valued("tag")
    found = _text(tag, term)
    return Bound(select(literal(1)).where(found.condition).exists(), found.exact)


def inside(text: ColumnElement[Any], word: str) -> Condition:
    """Return the condition that a text contains a word exactly."""
    return text.like(f"%{_plain(word)}%", escape="\\")


# -- by the kinds of columns ---------------------------------------------------------------------------------


def _text(column: ColumnElement[Any], term: Term) -> Bound[Condition]:
    op, value = term.op, term.value
    if op == "is":
        return Bound(column != "" if value is True else column == value, exact=True)
    if op in ("==", "!="):
        return Bound(_COMPARED[op](column, fit(compact(value))), exact=True)
    if op == ":":
        return Bound(_globbed(column, value))
    if op in ("~", "!~"):
        bare = literal_of(term)
        if bare is not None and b"\0" not in bare:
            found = inside(lowered(column), bare.decode())
            return Bound(found if op == "~" else ~found, exact=True)
        word = Needles(term).word
        return Bound(inside(lowered(column), word.decode()) if word else column.is_not(None))
    # Texts are compared by order, for which an index would not help.
    return Bound(column.is_not(None) if isinstance(value, str) else false())


def _number(column: ColumnElement[Any], term: Term) -> Bound[Condition]:
    op, value = term.op, term.value
    if op not in _COMPARED or not is_number(value):
        return Bound(column.is_not(None))
    if isinstance(value, float):
        return Bound(_COMPARED[op](cast(column, Double), value))
    return Bound(_COMPARED[op](column, value), exact=abs(value) < _WHOLE)


def _calls(term: Term) -> Condition:
    column = STEPS.c.calls
    if term.op == "==" and isinstance(term.value, str):
        # The list is stored as JSON.
        return inside(column, orjson.dumps(term.value.encode(errors="replace").decode()).decode())
    word = Needles(term).word
    return inside(lowered(column), word.decode()) if word else column.is_not(None)


def _globbed(column: ColumnElement[Any], pattern: str) -> Condition:
    """Translate a pattern with `*` and `?`, without regard to case.

    Letters outside of ASCII match anything.
    """
    same = pattern.translate(_SAME).lower()
    if same.isascii() and not re.search(r"[*?\0]", same):
        return folded(column) == same
    parts = [
        {"*": "%", "?": "_"}.get(letter, _plain(letter)) if _LETTERS.match(letter) else "%" for letter in same
    ]
    return folded(column).like("".join(parts), escape="\\")


def _globbed_can_be(pattern: str, text: str) -> bool:
    """Return True if the text before a label's colon may match a word."""
    return bool(set(pattern) & set("*?")) or pattern.translate(_SAME).lower() == text


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
