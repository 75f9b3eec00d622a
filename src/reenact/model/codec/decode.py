"""Trees as values again. Nothing that is read back is executed."""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import pathlib
import re
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from reenact.model.codec import errors, http
from reenact.model.codec.types import find_type
from reenact.model.codec.written import dumps, loads, tagged
from reenact.model.event import Tree

_ESCAPED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")
_TYPED = ("$dataclass", "$enum", "$model", "$namedtuple", "$request", "$response", "$secret", "$sub")


class Unkept:
    """Stands in a replay for a part of a value that the recording could not keep."""

    def __init__(self, type_name: str, text: str) -> None:
        self.type_name = type_name
        self.text = text

    def __getattr__(self, name: str) -> Any:
        # Copying asks an object for its attributes before it has any.
        known = "text" in vars(self) and not name.startswith("__")
        raise AttributeError(f"{self!r} has no {name!r} in a replay" if known else name)

    def __repr__(self) -> str:
        return f"<not kept in the recording: {self.type_name} {self.text}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unkept) and (self.type_name, self.text) == (other.type_name, other.text)

    def __hash__(self) -> int:
        return hash((self.type_name, self.text))


def decode(tree: Tree) -> Any:
    """The value of a tree, its Python types restored. Shares nothing with the tree."""
    data = dumps(tree)
    # Without a tag the tree is the value, and reading JSON copies it faster than a walk.
    return _decode(tree) if tagged(data) else loads(data)


def _decode(tree: Tree) -> Any:
    if type(tree) is dict:
        if len(tree) == 1:
            ((key, inner),) = tree.items()
            known = _DECODE.get(key)
            if known is not None:
                return known(inner)
        return {key: item if type(item) is str else _decode(item) for key, item in tree.items()}
    if type(tree) is list:
        return [item if type(item) is str else _decode(item) for item in tree]
    return tree


def decode_error(tree: Tree) -> BaseException:
    """The exception of a tree: of its own type where that is loaded, else a `RecordedError` that says so."""
    return errors.restored(tree, decode)


def flaw(tree: Tree) -> str | None:
    """Why the tree's value cannot be given back whole: a part was not kept, or its type is not loaded here."""
    if type(tree) is list:
        return next((found for item in tree if (found := flaw(item)) is not None), None)
    if type(tree) is not dict:
        return None
    for tag, inner in tree.items():
        if tag == "$unkept":
            return f"a value of type {inner[0]} could not be kept when it was recorded"
        if tag in _TYPED:
            name = inner[0] if tag == "$enum" else inner["type"]
            if find_type(name) is None:
                return f"it holds a value of type {name}, which is not loaded in this program"
        found = flaw(inner)
        if found is not None:
            return found
    return None


def _fill(name: str, fields: Mapping[str, Any]) -> Any:
    kind = find_type(name)
    if kind is None:
        return Unkept(name, "(its type is not loaded in this program)")
    instance: Any = object.__new__(kind)
    for key, item in fields.items():
        if hasattr(instance, "__dict__") or hasattr(kind, key):
            object.__setattr__(instance, key, _decode(item))
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ():
        # Recorded under another version of its library, which did not have that field.
        if field.name not in fields and field.default_factory is not dataclasses.MISSING:
            object.__setattr__(instance, field.name, field.default_factory())
    return instance


def _decode_pydantic(tree: Tree) -> Any:
    kind: Any = find_type(tree["type"])
    if kind is None:
        return Unkept(tree["type"], "(its type is not loaded in this program)")
    instance = kind.__new__(kind)
    slots = {
        "__dict__": {name: _decode(item) for name, item in tree["fields"].items()},
        "__pydantic_fields_set__": set(tree["set"]),
        "__pydantic_extra__": {name: _decode(item) for name, item in tree["extra"].items()}
        if "extra" in tree
        else ({} if getattr(kind, "model_config", {}).get("extra") == "allow" else None),
        "__pydantic_private__": {name: _decode(item) for name, item in tree["private"].items()}
        if "private" in tree
        else None,
    }
    for name, item in slots.items():
        object.__setattr__(instance, name, item)
    return instance


