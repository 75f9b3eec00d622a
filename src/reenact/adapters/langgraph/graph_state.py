"""Track the state of each running graph automatically: the values of its checkpoints."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from reenact.adapters.hooks import patch
from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope
from reenact.core.boundary.entry import Entry, Gone
from reenact.core.boundary.tracked import of_run
from reenact.core.store.writer import warn

NAME = "langgraph.state"
"""The name of the outermost graph's state."""

_MANY = 100
"""For each such number of items in lists (messages), the state is read one step less often."""

_running: WeakSet[Entry] = WeakSet()


def hook(loop: Any, enter: str, leave: str) -> None:
    """Track the state of a loop from its `enter` to its `leave` method."""
    is_async = enter.startswith("__a")
    patch(loop, enter, _aentering if is_async else _entering, library="LangGraph")
    patch(loop, leave, _aleaving if is_async else _leaving, library="LangGraph")


def _entering(original: Any) -> Any:
    def hooked(self: Any) -> Any:
        entered = original(self)
        _track(self)
        return entered

    return hooked


def _aentering(original: Any) -> Any:
    async def hooked(self: Any) -> Any:
        entered = await original(self)
        _track(self)
        return entered

    return hooked


def _leaving(original: Any) -> Any:
    def hooked(self: Any, *error: Any) -> Any:
        try:
            return original(self, *error)
        finally:
            _let_go(self)

    return hooked


def _aleaving(original: Any) -> Any:
    async def hooked(self: Any, *error: Any) -> Any:
        try:
            return await original(self, *error)
        finally:
            _let_go(self)

    return hooked


def _track(loop: Any) -> None:
    if (scope := listening()) is None:
        return
    try:
        entry = _entry(loop, scope)
        of_run(scope.run).add(entry)
        _running.add(entry)
        loop._reenact_tracked = scope, entry
    except Exception as error:
        warn(f"the state of a graph is not tracked ({type(error).__name__}: {error})")


def _entry(loop: Any, scope: Scope) -> Entry:
    known = of_run(scope.run).entries.get(NAME)
    # The state of an inner or parallel graph is named by its scope.
    name = f"{NAME}@{scope.path}" if known is not None and known in _running else NAME

    def get() -> dict[str, Any]:
        values = _values(loop)
        # Each read goes through all of it: fewer reads of a long history keep the cost of a step the same.
        entry.every = 1 + sum(len(item) for item in values.values() if isinstance(item, list)) // _MANY
        return values

    entry = Entry(name, get, _put, every=1, quiet=True)
    return entry


def _let_go(loop: Any) -> None:
    """Release a graph's last state when another graph runs; an inner graph's at once."""
    tracked: tuple[Scope, Entry] | None = getattr(loop, "_reenact_tracked", None)
    if tracked is None:
        return
    scope, entry = tracked
    _running.discard(entry)
    if entry.name != NAME:
        of_run(scope.run).drop(entry)
        return
    try:
        last = _values(loop)
    except Gone:
        of_run(scope.run).drop(entry)
    else:
        entry.get = lambda: last


def _values(loop: Any) -> dict[str, Any]:
    """Return the graph's output channels, each with its value."""
    channels = getattr(loop, "channels", None)
    if channels is None:
        raise Gone
    keys = loop.stream_keys
    found: dict[str, Any] = {}
    for name in [keys] if isinstance(keys, str) else keys:
        channel = channels.get(name)
        if channel is not None and channel.is_available():
            found[name] = channel.get()
    return found


def _put(*_: object) -> None:
    """Do nothing: a graph's state is made by its nodes, and restored by LangGraph."""
    warn(f"{NAME} is not restored: use graph.update_state()")
