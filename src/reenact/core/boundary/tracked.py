"""The live objects with state that the program has declared.

State declared within a run belongs to the run, and is released with it. State declared outside belongs to the
process, and to every run that begins later. Objects are held weakly if Python allows it; dicts and lists are not.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from reenact.core.boundary.current import current_scope, entered
from reenact.core.boundary.entry import Entry, Gone, TrackedState
from reenact.core.boundary.scope import Run
from reenact.core.model import codec, putback
from reenact.core.model.event import Tree
from reenact.errors import UsageError

_FIXED = (str, bytes, int, float, complex, tuple, frozenset, type)
_HOLDERS = (dict, list, set, deque, bytearray)
_MARKS = ("__dataclass_fields__", "__attrs_attrs__", "__pydantic_validator__")

_lock = threading.RLock()
_outside: dict[str, Entry] = {}
"""The state that was declared outside of any run."""
_of_last_run: dict[str, Entry] = {}
"""The state of the run that ended last."""


def of_object(name: str, thing: Any, *, every: int | None = None, quiet: bool = False) -> Entry:
    """Return the entry of an object that changes in place. Raises UsageError if it cannot."""
    if thing is None or isinstance(thing, _FIXED):
        raise UsageError(
            f"track({name!r}): a value of type {type(thing).__name__} cannot change in place, so there is nothing "
            f"to see; give what holds it, or functions: track({name!r}, get=..., set=...)"
        )
    if inspect.isroutine(thing):
        raise UsageError(
            f"track({name!r}): a function is tracked by its name: track({name!r}, get=..., set=...)"
        )
    whole = _is_known(thing)
    if not whole and not hasattr(thing, "__dict__"):
        raise UsageError(
            f"track({name!r}): a {type(thing).__name__} has no attributes; give functions: get=..., set=..."
        )
    find: Callable[[], Any]
    try:
        find = weakref.ref(thing)
    except TypeError:
        find = _holding(thing)

    def living() -> Any:
        found = find()
        if found is None:
            raise Gone
        return found

    def put(tree: Tree, lost: Callable[[str], None]) -> None:
        if whole:
            _put(living(), name, tree, lost)
        else:
            putback.put_into_attributes(living(), tree, lost)

    entry = Entry(name, living if whole else lambda: living().__dict__, put, every=every, quiet=quiet)
    entry.there = lambda: find() is not None
    return entry


def of_functions(
    name: str, get: Callable[[], Any], give: Callable[[Any], object] | None, *, every: int | None = None
) -> Entry:
    """Return the entry of a value that functions get and set."""

    def put(tree: Tree, lost: Callable[[str], None]) -> None:
        if give is None:
            raise UsageError(f"{name!r} cannot be restored: it was tracked without `set`")
        give(putback.made_of(tree, get, lost))

    return Entry(name, get, put, every=every)


def of_run(run: Run) -> TrackedState:
    """Return the tracked state of a run."""
    with _lock:
        if run.tracked is None:
            run.tracked = TrackedState(_outside)
        return run.tracked


def declare(entry: Entry) -> None:
    """Track an entry in the current run; without one, in all later runs."""
    scope = current_scope.get()
    if scope is not None:
        of_run(scope.run).add(entry)
        return
    with _lock:
        _outside[entry.name] = entry


def forget(name: str) -> None:
    """Stop tracking a name."""
    scope = current_scope.get()
    with _lock:
        if scope is not None:
            of_run(scope.run).entries.pop(name, None)
        _outside.pop(name, None)
        _of_last_run.pop(name, None)


def ended(run: Run) -> None:
    """End a run. Its tracked state can still be restored, until the next run ends."""
    with _lock:
        _of_last_run.clear()
        _of_last_run.update(of_run(run).entries)


def living(run: Run | None = None) -> dict[str, Entry]:
    """Return the entries that can be restored.

    These are the entries of `run` (by default the current run), or of the process and the run that ended last.
    """
    scope = current_scope.get()
    if run is None and scope is not None:
        run = scope.run
    with _lock:
        found = dict(of_run(run).entries) if run is not None else {**_of_last_run, **_outside}
    return {name: entry for name, entry in found.items() if entry.there()}


def live(run: Run | None = None) -> dict[str, Tree]:
    """Return the tracked values of this moment as trees, in a recording as in a replay.

    The result is for immediate display: it still holds secrets. Values that are not available are left out.
    """
    found: dict[str, Tree] = {}
    for name, entry in living(run).items():
        with suppress(Exception), entered(None):
            found[name] = codec.Encoder().encode(entry.get())
    return found


def of_process(name: str) -> bool:
    """Return True if state of that name was declared outside of any run."""
    return name in _outside


def _holding(thing: Any) -> Callable[[], Any]:
    return lambda: thing


def _is_known(thing: Any) -> bool:
    """Return True if the codec knows the type; of other objects the attributes are kept."""
    kind = type(thing)
    return isinstance(thing, _HOLDERS) or any(hasattr(kind, mark) for mark in _MARKS)


def _put(thing: Any, name: str, tree: Tree, lost: Callable[[str], None]) -> None:
    made = putback.put_back(thing, tree, lost)
    if made is thing:
        return
    if hasattr(thing, "clear") and (hasattr(thing, "update") or hasattr(thing, "extend")):
        thing.clear()
        (thing.update if hasattr(thing, "update") else thing.extend)(made)
        return
    recorded = next(iter(tree)) if isinstance(tree, dict) and tree else type(codec.view(tree)).__name__
    raise UsageError(
        f"{name!r} cannot be restored: a {type(thing).__name__} is tracked, recorded was a {recorded}"
    )
