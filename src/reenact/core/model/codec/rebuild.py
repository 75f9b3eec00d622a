"""Rebuild objects of the program's own classes, for a replay, a fork or a restore.

The classes are those that the running program has loaded, and of these dataclasses, attrs classes, pydantic models,
enums, named tuples, exceptions and subclasses of Python's plain types. An object is filled in past its class's
`__new__`, `__init__`, `__post_init__`, validators, properties and `__setattr__`: none of them runs. A class with a
`__del__` is refused, since its code runs when an object is released, and so is one whose hash or equality is code of
its own where a value of it would be a member of a set. `tests/core/model/test_rebuild.py` names the modules that may
call this.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import pathlib
import uuid
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, WrapperDescriptorType
from typing import Any
from weakref import WeakKeyDictionary

from reenact.core.dataclass import dataclass
from reenact.core.model.codec import http, limits
from reenact.core.model.codec.decode import NOT_LOADED, PLAIN, Decoder, Unkept, shown
from reenact.core.model.codec.errors import native_of, rebuilt
from reenact.core.model.codec.types import METHODS, find_type, is_number, mro, static, type_name
from reenact.core.model.event import Tree
from reenact.errors import CorruptRecording, UnsafeValue

_PLAIN_FACTORIES: tuple[Any, ...] = (
    list, dict, set, frozenset, tuple, str, bytes, int, float, bool, OrderedDict, defaultdict, deque,
)  # fmt: skip
_BASES: dict[str, Any] = {kind.__name__: kind for kind in (str, int, float, list, dict, bytes)}
_GENERATED = ("<string>", "<attrs generated")
_TRUSTED = ("enum", "pydantic.main", "pydantic._internal._model_construction")
_STANDARD = frozenset((
    str, int, float, bool, bytes, complex, range, type(None), type(...), dt.datetime, dt.date, dt.time, dt.timedelta,
    uuid.UUID, type(pathlib.Path()), Unkept,
))  # fmt: skip


def rebuild(tree: Tree) -> Any:
    """Return the value of a tree, its classes restored. Shares nothing with the tree.

    A type that is not loaded gives an `Unkept` in the place of its value. Raises CorruptRecording for an invalid
    tree, and UnsafeValue for a loaded class whose objects must not be rebuilt.
    """
    return _READER.read(tree)


def rebuild_error(tree: Tree) -> BaseException:
    """Return the exception of a tree, of its own class if loaded, else a `RecordedError`."""
    found: BaseException = _READER.read({"$error": tree})
    return found


def flaw(tree: Tree) -> str | None:
    """Return the reason that a value cannot be rebuilt whole, or None.

    A part was not kept, or its type is not loaded or not rebuilt.
    """
    try:
        return _flaw(tree)
    except RecursionError:
        return "it is nested too deeply"
    except (TypeError, KeyError, IndexError, AttributeError, ValueError):
        return "it is malformed"


def _flaw(tree: Tree) -> str | None:
    if type(tree) is list:
        return next((found for item in tree if (found := _flaw(item)) is not None), None)
    if type(tree) is not dict:
        return None
    for tag, inner in tree.items():
        if tag == "$unkept":
            return f"a value of type {shown(limits.text(inner[0]))} could not be kept when it was recorded"
        if tag in _READERS and tag != "$error":
            name = limits.text(inner[0] if tag == "$enum" else inner["type"])
            if (kind := find_type(name)) is None:
                return f"it holds a value of type {shown(name)}, which is not loaded in this program"
            if (reason := _refusal(kind, tag)) is not None:
                return f"it holds a value of type {shown(name)}, which is not built again: {reason}"
        found = _flaw(inner)
        if found is not None:
            return found
    return None


# -- which classes ---------------------------------------------------------------------------------------------


def _refusal(kind: type, tag: str) -> str | None:
    """Return the reason that no object of a class is built for that tag, or None."""
    if static(kind, "__del__") is not None:
        return "it has a __del__, which runs when an object is deleted"
    allowed = _ALLOWED.get(tag)
    return None if allowed is None or allowed[0](kind) else f"it is {allowed[1]}"


def _kind(tree: Tree, tag: str) -> Any:
    """Return the class that a tree names, or None if not loaded. Raises UnsafeValue."""
    name = limits.text(limits.members(tree)["type"])
    kind = find_type(name)
    reason = _refusal(kind, tag) if kind is not None else None
    if reason is not None:
        raise UnsafeValue(f"a recorded value of type {shown(name)} is not built again: {reason}")
    return kind


def _is_model(kind: type) -> bool:
    base = _base_model()
    return base is not None and base in mro(kind)


def _base_model() -> Any:
    return find_type("pydantic.main:BaseModel")


def _is_fielded(kind: type) -> bool:
    return static(kind, "__dataclass_fields__") is not None or static(kind, "__attrs_attrs__") is not None


def _is_named_tuple(kind: type) -> bool:
    return tuple in mro(kind) and type(static(kind, "_fields")) is tuple


_ALLOWED: dict[str, tuple[Callable[[type], bool], str]] = {
    "$dataclass": (_is_fielded, "neither a dataclass nor an attrs class"),
    "$model": (_is_model, "no pydantic model"),
    "$namedtuple": (_is_named_tuple, "no named tuple"),
    "$enum": (lambda kind: Enum in mro(kind), "no enum"),
    "$secret": (lambda kind: static(kind, "get_secret_value") is not None, "no secret of pydantic's"),
    "$sub": (lambda kind: any(base in mro(kind) for base in _BASES.values()), "no subclass of a plain type"),
}


# -- filling in ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan to fill in a class's objects: by name, a slot, or None for the `__dict__`."""

    slots: Mapping[str, Any]
    own: Any
    missing: Mapping[str, Callable[[], Any]]


