"""Hook a function of another library once, or report in one line that it is missing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from reenact.errors import ReenactError

Replace = Callable[[Any, str, Callable[..., Any]], None]
"""Replaces an owner's attribute by `wrapper(original, *args)`."""


class HookMissing(ReenactError):
    """The installed version of a library lacks a patched name: its calls would go unrecorded."""


def patch(owner: Any, name: str, wrapper: Callable[[Any], Any], *, library: str) -> None:
    """Replace a class's method by `wrapper(original)`, once. Raises HookMissing if missing."""
    original = getattr(owner, "__dict__", {}).get(name)
    if original is None:
        raise HookMissing(
            f"{library} has no {getattr(owner, '__name__', owner)}.{name}, so its requests are not recorded "
            f"(and a replay refuses them); try a newer version of Reenact"
        )
    if not getattr(original, "_reenact", False):
        patched = wraps(original)(wrapper(original))
        patched._reenact = True  # type: ignore[attr-defined]
        setattr(owner, name, patched)


def wrap(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
    """Replace a function of a module, or a method of a class.

    Args:
        owner: The module or the class.
        name: The function's name in it.
        wrapper: Called with the original function (a bound method for a method), the instance or None, the positional
            arguments, and the named ones.
    """
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return wrapper(original.__get__(self), self, args, options)

    def function(*args: Any, **options: Any) -> Any:
        return wrapper(original, None, args, options)

    patched = wraps(original)(method if isinstance(owner, type) else function)
    if not isinstance(owner, type):
        # Pickle looks the function up by its module: a built-in names the one in C (`posix`), which has the original.
        patched.__module__ = owner.__name__
    setattr(owner, name, patched)


def unknown(library: str, distribution: str, missing: str) -> HookMissing:
    """Return the error for an unknown version of a framework; raise it before any patch.

    Half of an agent's calls would be worse than none: without the adapter, all of its HTTP requests are recorded.

    Args:
        library: Its name in messages.
        distribution: The package whose version the message names.
        missing: The missing name.
    """
    return HookMissing(
        f"{library} {installed_version(distribution)} is not known to this version of Reenact ({missing}): its "
        f"agents are recorded by their HTTP requests only, and their tools not at all"
    )


def installed_version(distribution: str) -> str:
    """Return the version of an installed package, for messages."""
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return "(of unknown version)"
