"""Classes by their names, and their attributes, looked up without running any code of theirs."""

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

_names: WeakKeyDictionary[type, str] = WeakKeyDictionary()

METHODS = (
    FunctionType, MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType, BuiltinFunctionType,
    classmethod, staticmethod,
)  # fmt: skip
"""The types of what a class has as methods."""

_module_members: Any = vars(ModuleType)["__dict__"].__get__
_members: Any = vars(type)["__dict__"].__get__
_bases: Any = vars(type)["__mro__"].__get__


def type_name(kind: type) -> str:
    """`module:Qualified.Name` of a type: where it is found again, which need not be what it calls itself."""
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
    """The type of that name among the loaded modules, or None.

    Imports nothing and runs nothing: names are looked up in the dictionaries of modules and classes, so neither a
    module's `__getattr__` nor a metaclass or a property is asked.
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


def is_type(value: Any) -> bool:
    """Whether a value is a class, without asking the value."""
    return issubclass(type(value), type)


def mro(kind: type) -> tuple[type, ...]:
    """The class and its bases in the order of lookup, without asking its metaclass."""
    return _bases(kind)  # type: ignore[no-any-return]


def static(kind: type, name: str, default: Any = None) -> Any:
    """A class's attribute as it stands in the class or a base: no descriptor and no metaclass is asked."""
    for base in _bases(kind):
        members = _members(base)
        if name in members:
            return members[name]
    return default
