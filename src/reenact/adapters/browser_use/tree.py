"""A page's tree of elements as bytes, and back.

It is a graph (children know their parents), deeper than any codec would follow it, and of thousands of small objects:
each becomes a row of its class's table, and refers to others by their number. Compressed JSON; reading it back fills
in instances of browser-use's own dataclasses and runs none of their code.
"""

from __future__ import annotations

import dataclasses
import zlib
from enum import Enum
from types import ModuleType
from typing import Any

import orjson

from reenact.errors import RecordingError

_LEVEL = 3
"""Of zlib: the tree of a page of 2,000 elements takes a sixteenth of its JSON, in 20 ms."""

_PLAIN = (str, int, float, bool, type(None))


class _Table:
    """The rows of one class."""

    def __init__(self, kind: type) -> None:
        self.fields = [field.name for field in dataclasses.fields(kind)]
        self.numbers: list[int] = []
        self.rows: list[list[Any]] = []


class _Writer:
    def __init__(self, views: ModuleType) -> None:
        self._views = views
        self._numbers: dict[int, int] = {}
        self._waiting: list[Any] = []
        self.tables: dict[str, _Table] = {}

    def write(self, root: Any) -> Any:
        """The root's own form; whatever it leads to is in the tables."""
        form = self._form(root)
        done = 0
        while done < len(self._waiting):
            self._row(self._waiting[done], done)
            done += 1
        return form

    def _row(self, item: Any, number: int) -> None:
        name = type(item).__name__
        table = self.tables.get(name)
        if table is None:
            table = self.tables[name] = _Table(type(item))
        table.numbers.append(number)
        table.rows.append([self._form(getattr(item, field)) for field in table.fields])

    def _form(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is list:
            return [self._form(item) for item in value]
        if kind is dict:
            # Most are an element's attributes.
            return {"%": [[self._form(key), self._form(item)] for key, item in value.items()]}
        if isinstance(value, Enum):
            return {"=": [kind.__name__, value.name]}
        if kind in {tuple, set, frozenset}:
            return {kind.__name__: [self._form(item) for item in value]}
        if dataclasses.is_dataclass(kind) and getattr(self._views, kind.__name__, None) is kind:
            number = self._numbers.get(id(value))
            if number is None:
                number = self._numbers[id(value)] = len(self._waiting)
                self._waiting.append(value)
            return {"#": number}
        raise TypeError(f"a page's tree holds a {kind.__qualname__}")


def pack(root: Any, views: ModuleType) -> bytes:
    """A tree as bytes. Raises TypeError where it holds what only its own version of browser-use would know.

    Args:
        root: A value of `views`' dataclasses.
        views: The module that has them, `browser_use.dom.views`.
    """
    writer = _Writer(views)
    form = writer.write(root)
    tables = {
        name: {"fields": table.fields, "numbers": table.numbers, "rows": table.rows}
        for name, table in writer.tables.items()
    }
    return zlib.compress(orjson.dumps({"root": form, "tables": tables}), _LEVEL)


def unpack(data: bytes, views: ModuleType) -> Any:
    """The tree again: new objects, equal in every field, that refer to each other as the recorded ones did."""
    try:
        whole = orjson.loads(zlib.decompress(data))
        reader = _Reader(whole["tables"], views)
        return reader.read(whole["root"])
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise RecordingError(
            f"a recorded page cannot be read by this version of browser-use: {error}"
        ) from error


class _Reader:
    def __init__(self, tables: dict[str, Any], views: ModuleType) -> None:
        self._views = views
        self._items: dict[int, Any] = {}
        kinds = {name: self._kind(name) for name in tables}
        for name, table in tables.items():
            for number in table["numbers"]:
                self._items[number] = object.__new__(kinds[name])
        for name, table in tables.items():
            defaults = _defaults(kinds[name])
            for number, row in zip(table["numbers"], table["rows"], strict=True):
                self._fill(self._items[number], dict(zip(table["fields"], row, strict=True)), defaults)

    def _kind(self, name: str) -> type:
        kind = getattr(self._views, name, None)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return kind
        raise KeyError(f"it has no {name}")

    def _fill(self, item: Any, row: dict[str, Any], defaults: dict[str, dataclasses.Field[Any]]) -> None:
        for name, field in defaults.items():
            if name in row:
                value = self.read(row[name])
            elif field.default is not dataclasses.MISSING:
                value = field.default
            elif field.default_factory is not dataclasses.MISSING:
                value = field.default_factory()
            else:
                raise KeyError(f"{type(item).__name__}.{name} is not recorded")
            object.__setattr__(item, name, value)

    def read(self, form: Any) -> Any:
        kind = type(form)
        if kind is list:
            return [self.read(item) for item in form]
        if kind is not dict:
            return form
        ((tag, value),) = form.items()
        if tag == "#":
            return self._items[value]
        if tag == "%":
            return {self.read(key): self.read(item) for key, item in value}
        if tag == "=":
            enum = getattr(self._views, value[0])
            if not issubclass(enum, Enum):
                raise TypeError(f"{value[0]} is no enumeration")
            return enum[value[1]]
        return _COLLECTIONS[tag](self.read(item) for item in value)


_COLLECTIONS: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def _defaults(kind: type) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(kind)}
