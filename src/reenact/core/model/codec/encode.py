"""Values as trees."""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import marshal
import math
import pathlib
import reprlib
import sys
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import orjson

from reenact.core.model.codec import http
from reenact.core.model.codec.errors import encode_error
from reenact.core.model.codec.types import is_number, type_name
from reenact.core.model.codec.viewed import RecordedTuple, Viewed
from reenact.core.model.codec.written import DEEPEST, Items, nested, packed, printable, tagged
from reenact.core.model.event import Tree
from reenact.core.patterns import lazy

_SAFE_INT = 2**63
_ADDRESS = lazy(r" at 0x[0-9a-fA-F]+")
_DEPTH = 60
"""The maximum depth of encoded values; each level may take three levels of JSON."""

BLOB_SIZE = 16384
"""The size in bytes from which a binary value is kept as a blob."""


def is_own_tree(value: Any) -> bool:
    """Return True for a value that is its own tree: a text, a flag, None, or a safe number."""
    kind = type(value)
    if kind is int:
        return bool(-_SAFE_INT <= value < _SAFE_INT)
    return kind is str or kind is bool or value is None


class Encoder:
    """Encodes values as trees. Use one per value: afterwards `unkept` names the parts not kept.

    Args:
        raw: Applied to binary values before they are encoded; a redactor of text cannot look into base64.
        blob: Keeps a large binary value elsewhere, and returns its address.
    """

    __slots__ = ("_depth", "_within", "blob", "raw", "unkept")

    def __init__(
        self, raw: Callable[[bytes], bytes] | None = None, blob: Callable[[bytes], str] | None = None
    ) -> None:
        self.raw = raw
        self.blob = blob
        self.unkept: list[str] = []
        self._depth = 0
        self._within: set[int] = set()

    def encode(self, value: Any) -> Tree:
        """Return the tree of a value. Never raises: a value without an encoding becomes `$unkept`."""
        kind = type(value)
        if kind is str:
            return value
        if self._depth == 0 and (kind is dict or kind is list) and (tree := _plain(value)) is not None:
            return tree
        known = _ENCODE.get(kind) or (_number if is_number(kind) else None)
        self._depth += 1
        try:
            if self._depth > _DEPTH:
                # Threads on musl have a stack of 128 KB: too little for the repr of what is nested a thousand times.
                return self._unkept(value, reprlib.repr)
            return known(self, value) if known is not None else self._once(value)
        except Exception:
            return self._unkept(value)
        finally:
            self._depth -= 1

    def encode_dict(self, value: dict[Any, Any]) -> Tree:
        encode = self.encode
        plain = True
        tree = {}
        for key, item in value.items():
            if type(key) is not str or key[:1] == "$":
                plain = False
                break
            tree[key] = item if type(item) is str else encode(item)
        if plain:
            return tree
        return {"$dict": [[encode(key), encode(item)] for key, item in value.items()]}

    def encode_list(self, value: list[Any]) -> Tree:
        encode = self.encode
        return [item if type(item) is str else encode(item) for item in value]

    def encode_items(self, value: Items) -> Tree:
        if not value.rest:
            return value
        data = [item if type(item) is bytes else packed(self.encode(item)) for item in value.data]
        return Items(data, memory=value.memory)

    def encode_int(self, value: int) -> Tree:
        return value if -_SAFE_INT <= value < _SAFE_INT else {"$int": str(value)}

    def encode_float(self, value: float) -> Tree:
        return value if math.isfinite(value) else {"$float": repr(value)}

    def encode_bytes(self, value: bytes) -> Tree:
        try:
            return {"$utf8": value.decode()}
        except UnicodeDecodeError:
            raw = value if self.raw is None else self.raw(value)
        if self.blob is not None and len(raw) >= BLOB_SIZE:
            return {"$blob": self.blob(raw)}
        return {"$bytes": base64.b64encode(raw).decode()}

    def encode_set(self, value: set[Any] | frozenset[Any]) -> Tree:
        # Iteration order of a set depends on the process's hash seed: sorted, equal sets are equal trees.
        return {f"${type(value).__name__}": sorted((self.encode(item) for item in value), key=repr)}

    def encode_datetime(self, value: dt.datetime) -> Tree:
        tree: dict[str, Any] = {"at": value.isoformat()}
        # A module that is not imported has no objects.
        zones = sys.modules.get("zoneinfo")
        if zones is not None and isinstance(value.tzinfo, zones.ZoneInfo):
            tree["zone"] = value.tzinfo.key
        if value.fold:
            tree["fold"] = value.fold
        return {"$datetime": tree if len(tree) > 1 else tree["at"]}

    def _once(self, value: Any) -> Tree:
        """Encode an object, but not one inside itself: a cycle would never end."""
        if id(value) in self._within:
            return self._unkept(value)
        self._within.add(id(value))
        try:
            return self._other(value)
        finally:
            self._within.discard(id(value))

    def _other(self, value: Any) -> Tree:
        kind = type(value)
        if isinstance(value, Viewed):
            return value.__tree__
        if isinstance(value, Enum):
            return {"$enum": [type_name(kind), value.name]}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return {"$dataclass": {"type": type_name(kind), "fields": self._fields(fields)}}
        if hasattr(kind, "get_secret_value") and hasattr(value, "_secret_value"):
            # pydantic's SecretStr. A redactor knows by the member's name what it is.
            return {"$secret": {"type": type_name(kind), "secret": self.encode(value.get_secret_value())}}
        if hasattr(kind, "__pydantic_validator__") and hasattr(value, "__pydantic_fields_set__"):
            return self._pydantic(value)
        if hasattr(kind, "__attrs_attrs__"):
            fields = {field.name: getattr(value, field.name) for field in kind.__attrs_attrs__}
            return {"$dataclass": {"type": type_name(kind), "fields": self._fields(fields)}}
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return {"$namedtuple": {"type": type_name(kind), "items": [self.encode(item) for item in value]}}
        if isinstance(value, pathlib.PurePath):
            return {"$path": str(value)}
        if isinstance(value, BaseException):
            return {"$error": encode_error(value, self)}
        for base, name in _SUBCLASSED:
            if isinstance(value, base):
                inner = _ENCODE[base](self, base(value))
                return {"$sub": {"type": type_name(kind), "base": name, "value": inner}}
        if isinstance(value, Mapping):
            return self.encode_dict(dict(value))
        found = http.encode(value, self.encode)
        return self._unkept(value) if found is None else found

    def _pydantic(self, value: Any) -> Tree:
        tree = {"type": type_name(type(value)), "fields": self._fields(value.__dict__)}
        tree["set"] = sorted(value.__pydantic_fields_set__)
        if getattr(value, "__pydantic_extra__", None):
            tree["extra"] = self._fields(value.__pydantic_extra__)
        if getattr(value, "__pydantic_private__", None):
            tree["private"] = self._fields(value.__pydantic_private__)
        return {"$model": tree}

    def _fields(self, fields: Mapping[str, Any]) -> Tree:
        return {name: self.encode(item) for name, item in fields.items()}

    def _unkept(self, value: Any, shown: Callable[[Any], str] = repr) -> Tree:
        try:
            text = _ADDRESS.sub("", shown(value))[:200]
        except Exception:
            text = "(its repr raises)"
        name = type_name(type(value))
        self.unkept.append(name)
        return {"$unkept": [name, printable(text)]}


