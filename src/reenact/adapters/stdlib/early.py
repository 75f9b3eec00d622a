"""Stand-ins for functions of the standard library, also for early imports of them.

A stand-in is a `staticmethod`: like the built-in that it replaces, and unlike a Python function, it does not turn
into a method where a class keeps it (`class Timer: clock = time.monotonic`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from reenact.adapters.stdlib import callers

_stand_ins: dict[int, tuple[Any, Any]] = {}
_everywhere: dict[str, tuple[Any, Any]] = {}


def replace(module: ModuleType, name: str, stand_in: Callable[..., Any], *, everywhere: bool = False) -> None:
    """Replace a module's function; `everywhere`: also in libraries that imported it early."""
    original = getattr(module, name)
    stand_in.__name__ = name
    stand_in.__qualname__ = getattr(original, "__qualname__", name)
    stand_in.__module__ = module.__name__
    stand_in.__doc__ = original.__doc__
    put(module, name, staticmethod(stand_in), everywhere=everywhere)


def put(module: ModuleType, name: str, stand_in: Any, *, everywhere: bool = False) -> None:
    """`replace`, for a stand-in that is callable as it is."""
    original = getattr(module, name)
    _stand_ins[id(original)] = original, stand_in
    if everywhere:
        _everywhere[name] = original, stand_in
    setattr(module, name, stand_in)


def rebind() -> None:
    """Put the stand-ins into modules that hold the originals: the program's, by any name."""
    for module in list(sys.modules.values()):
        # A module that loads itself at the first look at it must not be looked at.
        if not issubclass(type(module), ModuleType):
            continue
        namespace = object.__getattribute__(module, "__dict__")
        if callers.module_kind(namespace) == callers.OWN:
            _rebind_all(namespace)
        else:
            for name, (original, stand_in) in _everywhere.items():
                if namespace.get(name) is original:
                    namespace[name] = stand_in


def _rebind_all(namespace: dict[str, Any]) -> None:
    for name, value in list(namespace.items()):
        found = _stand_ins.get(id(value))
        if found is not None and found[0] is value:
            namespace[name] = found[1]
