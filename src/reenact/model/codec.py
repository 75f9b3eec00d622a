"""Python values to JSON trees and back, with their types kept.

Plain JSON would turn a tuple into a list and a datetime into text, and so change the next prompt. What JSON has no
word for is written as an object with one key that begins with `$` (`{"$tuple": [1, 2]}`); `docs/format.md` lists
them. A dict of the user's that looks like such an object is itself escaped.

Reading back executes nothing: a type is looked up among the modules that are already loaded, and its instance is
filled in without calling its constructor. What cannot be kept becomes an `Unkept`, which says so where it is used.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import marshal
import math
import pathlib
import re
import sys
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

import orjson

from reenact.model.event import Tree

_SAFE_INT = 2**63
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_SURROGATE = re.compile(r"[\\\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")
_DEPTH = 200
_CAUSES = 4

BLOB_SIZE = 16384
"""From how many bytes on a binary value is kept as a blob."""


class Unkept:
    """Stands in a replay for a part of a value that the recording could not keep."""

    def __init__(self, type_name: str, text: str) -> None:
        self.type_name = type_name
        self.text = text

    def __repr__(self) -> str:
        return f"<not kept in the recording: {self.type_name} {self.text}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unkept) and (self.type_name, self.text) == (other.type_name, other.text)

    def __hash__(self) -> int:
        return hash((self.type_name, self.text))


class Encoder:
    """Encodes values as trees. One per value: afterwards `unkept` names the parts that could not be kept.

    Args:
        raw: Applied to binary values before they are encoded; a redactor of text cannot look into base64.
        blob: Keeps a large binary value elsewhere, and returns its address.
    """

    __slots__ = ("_depth", "blob", "raw", "unkept")

    def __init__(
        self, raw: Callable[[bytes], bytes] | None = None, blob: Callable[[bytes], str] | None = None
    ) -> None:
        self.raw = raw
        self.blob = blob
        self.unkept: list[str] = []
        self._depth = 0

    def encode(self, value: Any) -> Tree:
        """The tree of a value. Never raises for any value: what has no encoding becomes `$unkept`."""
        kind = type(value)
        if kind is str:
            return value
        if self._depth == 0 and (kind is dict or kind is list) and (tree := _plain(value)) is not None:
            return tree
        known = _ENCODE.get(kind)
        self._depth += 1
        try:
            if self._depth > _DEPTH:
                return self._unkept(value)
            return known(self, value) if known is not None else self._other(value)
        except Exception:
            return self._unkept(value)
        finally:
            self._depth -= 1

    def _dict(self, value: dict[Any, Any]) -> Tree:
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

    def _list(self, value: list[Any]) -> Tree:
        encode = self.encode
        return [item if type(item) is str else encode(item) for item in value]

    def _int(self, value: int) -> Tree:
        return value if -_SAFE_INT <= value < _SAFE_INT else {"$int": str(value)}

    def _float(self, value: float) -> Tree:
        return value if math.isfinite(value) else {"$float": repr(value)}

    def _bytes(self, value: bytes) -> Tree:
        try:
            return {"$utf8": value.decode()}
        except UnicodeDecodeError:
            raw = value if self.raw is None else self.raw(value)
        if self.blob is not None and len(raw) >= BLOB_SIZE:
            return {"$blob": self.blob(raw)}
        return {"$bytes": base64.b64encode(raw).decode()}

    def _set(self, value: set[Any] | frozenset[Any]) -> Tree:
        # Iteration order of a set depends on the process's hash seed: sorted, equal sets are equal trees.
        return {f"${type(value).__name__}": sorted((self.encode(item) for item in value), key=repr)}

    def _datetime(self, value: dt.datetime) -> Tree:
        tree: dict[str, Any] = {"at": value.isoformat()}
        if isinstance(value.tzinfo, ZoneInfo):
            tree["zone"] = value.tzinfo.key
        if value.fold:
            tree["fold"] = value.fold
        return {"$datetime": tree if len(tree) > 1 else tree["at"]}

    def _other(self, value: Any) -> Tree:
        kind = type(value)
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
            return self._dict(dict(value))
        return self._unkept(value)

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

    def _unkept(self, value: Any) -> Tree:
        try:
            text = _ADDRESS.sub("", repr(value))[:200]
        except Exception:
            text = "(its repr raises)"
        name = type_name(type(value))
        self.unkept.append(name)
        return {"$unkept": [name, _printable(text)]}


def _plain(value: Any) -> Tree | None:
    """A copy of what JSON has words for, made in C in a third of the time that a walk takes; None for all else."""
    try:
        # marshal refuses subclasses (an IntEnum, a namedtuple), which orjson would take for their bases.
        marshal.dumps(value)
        data = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
    except (TypeError, ValueError):
        return None
    if b'"$' in data:
        # A key that looks like a tag has to be escaped.
        return None
    tree = orjson.loads(data)
    # A tuple has become a list, and infinity None.
    return tree if tree == value else None


def encode_error(error: BaseException, encoder: Encoder, depth: int = 0) -> Tree:
    """An exception as a tree: its type, arguments, text, attributes and the exceptions that it was raised from."""
    attributes = {name: item for name, item in vars(error).items() if not name.startswith("__")}
    if isinstance(error, OSError) and error.errno is not None and error.errno not in error.args[:1]:
        # A subclass has put arguments of its own in the place of the system's.
        attributes |= {"errno": error.errno, "strerror": error.strerror}
    tree: dict[str, Any] = {
        "type": type_name(type(error)),
        "text": _printable(str(error)),
        # OSError keeps its file names out of `args`, but gives them where it is copied.
        "args": [
            encoder.encode(item) for item in (_copied(error) if isinstance(error, OSError) else error.args)
        ],
    }
    if attributes:
        tree["attributes"] = {name: encoder.encode(item) for name, item in attributes.items()}
    if error.__cause__ is not None and depth < _CAUSES:
        # Libraries wrap each other's errors, and tell by the cause what happened.
        tree["cause"] = encode_error(error.__cause__, encoder, depth + 1)
    return tree


def _copied(error: OSError) -> tuple[Any, ...]:
    reduced = error.__reduce__()
    return reduced[1] if isinstance(reduced, tuple) and isinstance(reduced[1], tuple) else error.args


def dumps(tree: Tree) -> bytes:
    """A tree as JSON bytes on one line, keys in their own order. Lone surrogates, which UTF-8 cannot hold, survive."""
    try:
        return orjson.dumps(tree)
    except TypeError:
        return orjson.dumps(_without_surrogates(tree))


def packed(tree: Tree) -> bytes:
    """A tree as bytes for comparison: keys sorted, so that equal values have equal bytes."""
    try:
        return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return orjson.dumps(_without_surrogates(tree), option=orjson.OPT_SORT_KEYS)


loads = orjson.loads
"""The tree of JSON bytes."""


def _without_surrogates(tree: Tree) -> Tree:
    if isinstance(tree, dict):
        pairs = [(_without_surrogates(key), _without_surrogates(item)) for key, item in tree.items()]
        plain = all(isinstance(key, str) for key, _ in pairs)
        return dict(pairs) if plain else {"$dict": [list(pair) for pair in pairs]}
    if isinstance(tree, list):
        return [_without_surrogates(item) for item in tree]
    if isinstance(tree, str) and _printable(tree) != tree:
        # Escaped, not packed: a redactor must still find a secret beside it.
        return {
            "$surrogates": _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}" if m[0] != "\\" else "\\\\", tree)
        }
    return tree


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def type_name(kind: type) -> str:
    """`module:Qualified.Name` of a type: where it is found again, which need not be what it calls itself."""
    known = _names.get(kind)
    if known is None:
        known = _names[kind] = _place(kind)
    return known


def _place(kind: type) -> str:
    name = f"{kind.__module__}:{kind.__qualname__}"
    if find_type(name) is not kind:
        for alias, found in vars(sys.modules.get(kind.__module__, object)).items():
            if found is kind:
                return f"{kind.__module__}:{alias}"
    return name


_names: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def find_type(name: str) -> type | None:
    """The type of that name among the loaded modules, or None. Imports nothing."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def decode(tree: Tree) -> Any:
    """The value of a tree, its Python types restored. Shares nothing with the tree."""
    data = dumps(tree)
    # Without a tag the tree is the value, and reading JSON copies it faster than a walk.
    return _decode(tree) if b'"$' in data else loads(data)


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


