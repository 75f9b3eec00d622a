"""A page's tree of elements as bytes, and back.

It is a graph (children know their parents) of tens of thousands of small objects, deeper than a codec follows. Each
class becomes a table, column by column, and objects refer to each other by number. The tables are compressed JSON,
except for longer texts: they are uncompressed beside it, so that secrets in them are found and replaced. Reading it
back fills in instances of browser-use's own dataclasses and runs none of their code.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterable, Sequence
from enum import Enum
from operator import attrgetter
from types import ModuleType
from typing import Any

import orjson

from reenact.errors import RecordingError

_LEVEL = 1
"""The level of zlib: a higher one saves a tenth of the bytes, and takes three times as long."""

_PLAIN = {str, int, float, bool, type(None)}
_OPEN = 8
"""The least length of texts kept uncompressed. No secret with a known form is shorter."""

_UNKEPT = {"uuid"}
"""Fields that are random in every object and unused: a quarter of all bytes."""


class _Ref(int):
    """The number of an object."""


_REFS = {_Ref, type(None)}


class _NodeTable:
    """The objects of one class: their numbers, and their fields' values side by side."""

    def __init__(self, kind: type) -> None:
        self.fields = [field.name for field in dataclasses.fields(kind) if field.name not in _UNKEPT]
        self.numbers: list[int] = []
        self.columns: list[list[Any]] = [[] for _ in self.fields]
        get = attrgetter(*self.fields)
        self.get = get if len(self.fields) > 1 else lambda item: (get(item),)

    def tree(self) -> dict[str, Any]:
        """Return the table as it is written."""
        columns = [_folded(column) for column in self.columns]
        return {"fields": self.fields, "numbers": self.numbers, "columns": columns}


def _folded(column: list[Any]) -> dict[str, Any]:
    kinds = set(map(type, column))
    if len(kinds) == 1 and kinds <= _PLAIN and column.count(column[0]) == len(column):
        return {"all": column[0]}
    if kinds <= _REFS:
        return {"refs": column}
    return {
        "each": [{"#": form} if type(form) is _Ref else form for form in column] if _Ref in kinds else column
    }


