"""Look up classes by name, and their attributes, without running any of their code."""

from __future__ import annotations

import sys
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import WeakKeyDictionary

from reenact.core.model.event import Tree

_names: WeakKeyDictionary[type, str] = WeakKeyDictionary()

METHODS = (
    FunctionType, MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType, BuiltinFunctionType,
    classmethod, staticmethod,
)  # fmt: skip
"""The types of a class's methods."""

_module_members: Any = vars(ModuleType)["__dict__"].__get__
_members: Any = vars(type)["__dict__"].__get__
_bases: Any = vars(type)["__mro__"].__get__


def typed(tree: Tree) -> Tree:
    """Return a tree in which values that could not be kept have only their types."""
    if isinstance(tree, dict):
        if "$unkept" in tree and len(tree) == 1:
            return {"$unkept": tree["$unkept"][:1]}
        return {key: typed(item) for key, item in tree.items()}
    return [typed(item) for item in tree] if isinstance(tree, list) else tree


def type_name(kind: type) -> str:
    """Return `module:Qualified.Name` of a type: its actual place, whatever it calls itself."""
    known = _names.get(kind)
    if known is None:
        known = _names[kind] = _place(kind)
    return known


def _place(kind: type) -> str:
    name = f"{kind.__module__}:{kind.__qualname__}"
    if find_type(name) is not kind:
        module = sys.modules.get(kind.__module__)
        for alias, found in _module_members(module).items() if isinstance(module, ModuleType) else ():
            if found is kind:
                return f"{kind.__module__}:{alias}"
    return name


def find_type(name: str) -> type | None:
    """Return the type of that name among the loaded modules, or None.

    Imports nothing and runs nothing: names are looked up in the dictionaries of modules and classes, past a module's
    `__getattr__`, metaclasses and properties.
    """
    module, _, path = name.partition(":")
    holder = sys.modules.get(module)
    if not issubclass(type(holder), ModuleType):
        return None
    members: Any = _module_members(holder)
    found: Any = None
    for part in path.split("."):
        found = members.get(part)
        if not is_type(found):
            return None
        members = _members(found)
    return found  # type: ignore[no-any-return]


def is_number(kind: type) -> bool:
    """Return True for decimals and fractions: a program that has any has imported their modules."""
    return kind in (find_type("decimal:Decimal"), find_type("fractions:Fraction"))


def is_type(value: Any) -> bool:
    """Return True if a value is a class, without running its code."""
    return issubclass(type(value), type)


def mro(kind: type) -> tuple[type, ...]:
    """Return a class and its bases in the order of lookup, past its metaclass."""
    return _bases(kind)  # type: ignore[no-any-return]


def static(kind: type, name: str, default: Any = None) -> Any:
    """Return a class's stored attribute, past descriptors and metaclasses."""
    for base in _bases(kind):
        members = _members(base)
        if name in members:
            return members[name]
    return default