def _decode_secret(tree: Tree) -> Any:
    kind, value = find_type(tree["type"]), decode(tree["secret"])
    if kind is None:
        return value
    instance: Any = object.__new__(kind)
    object.__setattr__(instance, "_secret_value", value)
    return instance


def _decode_namedtuple(tree: Tree) -> Any:
    items = [_decode(item) for item in tree["items"]]
    kind = find_type(tree["type"])
    return tuple.__new__(kind, items) if kind is not None and issubclass(kind, tuple) else tuple(items)


def _decode_enum(tree: Tree) -> Any:
    kind = find_type(tree[0])
    try:
        return kind[tree[1]]  # type: ignore[index]
    except (TypeError, KeyError):
        return Unkept(tree[0], tree[1])


def _decode_sub(tree: Tree) -> Any:
    kind: Any = find_type(tree["type"])
    base: Any = _BASES[tree["base"]]
    value = _decode(tree["value"])
    if kind is None or not issubclass(kind, base):
        return Unkept(tree["type"], "(its type is not loaded in this program)")
    if base in (list, dict, deque):
        instance = kind.__new__(kind)
        base.__init__(instance, value)
        return instance
    return base.__new__(kind, value)


def _decode_http(tree: Tree) -> Any:
    found = http.decode_response(tree, decode) if "status" in tree else http.decode_request(tree)
    return Unkept(tree["type"], "(its type is not loaded in this program)") if found is None else found


def _decode_datetime(tree: Tree) -> dt.datetime:
    if isinstance(tree, str):
        return dt.datetime.fromisoformat(tree)
    moment = dt.datetime.fromisoformat(tree["at"])
    if "zone" in tree:
        moment = moment.replace(tzinfo=ZoneInfo(tree["zone"]))
    return moment.replace(fold=tree.get("fold", 0))


_BASES: dict[str, type] = {kind.__name__: kind for kind in (str, int, float, list, dict, bytes)}

_DECODE: dict[str, Callable[[Tree], Any]] = {
    "$dict": lambda tree: {_hashable(_decode(key)): _decode(item) for key, item in tree},
    "$tuple": lambda tree: tuple(_decode(item) for item in tree),
    "$set": lambda tree: {_hashable(_decode(item)) for item in tree},
    "$frozenset": lambda tree: frozenset(_hashable(_decode(item)) for item in tree),
    "$int": int,
    "$float": float,
    "$utf8": str.encode,
    "$bytes": base64.b64decode,
    "$bytearray": lambda tree: bytearray(decode(tree)),
    "$datetime": _decode_datetime,
    "$date": dt.date.fromisoformat,
    "$time": dt.time.fromisoformat,
    "$timedelta": lambda tree: dt.timedelta(*tree),
    "$decimal": Decimal,
    "$fraction": Fraction,
    "$complex": lambda tree: complex(*tree),
    "$uuid": uuid.UUID,
    "$ordereddict": lambda tree: OrderedDict((_hashable(_decode(k)), _decode(v)) for k, v in tree),
    "$counter": lambda tree: Counter({_hashable(_decode(k)): v for k, v in tree}),
    "$deque": lambda tree: deque(_decode(tree[0]), maxlen=tree[1]),
    "$range": lambda tree: range(*tree),
    "$ellipsis": lambda _: ...,
    "$surrogates": lambda tree: _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\\", tree),
    "$path": pathlib.Path,
    "$enum": _decode_enum,
    "$dataclass": lambda tree: _fill(tree["type"], tree["fields"]),
    "$model": _decode_pydantic,
    "$namedtuple": _decode_namedtuple,
    "$secret": _decode_secret,
    "$sub": _decode_sub,
    "$request": _decode_http,
    "$response": _decode_http,
    "$error": decode_error,
    "$unkept": lambda tree: Unkept(tree[0], tree[1]),
}


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


TAGS = tuple(_DECODE)
"""The tags that a tree may have, less `$blob`, which is the store's."""