class _Writer:
    """Writes a graph, the objects of one class at a time.

    Args:
        views: The module whose dataclasses it knows.
    """

    def __init__(self, views: ModuleType) -> None:
        self._views = views
        self._numbers: dict[int, _Ref] = {}
        self._waiting: dict[type, list[Any]] = {}
        self._kinds: dict[type, bool] = {}
        self._texts: dict[tuple[Any, ...], int] = {}
        self._places: dict[str, dict[str, int]] = {}
        self.texts: list[list[Any]] = []
        self.words: list[str] = []
        self.tables: dict[str, _NodeTable] = {}

    def write(self, root: Any) -> Any:
        """Return the root's own form; all objects that it refers to are in the tables."""
        form = self._form(root)
        while self._waiting:
            kind, items = self._waiting.popitem()
            table = self.tables.get(kind.__name__)
            if table is None:
                table = self.tables[kind.__name__] = _NodeTable(kind)
            table.numbers += [self._numbers[id(item)] for item in items]
            for column, values in zip(table.columns, zip(*map(table.get, items), strict=True), strict=True):
                column.extend(self._forms(values))
        return {"#": form} if type(form) is _Ref else form

    def _forms(self, values: Sequence[Any]) -> Iterable[Any]:
        kinds = set(map(type, values))
        if kinds <= _PLAIN:
            return map(self._text, values) if str in kinds else values
        kinds.discard(type(None))
        if len(kinds) == 1 and self._known(kind := kinds.pop()):
            # Fast path for most columns and lists: three times as fast as one value at a time.
            numbers = self._numbers
            return [
                None if value is None else numbers.get(id(value)) or self._ref(value, kind)
                for value in values
            ]
        return map(self._form, values)

    def _text(self, value: Any) -> Any:
        if type(value) is not str or len(value) < _OPEN:
            return value
        place = self._places.get(value)
        if place is None:
            place = self._places[value] = {"w": len(self.words)}
            self.words.append(value)
        return place

    def _ref(self, value: Any, kind: type) -> _Ref:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = _Ref(len(self._numbers))
            self._waiting.setdefault(kind, []).append(value)
        return number

    def _known(self, kind: type) -> bool:
        known = self._kinds.get(kind)
        if known is None:
            ours = getattr(self._views, kind.__name__, None) is kind
            known = self._kinds[kind] = ours and dataclasses.is_dataclass(kind)
        return known

    def _form(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return self._text(value)
        if self._known(kind):
            return self._ref(value, kind)
        if kind is list:
            return self._list(value)
        if kind is dict:
            return self._dict(value)
        if isinstance(value, Enum):
            return {"=": [kind.__name__, value.name]}
        if kind in {tuple, set, frozenset}:
            return {kind.__name__: self._items(value)}
        raise TypeError(f"a page's tree contains a {kind.__qualname__}")

    def _list(self, items: list[Any]) -> Any:
        forms = list(self._forms(items))
        if forms and set(map(type, forms)) == {_Ref}:
            return {"##": forms}
        return [{"#": form} if type(form) is _Ref else form for form in forms]

    def _items(self, items: Iterable[Any]) -> list[Any]:
        forms = map(self._form, items)
        return [{"#": form} if type(form) is _Ref else form for form in forms]

    def _dict(self, value: dict[Any, Any]) -> Any:
        if not {*map(type, value), *map(type, value.values())} <= {str}:
            return {"%": [self._items(pair) for pair in value.items()]}
        # Many elements share their attributes and styles.
        key = tuple(value.items())
        number = self._texts.get(key)
        if number is None:
            number = self._texts[key] = len(self.texts)
            self.texts.append([self._text(text) for text in (*value, *value.values())])
        return {"@": number}


def pack(root: Any, views: ModuleType) -> tuple[bytes, list[str]]:
    """Return a tree as bytes, and the texts in it.

    Raises TypeError for a class that only the installed version of browser-use has.

    Args:
        root: A value of `views`' dataclasses.
        views: The module that has them, `browser_use.dom.views`.
    """
    writer = _Writer(views)
    form = writer.write(root)
    tables = {name: table.tree() for name, table in writer.tables.items()}
    data = orjson.dumps({"root": form, "texts": writer.texts, "tables": tables})
    return zlib.compress(data, _LEVEL), writer.words


def unpack(data: bytes, words: list[str], views: ModuleType) -> Any:
    """Return the tree again: new objects, equal in every field but their random ids.

    Raises RecordingError.
    """
    try:
        whole = orjson.loads(zlib.decompress(data))
        return _Reader(whole["tables"], whole["texts"], words, views).read(whole["root"])
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise RecordingError(
            f"a recorded page cannot be read by this version of browser-use: {error}"
        ) from error


class _Reader:
    """Fills in the objects of the tables.

    Args:
        tables: As they were written.
        texts: The shared dicts of texts: keys, then values.
        words: The uncompressed texts.
        views: The module whose dataclasses they are.
    """

    def __init__(
        self, tables: dict[str, Any], texts: list[list[Any]], words: list[str], views: ModuleType
    ) -> None:
        self._views = views
        self._words = words
        self._texts = []
        for forms in texts:
            both = [self.read(form) for form in forms]
            self._texts.append(dict(zip(both[: len(both) // 2], both[len(both) // 2 :], strict=True)))
        self._items: dict[int, Any] = {}
        kinds = {name: self._kind(name) for name in tables}
        for name, table in tables.items():
            kind = kinds[name]
            self._items.update((number, object.__new__(kind)) for number in table["numbers"])
        for name, table in tables.items():
            items = [self._items[number] for number in table["numbers"]]
            columns = dict(zip(table["fields"], table["columns"], strict=True))
            for field in dataclasses.fields(kinds[name]):
                _fill(field, items, self._column(field, columns.get(field.name), len(items)))

    def _kind(self, name: str) -> type:
        kind = getattr(self._views, name, None)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return kind
        raise KeyError(f"it has no {name}")

    def _column(
        self, field: dataclasses.Field[Any], column: dict[str, Any] | None, count: int
    ) -> Sequence[Any]:
        if column is None:
            if field.default_factory is not dataclasses.MISSING:
                return [field.default_factory() for _ in range(count)]
            if field.default is dataclasses.MISSING:
                raise KeyError(f"{field.name} is not recorded")
            return [field.default] * count
        ((how, given),) = column.items()
        if how == "all":
            return [given] * count
        if how == "refs":
            return [None if number is None else self._items[number] for number in given]
        return given if set(map(type, given)) <= _PLAIN else [self.read(form) for form in given]

    def read(self, form: Any) -> Any:
        """Return the value of a form."""
        kind = type(form)
        if kind is list:
            return [self.read(item) for item in form]
        if kind is not dict:
            return form
        ((tag, value),) = form.items()
        if tag == "w":
            return self._words[value]
        if tag == "#":
            return self._items[value]
        if tag == "##":
            return [self._items[number] for number in value]
        if tag == "@":
            return self._texts[value].copy()
        if tag == "%":
            return {self.read(key): self.read(item) for key, item in value}
        if tag == "=":
            return self._enum(*value)
        return _COLLECTIONS[tag](self.read(item) for item in value)

    def _enum(self, kind: str, name: str) -> Enum:
        enum = getattr(self._views, kind)
        if not issubclass(enum, Enum):
            raise TypeError(f"{kind} is no enumeration")
        found: Enum = enum[name]
        return found


_COLLECTIONS: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def _fill(field: dataclasses.Field[Any], items: list[Any], values: Sequence[Any]) -> None:
    name, put = field.name, object.__setattr__
    for item, value in zip(items, values, strict=True):
        put(item, name, value)
