"""Types by their names."""

from __future__ import annotations

import sys
from typing import Any
from weakref import WeakKeyDictionary

_names: WeakKeyDictionary[type, str] = WeakKeyDictionary()


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


def find_type(name: str) -> type | None:
    """The type of that name among the loaded modules, or None. Imports nothing."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None
