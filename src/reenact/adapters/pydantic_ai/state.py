"""The dependencies of an agent's run, tracked without being asked.

Its message history needs no tracking: each model request has it as an argument, and it is read from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from reenact.boundary import Scope
from reenact.boundary.tracked import Entry, of_object, of_run
from reenact.errors import UsageError
from reenact.model.state import DEPS
from reenact.store.writer import warn

_running: WeakSet[Entry] = WeakSet()


@contextmanager
def tracked(deps: Any, scope: Scope) -> Iterator[None]:
    """Track a run's dependencies while it lasts. An agent that another one runs meanwhile has its own, by its scope;
    where it is handed the same object, once is enough.
    """
    entry = _entry(deps, scope)
    try:
        yield
    finally:
        if entry is not None:
            _running.discard(entry)
            if entry.name != DEPS:
                of_run(scope.run).drop(entry)


def _entry(deps: Any, scope: Scope) -> Entry | None:
    run = of_run(scope.run)
    try:
        entry = of_object(DEPS, deps, quiet=True)
    except UsageError:
        # None, a text, a number: nothing that changes.
        return None
    try:
        known = run.entries.get(DEPS)
        if known is not None and known in _running and known.there():
            if known.get() is entry.get():
                return None
            entry.name = f"{DEPS}@{scope.path}"
        run.add(entry)
        _running.add(entry)
    except Exception as error:
        warn(f"the dependencies of an agent are not tracked ({type(error).__name__}: {error})")
        return None
    return entry