class RecordedError(Exception):
    """Stands in a replay for an exception whose type cannot be found there. `type_name` says which it was."""

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(f"{text} (recorded as {type_name}, which is not loaded in this program)")
        self.type_name = type_name
        self.text = text


def decode_error(tree: Tree) -> BaseException:
    """The exception of a tree: of its own type where that is loaded, else a `RecordedError` that says so."""
    kind = find_type(tree["type"])
    if kind is None or not issubclass(kind, BaseException):
        return RecordedError(tree["type"], tree["text"])
    arguments = [decode(item) for item in tree["args"]]
    try:
        error = kind.__new__(kind, *arguments)
        error.args = tuple(arguments)
        # OSError and its like keep part of their arguments elsewhere than in `args`.
        if isinstance(error, (OSError, UnicodeError, SyntaxError, StopIteration, SystemExit, ImportError)):
            # The built-in constructor only: a subclass's may want other arguments than it passed on.
            built_in: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
            built_in.__init__(error, *arguments)
    except Exception:
        return RecordedError(tree["type"], tree["text"])
    for name, item in tree.get("attributes", {}).items():
        object.__setattr__(error, name, decode(item))
    if "cause" in tree:
        error.__cause__ = decode_error(tree["cause"])
    return error


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


_TYPED = ("$dataclass", "$enum", "$model", "$namedtuple", "$secret", "$sub")


