"""Stand-ins for functions of the standard library, also for early imports of them.

A stand-in is a `staticmethod`: like the built-in that it replaces, and unlike a Python function, it does not turn
into a method where a class keeps it (`class Timer: clock = time.monotonic`). It is pickled and copied by its name, as
the built-in is: a program may send `time.sleep` to a pool of processes.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from reenact.adapters.stdlib import callers


class _Static(staticmethod):  # type: ignore[type-arg]
    """A stand-in that is pickled and copied by its name."""

    def __reduce__(self) -> str:
        return str(self.__name__)


_stand_ins: dict[int, tuple[Any, Any]] = {}
_everywhere: dict[str, tuple[Any, Any]] = {}
_unbound = callers.NewModules()
"""The modules that may hold an original."""


def replace(module: ModuleType, name: str, stand_in: Callable[..., Any], *, everywhere: bool = False) -> None:
    """Replace a module's function; `everywhere`: also in libraries that imported it early."""
    original = getattr(module, name)
    stand_in.__name__ = name
    stand_in.__qualname__ = getattr(original, "__qualname__", name)
    stand_in.__module__ = module.__name__
    stand_in.__doc__ = original.__doc__
    put(module, name, _Static(stand_in), everywhere=everywhere)


def put(module: ModuleType, name: str, stand_in: Any, *, everywhere: bool = False) -> None:
    """`replace`, for a stand-in that is callable as it is."""
    original = getattr(module, name)
    _stand_ins[id(original)] = original, stand_in
    if everywhere:
        _everywhere[name] = original, stand_in
        _unbound.forget()
    setattr(module, name, stand_in)


def stand_in(original: Any) -> Any:
    """Return the stand-in for a function, or the function itself if it has none."""
    found = _stand_ins.get(id(original))
    return found[1] if found is not None and found[0] is original else original


def rebind() -> None:
    """Replace the originals by their stand-ins in the program's modules, under any name."""
    for names in callers.program_modules():
        _rebind_all(names)
    # Modules that are loaded later import the stand-ins.
    for _, module in _unbound.new():
        names = callers.namespace(module)
        for name, (original, stand_in) in _everywhere.items():
            if names.get(name) is original:
                names[name] = stand_in


def _rebind_all(namespace: dict[str, Any]) -> None:
    # Hot: a program has tens of thousands of global names. Most modules are skipped without a loop in Python.
    if _stand_ins.keys().isdisjoint(map(id, list(namespace.values()))):
        return
    for name, value in list(namespace.items()):
        found = _stand_ins.get(id(value))
        if found is not None and found[0] is value:
            namespace[name] = found[1]
