"""Replace functions of the standard library wherever a module has bound them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_LIBRARIES = ("reenact", "posix", "nt", "_io")
"""Modules that keep the original functions: Reenact's, and those that define them."""


class Replacements:
    """Attributes that are replaced, and put back."""

    def __init__(self) -> None:
        self._known: list[tuple[Any, str, Any]] = []
        self._pairs: list[tuple[Any, Any]] = []

    def set(self, holder: Any, name: str, value: Any) -> None:
        """Replace an attribute, if there is one and a value for it."""
        if hasattr(holder, name) and value is not None:
            original = getattr(holder, name)
            self._known.append((holder, name, original))
            if callable(original):
                self._pairs.append((_function(original), value))
            setattr(holder, name, value)

    def set_default(self, function: Any, original: Any, value: Any) -> None:
        """Replace a function that is the default of another one's parameter."""
        defaults = getattr(function, "__defaults__", None) or ()
        if original in defaults:
            self.set(function, "__defaults__", tuple(value if one is original else one for one in defaults))

    def spread(self) -> None:
        """Replace the functions also where they are imported by name (`from os import listdir`)."""
        instead = {id(original): value for original, value in self._pairs}
        for holder, name, bound in _bindings(instead):
            self._known.append((holder, name, vars(holder)[name]))
            setattr(holder, name, _like(vars(holder)[name], instead[id(bound)]))

    def undo(self) -> None:
        """Restore all, also in modules that were imported since."""
        for holder, name, original in reversed(self._known):
            setattr(holder, name, original)
        originals = {id(value): original for original, value in self._pairs}
        for holder, name, bound in _bindings(originals):
            setattr(holder, name, _like(vars(holder)[name], originals[id(bound)]))
        self._known.clear()
        self._pairs.clear()


def _bindings(functions: dict[int, Any]) -> Iterator[tuple[Any, str, Any]]:
    """Find the modules, and the classes of `glob`, that have bound functions, by their ids."""
    for title, module in list(sys.modules.items()):
        # Some programs put an object of their own, or None, into `sys.modules`.
        if type(module) is not ModuleType or title.partition(".")[0] in _LIBRARIES:
            continue
        holders: list[Any] = [module]
        if title == "glob":
            holders += [each for each in vars(module).values() if isinstance(each, type)]
        for holder in holders:
            for name, value in list(vars(holder).items()):
                bound = _function(value)
                if id(bound) in functions:
                    yield holder, name, bound


def _static(value: Any) -> bool:
    # By its type alone: `isinstance` reads `__class__`, at which objects such as the clients of the module `openai`
    # import all that they stand for.
    return type(value) is staticmethod


def _function(value: Any) -> Any:
    """Return the function in a static method; another value unchanged."""
    return value.__func__ if _static(value) else value


def _like(before: Any, function: Any) -> Any:
    return staticmethod(function) if _static(before) else function
