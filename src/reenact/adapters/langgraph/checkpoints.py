"""Record the reads and writes of a saver of a graph's threads as effects.

A thread's checkpoint is input from an earlier run, and later runs change the database. So a replay reads the recorded
state, and writes nothing. Savers that keep everything in memory (`InMemorySaver`) are part of the program, and run for
real.
"""

from __future__ import annotations

import functools
import inspect
import sys
from functools import lru_cache
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import HookMissing, installed_version
from reenact.adapters.langchain.hooked import hook_all
from reenact.adapters.langchain.interrupts import again, kept
from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope, aperform, astream, entered, perform, stream
from reenact.core.model.event import Effect

_LIBRARY = "LangGraph's checkpoints"
_MEMORY = "langgraph.checkpoint.memory"
_WHERE = ("thread_id", "checkpoint_ns", "checkpoint_id")
_ABOUT = ("step", "source")
_WHOLE = (
    "get_tuple",
    "put",
    "put_writes",
    "delete_thread",
    "delete_for_runs",
    "copy_thread",
    "prune",
    "setup",
)


def install(module: ModuleType) -> None:
    """Hook all savers but those in memory. Raises HookMissing before any change."""
    base: Any = getattr(module, "BaseCheckpointSaver", None)
    absent = [name for name in ("get_tuple", "put", "put_writes", "list") if not hasattr(base, name)]
    if absent:
        raise HookMissing(
            f"{_LIBRARY} {installed_version('langgraph-checkpoint')} are not known to this version of Reenact "
            f"(BaseCheckpointSaver has no {absent[0]}): the reads and writes of a saver are not recorded"
        )
    wrappers = {name: _whole(name) for name in _WHOLE}
    wrappers |= {f"a{name}": _awhole(name) for name in _WHOLE}
    hook_all(
        base,
        wrappers | {"list": _list, "alist": _alist},
        library=_LIBRARY,
        spared=_in_memory,
        also=_open_unseen,
    )


def _in_memory(saver: Any) -> bool:
    return any(kind.__module__.startswith(_MEMORY) for kind in saver.__mro__)


def _open_unseen(saver: Any) -> None:
    """Open the database unrecorded: its reads and writes are recorded instead.

    A driver's thread takes no part in the program's order.
    """
    found = vars(saver).get("from_conn_string")
    if not isinstance(found, classmethod):
        return

    @functools.wraps(found.__func__)
    def from_conn_string(cls: Any, *args: Any, **options: Any) -> Any:
        opened = found.__func__(cls, *args, **options)
        scope = listening()
        return opened if scope is None else _Opened(opened, scope)

    saver.from_conn_string = classmethod(from_conn_string)


class _Opened:
    """A context manager that opens and closes inside a leaf, unrecorded."""

    def __init__(self, opened: Any, scope: Scope) -> None:
        self._opened = opened
        self._scope = scope.inside(f"{scope.path}/saver", call=scope.call, hidden=True)

    def __enter__(self) -> Any:
        with entered(self._scope):
            return self._opened.__enter__()

    def __exit__(self, *error: object) -> Any:
        with entered(self._scope):
            return self._opened.__exit__(*error)

    async def __aenter__(self) -> Any:
        with entered(self._scope):
            return await self._opened.__aenter__()

    async def __aexit__(self, *error: object) -> Any:
        with entered(self._scope):
            return await self._opened.__aexit__(*error)


class CheckpointWire:
    """The wire of a saver's results: values of a graph's state."""

    def dump(self, value: Any, /) -> Any:
        """Return the value with its `Send`s in the codec's form."""
        return kept(value)

    def load(self, value: Any, /) -> Any:
        """Return the value with its `Send`s restored."""
        return again(value)


def _whole(name: str) -> Any:
    def wrapper(original: Any) -> Any:
        if inspect.iscoroutinefunction(original):
            return _awhole(name)(original)

        def hooked(self: Any, *args: Any, **options: Any) -> Any:
            if listening() is None:
                return original(self, *args, **options)
            effect = _effect(self, name, original, args, options)
            return perform(effect, lambda: original(self, *args, **options), CheckpointWire())

        return hooked

    return wrapper


def _awhole(name: str) -> Any:
    def wrapper(original: Any) -> Any:
        async def hooked(self: Any, *args: Any, **options: Any) -> Any:
            if listening() is None:
                return await original(self, *args, **options)
            effect = _effect(self, name, original, args, options)
            return await aperform(effect, lambda: original(self, *args, **options), CheckpointWire())

        return hooked

    return wrapper


def _list(original: Any) -> Any:
    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        if listening() is None:
            return original(self, *args, **options)
        effect = _effect(self, "list", original, args, options)
        return stream(effect, lambda: original(self, *args, **options), CheckpointWire())

    return hooked


def _alist(original: Any) -> Any:
    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        if listening() is None:
            return original(self, *args, **options)
        effect = _effect(self, "list", original, args, options)
        return astream(effect, lambda: original(self, *args, **options), CheckpointWire())

    return hooked


@lru_cache
def _signature(name: str, original: Any) -> inspect.Signature:
    """Return the base class's signature: a saver may take its arguments unnamed."""
    base = sys.modules["langgraph.checkpoint.base"].BaseCheckpointSaver
    return inspect.signature(getattr(base, name, None) or original)


def _effect(saver: Any, name: str, original: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Effect:
    """Return the effect: the thread and the place in it.

    Written values are recorded as the graph's state, and their consequences are in later questions.
    """
    given = _signature(name, original).bind_partial(saver, *args, **options).arguments
    asked: dict[str, Any] = {"saver": type(saver).__name__}
    for key, item in list(given.items())[1:]:
        if key in ("config", "before"):
            where = (item or {}).get("configurable", {})
            found = {each: where[each] for each in _WHERE if where.get(each)}
            asked |= found if key == "config" else {"before": found}
        elif key == "metadata":
            asked |= {each: item[each] for each in _ABOUT if each in item}
        elif key == "writes":
            asked["channels"] = [channel for channel, _ in item]
        elif key not in ("checkpoint", "new_versions", "task_path"):
            asked[key] = item
    return Effect("checkpoint", name, asked, leaf=True)
