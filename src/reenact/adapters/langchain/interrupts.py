"""Interrupts and commands that a tool sends to the graph around it.

`interrupt()` takes the answers of a node's task one after the other, by a count in the graph's own state. A tool that a
recording answers does not run, so its answers are counted for it: else a later `interrupt()` of the same node would get
the tool's answer. The answers themselves are part of the tool's question.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

_SCRATCHPAD = "__pregel_scratchpad"
_TOOK = {"interrupts", "returned"}


class _Count:
    """The number of a tool's calls of `interrupt()` so far."""

    __slots__ = ("counter", "outer", "taken")

    def __init__(self, counter: Any, outer: _Count | None) -> None:
        self.counter = counter
        self.outer = outer
        self.taken = 0


_counting: ContextVar[_Count | None] = ContextVar("reenact_langgraph_interrupts", default=None)


@dataclasses.dataclass(frozen=True, slots=True)
class Sent:
    """A `Send` of LangGraph's, which is no dataclass, as it is recorded."""

    node: str
    arg: Any


def count(original: Any) -> Any:
    """`LazyAtomicCounter.__call__`: note that an answer was taken."""

    def hooked(self: Any) -> Any:
        counting = _counting.get()
        while counting is not None:
            counting.taken += counting.counter is self
            counting = counting.outer
        return original(self)

    return hooked


def answers() -> list[Any]:
    """Return a person's answers to the current task, as far as known before the tool runs."""
    pad = _scratchpad()
    if pad is None:
        return []
    given = list(pad.resume)
    new = pad.get_null_resume(False)
    # If a parallel tool has taken the new answer, it is the last of those given.
    return given if new is None or given[-1:] == [new] else [*given, new]


class Result:
    """The wire of what a tool returns."""

    def __init__(self) -> None:
        self.live = False
        """True if the tool ran."""
        self._taken = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the tool's interrupts."""
        self.live = True
        pad = _scratchpad()
        if pad is None:
            yield
            return
        counting = _Count(pad.interrupt_counter, _counting.get())
        token = _counting.set(counting)
        try:
            yield
        finally:
            _counting.reset(token)
            self._taken = counting.taken

    def dump(self, value: Any, /) -> Any:
        """Return the value, with the number of interrupts if there were any."""
        given = kept(value)
        if self._taken or (type(value) is dict and value.keys() == _TOOK):
            return {"interrupts": self._taken, "returned": given}
        return given

    def load(self, value: Any, /) -> Any:
        """Rebuild the value, and count its interrupts as answered."""
        if type(value) is dict and value.keys() == _TOOK:
            for _ in range(value["interrupts"] if _scratchpad() is not None else 0):
                _types().interrupt(None)
            value = value["returned"]
        return again(value)

    def raised(self, error: Exception) -> Exception:
        """Return the error to raise: the graph itself raises a recorded interrupt, to count it."""
        pad = _scratchpad()
        if self.live or pad is None or type(error).__name__ != "GraphInterrupt":
            return error
        asked = error.args[0][0] if error.args and error.args[0] else None
        for _ in range(len(pad.resume) + 2):
            try:
                _types().interrupt(getattr(asked, "value", None))
            except type(error) as fresh:
                # An interrupt of a graph inside the tool has another id: it is raised as recorded.
                return fresh if getattr(asked, "id", None) == fresh.args[0][0].id else error
        return error


def _types() -> Any:
    return sys.modules.get("langgraph.types")


def _scratchpad() -> Any:
    """Return the current task's counter, or None outside of a graph."""
    if _types() is None:
        return None
    config = var_child_runnable_config.get()
    return (config or {}).get("configurable", {}).get(_SCRATCHPAD)


def kept(value: Any) -> Any:
    """Return a value with its `Send`s in the codec's form."""
    return _walked(value, "out") if _types() is not None else value


def again(value: Any) -> Any:
    """Return a value with its `Send`s, and the constant for the parent graph, restored."""
    return _walked(value, "in") if _types() is not None else value


def _walked(value: Any, way: str) -> Any:
    kind = type(value)
    if kind in (list, tuple):
        return kind(_walked(item, way) for item in value)
    if kind is dict:
        return {key: _walked(item, way) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(kind, "_make"):
        return kind._make(_walked(item, way) for item in value)
    types = _types()
    if kind is Sent:
        return types.Send(value.node, _walked(value.arg, way))
    if kind is types.Send and way == "out":
        return Sent(value.node, _walked(value.arg, way))
    if kind is types.Command:
        graph = types.Command.PARENT if value.graph == types.Command.PARENT else value.graph
        return dataclasses.replace(value, graph=graph, goto=_walked(value.goto, way))
    return value
