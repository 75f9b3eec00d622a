"""Track the dependencies or the context of an agent's run as state, automatically.

The message history needs no tracking: it is read from the arguments of each model request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from reenact.core.boundary import Scope
from reenact.core.boundary.entry import Entry
from reenact.core.boundary.tracked import of_object, of_run
from reenact.core.store.writer import warn
from reenact.errors import UsageError

_running: WeakSet[Entry] = WeakSet()


@contextmanager
def tracked(name: str, thing: Any, scope: Scope) -> Iterator[None]:
    """Track an object of a run under that name, while the run lasts.

    The object of an inner agent is tracked under its scope; the same object is tracked once.
    """
    ends = track(name, thing, scope)
    try:
        yield
    finally:
        ends()


def track(name: str, thing: Any, scope: Scope) -> Callable[[], None]:
    """Track as `tracked` does, for a run that is no block of code. Call the result at its end."""
    entry = _entry(name, thing, scope)

    def ends() -> None:
        if entry is not None:
            _running.discard(entry)
            if entry.name != name:
                of_run(scope.run).drop(entry)

    return ends


def _entry(name: str, thing: Any, scope: Scope) -> Entry | None:
    run = of_run(scope.run)
    try:
        entry = of_object(name, thing, quiet=True)
    except UsageError:
        # None, a text or a number cannot change.
        return None
    try:
        known = run.entries.get(name)
        if known is not None and known in _running and known.there():
            if known.get() is entry.get():
                return None
            entry.name = f"{name}@{scope.path}"
        run.add(entry)
        _running.add(entry)
    except Exception as error:
        warn(f"{name} is not tracked ({type(error).__name__}: {error})")
        return None
    return entry