def _fill(name: str, fields: Mapping[str, Any]) -> Any:
    kind = find_type(name)
    if kind is None:
        return Unkept(name, "(its type is not loaded in this program)")
    instance: Any = object.__new__(kind)
    for key, item in fields.items():
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


def _decode_datetime(tree: Tree) -> dt.datetime:
    if isinstance(tree, str):
        return dt.datetime.fromisoformat(tree)
    moment = dt.datetime.fromisoformat(tree["at"])
    if "zone" in tree:
        moment = moment.replace(tzinfo=ZoneInfo(tree["zone"]))
    return moment.replace(fold=tree.get("fold", 0))


_BASES: dict[str, type] = {"str": str, "int": int, "float": float, "list": list, "dict": dict, "bytes": bytes}
_SUBCLASSED = tuple((base, name) for name, base in _BASES.items())

_ENCODE: dict[type, Callable[[Encoder, Any], Tree]] = {
    str: lambda _, value: value,
    bool: lambda _, value: value,
    type(None): lambda _, value: value,
    int: Encoder._int,
    float: Encoder._float,
    dict: Encoder._dict,
    list: Encoder._list,
    tuple: lambda self, value: {"$tuple": self._list(value)},
    bytes: Encoder._bytes,
    bytearray: lambda encoder, value: {"$bytearray": encoder._bytes(bytes(value))},
    memoryview: lambda self, value: self._bytes(value.tobytes()),
    set: Encoder._set,
    frozenset: Encoder._set,
    dt.datetime: Encoder._datetime,
    dt.date: lambda _, value: {"$date": value.isoformat()},
    dt.time: lambda _, value: {"$time": value.isoformat()},
    dt.timedelta: lambda _, value: {"$timedelta": [value.days, value.seconds, value.microseconds]},
    Decimal: lambda _, value: {"$decimal": str(value)},
    Fraction: lambda _, value: {"$fraction": str(value)},
    complex: lambda _, value: {"$complex": [value.real, value.imag]},
    uuid.UUID: lambda _, value: {"$uuid": str(value)},
    OrderedDict: lambda self, value: {
        "$ordereddict": [[self.encode(k), self.encode(v)] for k, v in value.items()]
    },
    Counter: lambda self, value: {"$counter": [[self.encode(k), v] for k, v in value.items()]},
    deque: lambda self, value: {"$deque": [self._list(list(value)), value.maxlen]},
    range: lambda _, value: {"$range": [value.start, value.stop, value.step]},
    type(Ellipsis): lambda _, __: {"$ellipsis": True},
    # A tree that an adapter has encoded already, keys sorted: walking a long chat here would cost more than all else.
    orjson.Fragment: lambda _, value: value,
}

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
    "$error": decode_error,
    "$unkept": lambda tree: Unkept(tree[0], tree[1]),
}


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
