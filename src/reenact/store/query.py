"""A filter as a condition on the index's rows: it lets through all rows that may be meant, and few others.

The filter itself has the last word on each row, so a condition may be too wide, never too narrow.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from reenact.model.grammar import All, Node, Not, Term

Condition: TypeAlias = tuple[str, list[Any]]

FIRST = re.compile(r"[A-Za-z0-9_]+(?![^.\[])")
"""The first key of a path, where it is a plain word."""

_NUMBERS = {
    "step": "number",
    "tokens": "(input_tokens + output_tokens)",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    "duration": "duration",
}
_TEXTS = {"kind": "kind", "model": "model", "error": "error", "scope": "scope"}
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_LITERAL = re.compile(r"""[\w .,:;@#%&/<>=!~-]+""", re.ASCII)


def condition(node: Node) -> Condition | None:
    """An SQL condition that holds at least where the filter does, or None where nothing can be said."""
    if isinstance(node, Term):
        return _term(node)
    if isinstance(node, Not):
        return None
    parts = [condition(part) for part in node.inner]
    known = [part for part in parts if part is not None]
    if isinstance(node, All):
        return _join(known, "AND") if known else None
    return _join(known, "OR") if known and len(known) == len(parts) else None


def _join(parts: list[Condition], word: str) -> Condition:
    return f"({f' {word} '.join(text for text, _ in parts)})", [
        value for _, values in parts for value in values
    ]


def _term(term: Term) -> Condition | None:
    field, op, value = term.field, term.op, term.value
    if op == "is":
        return ("model IS NOT NULL", []) if value is True else (f"{field} = ?", [value])
    if field == "label" and op == ":":
        like = _like(value)
        return "(kind || ':' || name LIKE ? ESCAPE '\\' OR 'model:' || model LIKE ? ESCAPE '\\')", [
            like,
            like,
        ]
    if field in _NUMBERS and op in ("<", "<=", ">", ">=") and isinstance(value, (int, float)):
        return f"{_NUMBERS[field]} {op} ?", [value]
    if field in _TEXTS and op in (":", "=="):
        return f"{_TEXTS[field]} LIKE ? ESCAPE '\\'", [_like(str(value), stars=op == ":")]
    literal = _literal(term)
    if literal is None:
        return None
    inside = [f"%{_like(literal, stars=False)}%"]
    if field == "text":
        places = " OR ".join(f"{place} LIKE ? ESCAPE '\\'" for place in ("text", "args", "output", "error"))
        return f"(NOT whole OR {places})", inside * 4
    if field == "error":
        return "error LIKE ? ESCAPE '\\'", inside
    if field == "calls":
        return "calls LIKE ? ESCAPE '\\'", inside
    root = field.partition(".")[0]
    if root not in ("args", "output"):
        return None
    first = FIRST.match(field.partition(".")[2]) if root == "args" else None
    if first is None:
        return f"({root} IS NULL OR {root} LIKE ? ESCAPE '\\')", inside
    named = f'%"{_like(first[0], stars=False)}"%'
    return "(args LIKE ? ESCAPE '\\' OR args IS NULL AND keys LIKE ? ESCAPE '\\')", [*inside, named]


def _literal(term: Term) -> str | None:
    """A text that must stand in the field as it is, or None."""
    value = term.value
    if not isinstance(value, str) or not value.isascii():
        return None
    if term.op == "~":
        # A text in quotes comes escaped; a pattern that is more than a text says nothing that LIKE understands.
        bare = re.sub(r"\\([^a-zA-Z0-9])", r"\1", value)
        if re.escape(bare) != value and _SPECIAL.search(value):
            return None
        value = bare
    elif term.op != "==":
        return None
    return value if _LITERAL.fullmatch(value) else None


def _like(pattern: str, *, stars: bool = True) -> str:
    # LIKE knows upper and lower case of ASCII only: any other letter may be any letter.
    letters = {"*": "%", "?": "_"} if stars else {}
    escaped = {"%": "\\%", "_": "\\_", "\\": "\\\\"}
    return "".join(letters.get(c) or escaped.get(c) or (c if c.isascii() else "_") for c in pattern)
