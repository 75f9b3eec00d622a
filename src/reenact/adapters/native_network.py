"""Network code in C and Rust: named while recording, refused in a replay.

It raises no audit event. In a replay, a database's driver would repeat its recorded writes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from reenact.adapters.native_sites import SITES
from reenact.adapters.stdlib import seal


def install(module: ModuleType) -> None:
    """Watch those functions of a module in `SITES` that its installed version has."""
    for site in SITES[module.__name__]:
        owner, _, name = site.rpartition(".")
        held: Any = getattr(module, owner, None) if owner else module
        original = getattr(held, name, None)
        if original is not None and not getattr(original, "_reenact", False):
            _replace(module, held, name, _watched(original, module.__name__.partition(".")[0]))


def _watched(original: Callable[..., Any], library: str) -> Callable[..., Any]:
    @wraps(original, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def watched(*args: Any, **options: Any) -> Any:
        seal.native(library)
        return original(*args, **options)

    watched._reenact = True  # type: ignore[attr-defined]
    return watched


def _replace(module: ModuleType, held: Any, name: str, function: Callable[..., Any]) -> None:
    """Replace a function of a module or class; a class in C is replaced by a subclass."""
    try:
        setattr(held, name, function)
    except TypeError:
        members = {name: function, "__module__": held.__module__, "__doc__": held.__doc__}
        setattr(module, held.__name__, type(held.__name__, (held,), members))
