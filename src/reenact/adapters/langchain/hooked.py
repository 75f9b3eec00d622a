"""Hook methods of a class and of all its subclasses, later ones included."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from reenact.adapters.hooks import patch

Wrappers: TypeAlias = Mapping[str, Callable[[Any], Any]]


def hook_all(
    base: Any,
    wrappers: Wrappers,
    *,
    library: str,
    own: tuple[str, ...] = (),
    spared: Callable[[Any], bool] = lambda _: False,
    also: Callable[[Any], None] = lambda _: None,
) -> None:
    """Replace methods of every subclass of `base` by `wrappers[name](original)`.

    Args:
        base: The abstract class; it must have an `__init_subclass__` of its own or inherit one.
        wrappers: By the method's name.
        library: Its name in messages.
        own: The methods that the base class itself implements.
        spared: Returns True if a class is not to be hooked.
        also: Called with every other class.
    """
    if "_reenact_hooked" in vars(base):
        return
    base._reenact_hooked = True
    for name in own:
        patch(base, name, wrappers[name], library=library)
    for kind in _below(base):
        if not spared(kind):
            _hook(kind, base, wrappers, library)
            also(kind)
    inherited = vars(base).get("__init_subclass__")

    def made(cls: Any, /, **options: Any) -> None:
        if inherited is None:
            super(base, cls).__init_subclass__(**options)
        else:
            inherited.__func__(cls, **options)
        if not spared(cls):
            _hook(cls, base, wrappers, library)
            also(cls)

    base.__init_subclass__ = classmethod(made)


def _below(kind: Any) -> list[Any]:
    found: list[Any] = []
    todo = list(kind.__subclasses__())
    while todo:
        each = todo.pop()
        if each not in found:
            found.append(each)
            todo += each.__subclasses__()
    return found


def _hook(kind: Any, base: Any, wrappers: Wrappers, library: str) -> None:
    for name, wrapper in wrappers.items():
        found = inspect.getattr_static(kind, name, None)
        if not inspect.isfunction(found) or getattr(found, "_reenact", False):
            continue
        if name not in vars(kind):
            if found is inspect.getattr_static(base, name, None):
                # The base class only declares it, and no subclass overrides it.
                continue
            # It comes from a mixin: hooked in the subclass, which is the library's.
            setattr(kind, name, found)
        patch(kind, name, wrapper, library=library)