def _plain(value: Any) -> Tree | None:
    """Return a copy of plain JSON data, or None. In C: a third of the time of a walk."""
    try:
        # orjson comes first: it refuses deep values, for which marshal would need a large stack.
        data = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
        # marshal refuses subclasses (an IntEnum, a namedtuple), which orjson takes for their bases.
        marshal.dumps(value)
    except (TypeError, ValueError):
        return None
    if nested(data, value, DEEPEST):
        return None
    if tagged(data):
        # A key that looks like a tag has to be escaped.
        return None
    tree = orjson.loads(data)
    # A tuple has become a list, and infinity None.
    return tree if tree == value else None


def _number(_encoder: Encoder, value: Any) -> Tree:
    return {f"${type(value).__name__.lower()}": str(value)}


_SUBCLASSED: tuple[tuple[type, str], ...] = tuple(
    (base, base.__name__) for base in (str, int, float, list, dict, bytes)
)

_ENCODE: dict[type, Callable[[Encoder, Any], Tree]] = {
    str: lambda _, value: value,
    bool: lambda _, value: value,
    type(None): lambda _, value: value,
    int: Encoder.encode_int,
    float: Encoder.encode_float,
    dict: Encoder.encode_dict,
    list: Encoder.encode_list,
    tuple: lambda self, value: {"$tuple": self.encode_list(value)},
    RecordedTuple: lambda self, value: {
        "$namedtuple": {"type": value.type_name, "items": self.encode_list(list(value))}
    },
    bytes: Encoder.encode_bytes,
    bytearray: lambda encoder, value: {"$bytearray": encoder.encode_bytes(bytes(value))},
    memoryview: lambda self, value: self.encode_bytes(value.tobytes()),
    set: Encoder.encode_set,
    frozenset: Encoder.encode_set,
    dt.datetime: Encoder.encode_datetime,
    dt.date: lambda _, value: {"$date": value.isoformat()},
    dt.time: lambda _, value: {"$time": value.isoformat()},
    dt.timedelta: lambda _, value: {"$timedelta": [value.days, value.seconds, value.microseconds]},
    complex: lambda self, value: {"$complex": [self.encode_float(value.real), self.encode_float(value.imag)]},
    uuid.UUID: lambda _, value: {"$uuid": str(value)},
    OrderedDict: lambda self, value: {
        "$ordereddict": [[self.encode(k), self.encode(v)] for k, v in value.items()]
    },
    Counter: lambda self, value: {"$counter": [[self.encode(k), self.encode(v)] for k, v in value.items()]},
    deque: lambda self, value: {"$deque": [self.encode_list(list(value)), value.maxlen]},
    range: lambda _, value: {"$range": [value.start, value.stop, value.step]},
    type(Ellipsis): lambda _, __: {"$ellipsis": True},
    # What an adapter has encoded already.
    orjson.Fragment: lambda _, value: value,
    Items: Encoder.encode_items,
}