_plans: WeakKeyDictionary[type, _Plan] = WeakKeyDictionary()


def _plan(kind: type) -> _Plan:
    known = _plans.get(kind)
    if known is None:
        known = _plans[kind] = _planned(kind)
    return known


def _planned(kind: type) -> _Plan:
    fields = static(kind, "__dataclass_fields__")
    names = list(fields) if fields is not None else [field.name for field in static(kind, "__attrs_attrs__")]
    own = static(kind, "__dict__")
    slots: dict[str, Any] = {}
    for name in names:
        known = static(kind, name)
        if type(known) is MemberDescriptorType:
            slots[name] = known
        elif static(type(known), "__set__") is None and type(own) is GetSetDescriptorType:
            slots[name] = None
        else:
            raise UnsafeValue(
                f"a recorded value of type {type_name(kind)} is not built again: its {name} is a property or a "
                "descriptor, which acts when it is set"
            )
    missing = {name: made for name, field in (fields or {}).items() if (made := _default(field)) is not None}
    return _Plan(slots, own, missing)


def _default(field: Any) -> Callable[[], Any] | None:
    """Return the default of a field that the recording lacks (another version of the library)."""
    if field.default is not dataclasses.MISSING:
        return lambda: field.default
    factory: Any = field.default_factory
    if factory is dataclasses.MISSING:
        return None
    if factory in _PLAIN_FACTORIES:
        return factory  # type: ignore[no-any-return]
    if type(factory) is type and _refusal(factory, "$dataclass") is None:
        return lambda: _filled(factory, {})
    name = type_name(type(factory)) if type(factory) is not FunctionType else factory.__qualname__
    return lambda: Unkept(name, f"(the recording has no {field.name})")


def _bare(kind: Any) -> Any:
    """Return an empty object of a class, without running any of its code."""
    try:
        return (native_of(kind) or object).__new__(kind)
    except TypeError as error:
        raise UnsafeValue(f"a recorded value of type {type_name(kind)} is not built again: {error}") from None


def _filled(kind: Any, fields: Mapping[str, Any]) -> Any:
    plan = _plan(kind)
    instance = _bare(kind)
    own: Any = plan.own.__get__(instance) if type(plan.own) is GetSetDescriptorType else None
    for name, slot in plan.slots.items():
        if name in fields:
            item = fields[name]
        elif name in plan.missing:
            item = plan.missing[name]()
        else:
            continue
        if slot is not None:
            slot.__set__(instance, item)
        else:
            own[name] = item
    return instance


def _dataclass(decoder: Decoder, tree: Tree) -> Any:
    kind = _kind(tree, "$dataclass")
    fields = decoder.fields(tree["fields"])
    if kind is None:
        return Unkept(tree["type"], NOT_LOADED)
    return _filled(kind, fields)


