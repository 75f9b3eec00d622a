"""View trees as inert values: no class of the program's is looked up or built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from reenact.core.model.codec import http, limits
from reenact.core.model.codec.decode import PLAIN, Decoder
from reenact.core.model.codec.encode import Encoder
from reenact.core.model.codec.errors import viewed
from reenact.core.model.codec.types import type_name
from reenact.core.model.codec.viewed import RecordedTuple, Viewed, short
from reenact.core.model.codec.written import packed
from reenact.core.model.event import Tree

_MASK = "**********"
_NAMES = ("type_name", "fields")


class RecordedValue(Viewed):
    """A recorded object for reading: its class's name and its fields, frozen; not the class.

        step.output                  # Order(id='A-1', price=3)
        step.output.price            # 3; also step.output["price"]
        step.output == Order("A-1", 3)

    Equal to another view of the same value, and to a live object of a class of that name with equal fields. Encoded
    again (as the answer of a fork, for example) it gives the recorded tree.

    Attributes:
        type_name: `module:Name` of the recorded class.
        fields: Its fields by name, as views.
    """

    __slots__ = ("fields", "type_name")
    type_name: str
    fields: Mapping[str, Any]

    def __init__(self, type_name: str, fields: Mapping[str, Any], tree: Tree) -> None:
        for name, value in (
            ("type_name", type_name),
            ("fields", MappingProxyType(dict(fields))),
            ("__tree__", tree),
        ):
            object.__setattr__(self, name, value)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __getattr__(self, name: str) -> Any:
        # Copying asks an object for its attributes before it has any.
        if not name.startswith("__") and name not in _NAMES and name in self.fields:
            return self.fields[name]
        raise AttributeError(
            f"a recorded {short(self.type_name)} has no {name!r}" if name not in _NAMES else name
        )

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{name}: a recorded value does not change")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RecordedValue):
            return packed(_compared(self.__tree__)) == packed(_compared(other.__tree__))
        if type_name(type(other)) != self.type_name:
            return NotImplemented
        return packed(_compared(self.__tree__)) == packed(_compared(Encoder().encode(other)))

    def __hash__(self) -> int:
        return hash(packed(_compared(self.__tree__)))

    def __copy__(self) -> RecordedValue:
        return self

    def __deepcopy__(self, memo: object) -> RecordedValue:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return view, (self.__tree__,)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.fields})

    def __repr__(self) -> str:
        said = ", ".join(
            f"{name if name.isidentifier() else ascii(name)}={item!r}" for name, item in self.fields.items()
        )
        return f"{short(self.type_name)}({said})"


def view(tree: Tree) -> Any:
    """Return the value of a tree, for reading. Shares nothing with the tree.

    Python's own types come back as they were; an object of a class is a `RecordedValue`, a named tuple a tuple, an
    object of a subclass of `str`, `int`, `float`, `list`, `dict` or `bytes` one of these, an exception of Python's
    own its like, and any other a `RecordedError`. Raises CorruptRecording for an invalid tree.
    """
    return _READER.read(tree)


def view_error(tree: Tree) -> BaseException:
    """Return the exception of a tree, for reading: one of Python's own, or a `RecordedError`."""
    found: BaseException = _READER.read({"$error": tree})
    return found


def _compared(tree: Tree) -> Tree:
    """Return the tree without a model's set of given fields: equal objects may differ in it."""
    if type(tree) is dict:
        if len(tree) == 1 and type(model := tree.get("$model")) is dict:
            return {
                "$model": {name: _compared(model[name]) for name in model if name not in ("set", "private")}
            }
        return {name: _compared(item) for name, item in tree.items()}
    return [_compared(item) for item in tree] if type(tree) is list else tree


def _object(tag: str) -> Callable[[Decoder, Tree], RecordedValue]:
    def read(decoder: Decoder, tree: Tree) -> RecordedValue:
        members = limits.members(tree)
        fields = decoder.fields(members["fields"])
        if "extra" in members:
            fields |= decoder.fields(members["extra"])
        return RecordedValue(limits.text(members["type"]), fields, {tag: tree})

    return read


def _enum(_: Decoder, tree: Tree) -> RecordedValue:
    name, member = map(limits.text, limits.items(tree))
    return RecordedValue(name, {"name": member}, {"$enum": tree})


def _secret(_: Decoder, tree: Tree) -> RecordedValue:
    return RecordedValue(limits.text(limits.members(tree)["type"]), {"secret": _MASK}, {"$secret": tree})


def _named_tuple(decoder: Decoder, tree: Tree) -> RecordedTuple:
    members = limits.members(tree)
    return RecordedTuple(decoder.items(members["items"]), limits.text(members["type"]))


def _sub(decoder: Decoder, tree: Tree) -> Any:
    value = decoder.value(limits.members(tree)["value"])
    if type(value).__name__ != limits.text(tree["base"]):
        raise TypeError("its base and its value do not agree")
    return value


def _request(_: Decoder, tree: Tree) -> RecordedValue:
    members = limits.members(tree)
    fields = {"method": limits.text(members["method"]), "url": limits.text(members["url"])}
    return RecordedValue(limits.text(members["type"]), fields, {"$request": tree})


def _response(decoder: Decoder, tree: Tree) -> RecordedValue:
    members = limits.members(tree)
    fields = {
        "status_code": limits.number(members["status"]),
        "headers": http.headers(members),
        "content": http.body(decoder, members),
        "method": members.get("method"),
        "url": members.get("url"),
    }
    return RecordedValue(limits.text(members["type"]), fields, {"$response": tree})


_READERS: dict[str, Callable[[Decoder, Tree], Any]] = {
    "$enum": _enum,
    "$dataclass": _object("$dataclass"),
    "$model": _object("$model"),
    "$namedtuple": _named_tuple,
    "$secret": _secret,
    "$sub": _sub,
    "$request": _request,
    "$response": _response,
    "$error": viewed,
}

_READER = Decoder(PLAIN | _READERS)
