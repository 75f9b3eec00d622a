"""LangGraph: the nodes of a graph, its state, and the ids of messages and checkpoints.

Models and tools are hooked in `reenact.adapters.langchain`, savers in `checkpoints`. Here, runs of graphs and of their
nodes get names, which distinguish parallel branches in any thread.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import AsyncIterator, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import HookMissing, installed_version, patch
from reenact.adapters.imports import when_imported
from reenact.adapters.langchain import ids
from reenact.adapters.langgraph import graph_state, order
from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope, entered

_LIBRARY = "LangGraph"
_LOOPS = {"SyncPregelLoop": ("__enter__", "__exit__"), "AsyncPregelLoop": ("__aenter__", "__aexit__")}
_RUNS = ("run_with_retry", "arun_with_retry")


def install(module: ModuleType) -> None:
    """Hook runs of graphs and of their nodes. Raises HookMissing, before anything is hooked."""
    graph: Any = getattr(module, "Pregel", None)
    if getattr(getattr(graph, "stream", None), "_reenact", False):
        return
    try:
        runner: Any = importlib.import_module("langgraph.pregel._runner")
        loop: Any = importlib.import_module("langgraph.pregel._loop")
        algorithm: Any = importlib.import_module("langgraph.pregel._algo")
        executor: Any = importlib.import_module("langgraph.pregel._executor")
        queue: Any = importlib.import_module("langgraph._internal._queue")
    except ImportError as error:
        raise _unknown(str(error)) from None
    parts = {"BackgroundExecutor": executor, "SyncQueue": queue, "PregelRunner": runner}
    _check(graph, runner, {**parts, **dict.fromkeys(_LOOPS, loop), "LazyAtomicCounter": algorithm})
    patch(graph, "stream", _stream, library=_LIBRARY)
    patch(graph, "astream", _astream, library=_LIBRARY)
    for name, wrapper in zip(_RUNS, (_node, _anode), strict=True):
        ids.put(runner, name, wrapper)
    patch(runner.PregelRunner, "tick", order.tick, library=_LIBRARY)
    patch(runner.PregelRunner, "atick", order.tick, library=_LIBRARY)
    patch(runner.PregelRunner, "commit", order.commit(_label), library=_LIBRARY)
    patch(executor.BackgroundExecutor, "submit", order.submit, library=_LIBRARY)
    patch(queue.SyncQueue, "put", order.put, library=_LIBRARY)
    for name, (enter, leave) in _LOOPS.items():
        graph_state.hook(getattr(loop, name), enter, leave)
    from reenact.adapters.langchain import interrupts

    patch(algorithm.LazyAtomicCounter, "__call__", interrupts.count, library=_LIBRARY)
    _name_ids()


def _check(graph: Any, runner: Any, classes: dict[str, Any]) -> None:
    """Check all names before any patch. `classes` has the modules of the classes by name."""
    missing = ""
    if not inspect.isgeneratorfunction(getattr(graph, "stream", None)):
        missing = "Pregel.stream is no generator"
    elif not inspect.isasyncgenfunction(getattr(graph, "astream", None)):
        missing = "Pregel.astream is no async generator"
    else:
        absent = [name for name in _RUNS if not inspect.isfunction(getattr(runner, name, None))]
        absent += [name for name, holder in classes.items() if not hasattr(holder, name)]
        missing = f"there is no {absent[0]}" if absent else ""
    if missing:
        raise _unknown(missing)


def _unknown(missing: str) -> HookMissing:
    """Return the error for an unknown version; LangChain's models and tools are still recorded."""
    return HookMissing(
        f"LangGraph {installed_version('langgraph')} is not known to this version of Reenact ({missing}): its nodes "
        f"have no names in a recording, and what runs in parallel may not replay"
    )


def _name_ids() -> None:
    """Replace the functions that make ids of messages and checkpoints."""
    for name, function, wrapper in (
        ("langgraph.checkpoint.base", "uuid6", ids.checkpoint_id),
        ("langgraph.pregel._checkpoint", "uuid6", ids.checkpoint_id),
        ("langgraph.pregel._messages", "uuid4", ids.message_id),
    ):
        when_imported(name, partial(ids.put, name=function, wrapper=wrapper))
    when_imported("langgraph.graph.message", ids.name_messages)


# -- names ---------------------------------------------------------------------------------------------------


def _span(graph: Any) -> Scope | None:
    """Return the scope of a graph's run; None if no run is active."""
    if (scope := listening()) is None:
        return None
    return scope.span(f"graph:{getattr(graph, 'name', None) or 'graph'}")


def _stream(original: Any) -> Any:
    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        span = _span(self)
        chunks = original(self, *args, **options)
        return chunks if span is None else _within(span, chunks)

    return hooked


def _astream(original: Any) -> Any:
    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        span = _span(self)
        chunks = original(self, *args, **options)
        return chunks if span is None else _awithin(span, chunks)

    return hooked


def _within(span: Scope, chunks: Any) -> Iterator[Any]:
    """Iterate a graph's run in its scope, and leave the scope while the program has a chunk."""
    try:
        while True:
            with entered(span):
                try:
                    chunk = next(chunks)
                except StopIteration:
                    return
            yield chunk
    finally:
        with entered(span):
            chunks.close()


async def _awithin(span: Scope, chunks: Any) -> AsyncIterator[Any]:
    try:
        while True:
            with entered(span):
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    return
            yield chunk
    finally:
        with entered(span):
            await chunks.aclose()


def _named(task: Any) -> Scope | None:
    """Return the scope of a node's task."""
    if (scope := listening()) is None:
        return None
    return scope.span(_label(task), anchored=True)


def _label(task: Any) -> str:
    """Return a task's name; several tasks of one node are numbered by their order of sending.

    The name does not depend on which thread comes first.
    """
    name = f"node:{task.name}"
    path = getattr(task, "path", ())
    if path and path[0] == "__pregel_push":
        place = next((item for item in path if type(item) is int), None)
        name += f"[{place}]" if place is not None else ""
    return name


def _node(original: Any) -> Any:
    def run_with_retry(task: Any, *args: Any, **options: Any) -> Any:
        span = _named(task)
        if span is None:
            return original(task, *args, **options)
        with entered(span):
            return original(task, *args, **options)

    return run_with_retry


def _anode(original: Any) -> Any:
    async def arun_with_retry(task: Any, *args: Any, **options: Any) -> Any:
        span = _named(task)
        if span is None:
            return await original(task, *args, **options)
        with entered(span):
            return await original(task, *args, **options)

    return arun_with_retry