def _model(decoder: Decoder, tree: Tree) -> Any:
    kind = _kind(tree, "$model")
    fields = decoder.fields(tree["fields"])
    extra = decoder.fields(tree["extra"]) if "extra" in tree else None
    private = decoder.fields(tree["private"]) if "private" in tree else None
    given = {limits.text(name) for name in limits.items(tree["set"])}
    if kind is None:
        return Unkept(tree["type"], NOT_LOADED)
    if extra is None and dict(static(kind, "model_config") or {}).get("extra") == "allow":
        extra = {}
    for name in fields:
        known = static(kind, name)
        if name.startswith("__") or isinstance(known, METHODS):
            raise CorruptRecording(
                f"a recorded {shown(tree['type'])} has {shown(name)}, a method, for a field"
            )
    instance = _bare(kind)
    base = _base_model()
    for name, item in (
        ("__dict__", fields),
        ("__pydantic_fields_set__", given),
        ("__pydantic_extra__", extra),
        ("__pydantic_private__", private),
    ):
        static(base, name).__set__(instance, item)
    return instance


def _secret(decoder: Decoder, tree: Tree) -> Any:
    kind = _kind(tree, "$secret")
    value = decoder.value(tree["secret"])
    if kind is None:
        return value
    instance = _bare(kind)
    slot = static(kind, "_secret_value")
    if type(slot) is MemberDescriptorType:
        slot.__set__(instance, value)
    else:
        static(kind, "__dict__").__get__(instance)["_secret_value"] = value
    return instance


def _namedtuple(decoder: Decoder, tree: Tree) -> Any:
    kind = _kind(tree, "$namedtuple")
    items = decoder.items(tree["items"])
    if kind is None:
        return tuple(items)
    if len(items) != len(static(kind, "_fields")):
        return Unkept(
            tree["type"], f"(it has {len(static(kind, '_fields'))} fields here, recorded {len(items)})"
        )
    return tuple.__new__(kind, items)


def _enum(_: Decoder, tree: Tree) -> Any:
    name, member = map(limits.text, limits.items(tree))
    kind: Any = _kind({"type": name}, "$enum")
    known = static(kind, "_member_map_") if kind is not None else None
    # By its name alone: a lookup by value may run a `_missing_`.
    return known[member] if type(known) is dict and member in known else Unkept(name, member)


def _sub(decoder: Decoder, tree: Tree) -> Any:
    kind = _kind(tree, "$sub")
    base = _BASES[limits.text(tree["base"])]
    value = decoder.value(tree["value"])
    if type(value) is not base:
        raise TypeError("its base and its value do not agree")
    if kind is None or base not in mro(kind):
        return Unkept(tree["type"], NOT_LOADED)
    if base in (list, dict):
        instance = base.__new__(kind)
        if OrderedDict in mro(kind):
            for key, item in value.items():
                OrderedDict.__setitem__(instance, key, item)
        else:
            base.__init__(instance, value)
        return instance
    try:
        return base.__new__(kind, value)
    except TypeError:
        # A type of a C library has fields of its own in front.
        return Unkept(tree["type"], str(value))


# -- members of sets, keys of dicts ------------------------------------------------------------------------------


def _keyable(value: Any) -> None:
    """Refuse a set member or dict key whose hash or equality is code of the program's."""
    kind = type(value)
    if kind in _STANDARD or is_number(kind):
        return
    if kind is tuple or kind is frozenset or _is_named_tuple(kind):
        for item in frozenset.__iter__(value) if kind is frozenset else tuple.__iter__(value):
            _keyable(item)
    for name in ("__hash__", "__eq__"):
        known = static(kind, name)
        if type(known) is WrapperDescriptorType or known is None:
            continue
        if type(known) is FunctionType and (
            known.__module__ in _TRUSTED or known.__code__.co_filename.startswith(_GENERATED)
        ):
            continue
        raise UnsafeValue(
            f"a recorded value of type {type_name(kind)} is not built again as a member of a set or a key: "
            f"its {name} is code of its own"
        )
    if _is_fielded(kind):
        plan = _plan(kind)
        for name, slot in plan.slots.items():
            _keyable(slot.__get__(value) if slot is not None else plan.own.__get__(value).get(name))
    elif _is_model(kind):
        for item in static(_base_model(), "__dict__").__get__(value).values():
            _keyable(item)


_READERS: dict[str, Callable[[Decoder, Tree], Any]] = {
    "$enum": _enum,
    "$dataclass": _dataclass,
    "$model": _model,
    "$namedtuple": _namedtuple,
    "$secret": _secret,
    "$sub": _sub,
    "$request": http.rebuild_request,
    "$response": http.rebuild_response,
    "$error": rebuilt,
}

_READER = Decoder(PLAIN | _READERS, _keyable)
