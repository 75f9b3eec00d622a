"""Outlines of arguments and outputs: short values whole, long ones replaced by a mark.

An index keeps outlines instead of whole values, and answers from them nearly all conditions on a part of a value.
If a path leads into a mark, the recording itself must be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final, TypeAlias

from reenact.core.model.plain import compact, parsed

MARK = "\0cut"
"""The key of an omitted part; its value is the outline of a JSON text, or null."""

_TEXT = 1000
_SIZE = 4000
_FEW = 20


class Missing(Enum):
    """The answer of an outline that lacks the value."""

    CUT = "cut"


CUT: Final = Missing.CUT
Parse: TypeAlias = Callable[[Any], Any]


def outline(value: Any, parse: Parse = parsed) -> Any:
    """Return the outline of a plain value.

    Args:
        value: Plain JSON.
        parse: Parses the JSON in a long text.
    """
    if (
        isinstance(value, dict)
        and len(value) <= _FEW
        and len(text := compact(value)) <= _TEXT
        and MARK[1:] not in text
    ):
        # Most values are short as a whole, which is a fast check.
        return value
    return _Outline(parse).of(value)


def outline_args(args: dict[str, Any], parse: Parse = parsed) -> dict[str, Any]:
    """Return the outline of an effect's arguments, each by itself, with all names but the mark."""
    return {name: None if name == MARK else outline(value, parse) for name, value in args.items()}


class _Outline:
    def __init__(self, parse: Parse) -> None:
        self._parse = parse
        self._left = _SIZE

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        self._left -= 8
        if isinstance(value, dict):
            return self._members(value)
        if isinstance(value, list):
            items = []
            for item in value:
                if self._left <= 0:
                    return {MARK: None}
                items.append(self.of(item))
            return items
        return value

    def _members(self, value: dict[Any, Any]) -> dict[Any, Any]:
        kept: dict[Any, Any] = {}
        for key, item in value.items():
            self._left -= len(key) if isinstance(key, str) else 8
            if self._left <= 0 or key == MARK:
                return {**kept, MARK: None}
            kept[key] = self.of(item)
        return kept

    def _text(self, value: str) -> Any:
        if len(value) <= min(_TEXT, self._left):
            self._left -= len(value)
            return value
        if value[:1] in ("{", "["):
            inside = self._parse(value)
            if isinstance(inside, (dict, list)):
                return {MARK: self.of(inside)}
        return {MARK: None}


def member(value: Any, key: str) -> Any:
    """Return the member at one key of a path, or None."""
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list) and key.lstrip("-").isdigit():
        place = int(key)
        return value[place] if -len(value) <= place < len(value) else None
    return None


def part(kept: Any, keys: Iterable[str]) -> Any:
    """Return the outline at a path of the original value, as `lookup` does, or CUT."""
    for key in keys:
        kept = parsed(kept)
        while isinstance(kept, dict) and MARK in kept and (key not in kept or key == MARK):
            kept = kept[MARK]
            if kept is None:
                return CUT
        kept = member(kept, key)
    return CUT if _has_mark(kept) else kept


def whole(kept: Any) -> str | Missing | None:
    """Return the outlined value as text, None if there is none, or CUT."""
    return CUT if _has_mark(kept) else None if kept is None else compact(kept)


def _has_mark(value: Any) -> bool:
    if isinstance(value, dict):
        return MARK in value or any(map(_has_mark, value.values()))
    return isinstance(value, list) and any(map(_has_mark, value))
