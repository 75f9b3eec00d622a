"""Tools whose calls are effects.

`_run` (`_arun`) is hooked, which runs the tool's own code: with validated arguments, and below the callbacks, the
handling of errors and the making of a `ToolMessage`, which are LangChain's own code and run for real in a replay. `run`
(`arun`) around it has the id of the call.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any
from weakref import ref

from reenact.adapters.langchain import interrupts
from reenact.adapters.scopes import listening
from reenact.adapters.sources import source_of
from reenact.core.boundary import aperform, perform
from reenact.core.model.event import Effect

_TOOLS = 256


class _Calling:
    """One call of a tool, between `run` and `_run`."""

    __slots__ = ("asked", "config", "id", "tool")

    def __init__(self, tool: Any, options: dict[str, Any]) -> None:
        self.tool = tool
        self.id: str | None = options.get("tool_call_id")
        self.config = options.get("config")
        self.asked = False


_calling: ContextVar[_Calling | None] = ContextVar("reenact_langchain_tool", default=None)


def run(original: Any) -> Any:
    """`BaseTool.run`: note the id of the call."""

    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        if listening() is None:
            return original(self, *args, **options)
        token = _calling.set(_Calling(self, options))
        try:
            return original(self, *args, **options)
        finally:
            _calling.reset(token)

    return hooked


def arun(original: Any) -> Any:
    """`BaseTool.arun`: note the id of the call."""

    async def hooked(self: Any, *args: Any, **options: Any) -> Any:
        if listening() is None:
            return await original(self, *args, **options)
        token = _calling.set(_Calling(self, options))
        try:
            return await original(self, *args, **options)
        finally:
            _calling.reset(token)

    return hooked


def sync_work(original: Any) -> Any:
    """`_run`: the work itself, an effect."""

    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        calling = _taken_up(self)
        if calling is None:
            return original(self, *args, **options)
        result = interrupts.Result()

        def live() -> Any:
            with result.counted():
                return original(self, *args, **options)

        try:
            return perform(_effect(self, calling, args, options), live, result)
        except Exception as error:
            if (other := result.raised(error)) is error:
                raise
            raise other from None

    return hooked


def async_work(original: Any) -> Any:
    """`_arun`: the work itself, an effect."""

    async def hooked(self: Any, *args: Any, **options: Any) -> Any:
        calling = _taken_up(self)
        if calling is None:
            return await original(self, *args, **options)
        result = interrupts.Result()

        async def live() -> Any:
            with result.counted():
                return await original(self, *args, **options)

        try:
            return await aperform(_effect(self, calling, args, options), live, result)
        except Exception as error:
            if (other := result.raised(error)) is error:
                raise
            raise other from None

    return hooked


def _taken_up(tool: Any) -> _Calling | None:
    """Return the call of a tool, once: `_arun` may fall back to `_run`, which then gets None."""
    calling = _calling.get()
    if calling is None or calling.tool is not tool or calling.asked:
        return None
    calling.asked = True
    return calling


_injections: dict[int, tuple[ref[Any], Any, dict[tuple[str, ...], set[str]]]] = {}
"""The arguments that LangChain injects, by the tool's id and argument names.

Cached, since to find them in the schema is slow.
"""


def _injected(tool: Any, options: dict[str, Any]) -> set[str]:
    """Return the injected arguments. Cached by tool, names and schema."""
    schema, names = tool.args_schema, tuple(options)
    known = _injections.get(id(tool))
    if known is None or known[0]() is not tool or known[1] is not schema:
        if len(_injections) >= _TOOLS:
            _injections.clear()
        known = _injections[id(tool)] = ref(tool), schema, {}
    found = known[2].get(names)
    if found is None:
        found = known[2][names] = set(names) - tool._filter_injected_args(options).keys()
    return found


def _effect(tool: Any, calling: _Calling, args: tuple[Any, ...], options: dict[str, Any]) -> Effect:
    """Return the effect of the validated arguments.

    Injected arguments (state, store, the call's config) are left out.
    """
    injected, config = _injected(tool, options), calling.config
    given = {
        name: item
        for name, item in options.items()
        if name not in injected and (item is not config or item is None)
    }
    asked: dict[str, Any] = dict(zip(("input", *map(str, range(1, len(args)))), args, strict=False))
    asked |= given
    if resumed := interrupts.answers():
        asked["__resume__"] = resumed
    function = getattr(tool, "coroutine", None) or getattr(tool, "func", None)
    source = source_of(function if function is not None else getattr(type(tool), "_run", None))
    return Effect("tool", tool.name, asked, owner=calling.id, source=source)
