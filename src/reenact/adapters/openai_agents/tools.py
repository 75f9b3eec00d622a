"""Tools with calls as effects: functions, MCP tools, agents as tools, local actions."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from hashlib import blake2b
from inspect import isawaitable
from typing import Any

from agents.agent import AgentBase

from reenact.adapters.openai_agents import runs
from reenact.adapters.openai_agents.answer_wire import plain
from reenact.adapters.scopes import listening
from reenact.adapters.sources import source_of
from reenact.core.boundary import aperform, current, entered
from reenact.core.model.event import Effect, Source


def hooked_invoker(original: Any) -> Any:
    """Hook the `__call__` of the SDK's tool invoker, inside the handler of its failures.

    So the error itself is recorded, and the handler, which is the program's, runs in a replay, too.
    """

    async def invoke(self: Any, ctx: Any, input: str) -> Any:  # noqa: A002
        if listening() is None:
            return await original(self, ctx, input)
        # A copy, as several calls may run at once.
        recorded = object.__new__(type(self))
        recorded.__dict__.update(self.__dict__)
        inner = self._invoke_tool_impl
        source = _source(inner)
        recorded._invoke_tool_impl = lambda ctx, words: _performed(
            ctx, words, lambda: inner(ctx, words), source=source
        )
        return await original(recorded, ctx, input)

    return invoke


def hooked_invoke(original: Any, invoker: type) -> Any:
    """Hook the function that invokes all tools, for tools without an invoker."""

    async def invoke(*, function_tool: Any, context: Any, arguments: str) -> Any:
        scope = current()
        if scope is not None and not scope.hidden and not isinstance(function_tool.on_invoke_tool, invoker):
            function_tool = _wrapped(function_tool)
        return await original(function_tool=function_tool, context=context, arguments=arguments)

    return invoke


def _wrapped(tool: Any) -> Any:
    """Return a tool whose function is recorded; the SDK passes arguments by its signature."""
    inner = tool.on_invoke_tool

    @wraps(inner)
    async def on_invoke_tool(ctx: Any, input: str) -> Any:  # noqa: A002
        return await _performed(ctx, input, lambda: inner(ctx, input), tool.name, _source(inner))

    recorded = copy.copy(tool)
    recorded.on_invoke_tool = on_invoke_tool
    return recorded


async def _performed(
    ctx: Any,
    words: str,
    live: Callable[[], Awaitable[Any]],
    name: str | None = None,
    source: Source | None = None,
) -> Any:
    """Perform a call with the model's arguments; the context is not part of the question."""
    flight = runs.flying()
    called = getattr(ctx, "qualified_tool_name", None) or getattr(ctx, "tool_name", None) or name or "tool"
    owner = getattr(ctx, "tool_call_id", None)
    effect = Effect("tool", called, _arguments(words), owner=owner, source=source)
    with entered(flight.scope if flight is not None else current()):
        return await aperform(effect, live)


def _source(invoke: Any) -> Source | None:
    """Return the source of a tool: a decorated function's, or that of an agent as a tool."""
    code = getattr(invoke, "__code__", None)
    names = code.co_freevars if code is not None else ()
    if "the_func" in names:
        return source_of(_held(invoke, names, "the_func"))
    if "self" in names and isinstance(_held(invoke, names, "self"), AgentBase):
        return _source_of_agent([_held(invoke, names, name) for name in names])
    return source_of(invoke)


def _held(invoke: Any, names: tuple[str, ...], name: str) -> Any:
    """Return the value of a variable in the closure of a function."""
    return invoke.__closure__[names.index(name)].cell_contents


def _source_of_agent(used: list[Any]) -> Source:
    """Return the source of an agent as a tool, from the functions that it uses beside the agent.

    The agent itself is the SDK's code: what it asks inside of the call shows a change of its parts.
    """
    found = [source for one in used if callable(one) and (source := source_of(one)) is not None]
    digest = blake2b("".join(source.digest for source in found).encode(), digest_size=8).hexdigest()
    return Source(digest, tuple(dict.fromkeys(word for source in found for word in source.unrecorded)))


def _arguments(text: str) -> dict[str, Any]:
    """Return the model's arguments; the text itself if it is no JSON object."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {"arguments": text}
    return found if isinstance(found, dict) else {"arguments": text}


# -- tools that act on this machine --------------------------------------------------------------------------


def hooked_executor(original: Any, attribute: str) -> Any:
    """Hook the `execute` of an action whose tool has a function (a shell's `executor`).

    Args:
        original: The function under the class method.
        attribute: Where the call keeps its tool.
    """
    function = "on_invoke_tool" if attribute == "custom_tool" else "executor"

    async def execute(cls: Any, *, call: Any, **options: Any) -> Any:
        scope = current()
        tool = getattr(call, attribute, None)
        inner = getattr(tool, function, None)
        if scope is None or scope.hidden or inner is None:
            return await original(cls, call=call, **options)
        recorded: Any = copy.copy(tool)
        setattr(recorded, function, _acting(recorded.name, call.tool_call, inner))
        return await original(cls, call=replace(call, **{attribute: recorded}), **options)

    return execute


def hooked_editor(original: Any) -> Any:
    """Hook the `execute` of a patch: each file that the editor creates, changes or deletes."""

    async def execute(cls: Any, *, call: Any, **options: Any) -> Any:
        if listening() is None:
            return await original(cls, call=call, **options)
        tool = copy.copy(call.apply_patch_tool)
        tool.editor = _Editor(tool.editor, tool.name, call.tool_call)
        return await original(cls, call=replace(call, apply_patch_tool=tool), **options)

    return execute


def hooked_computer(original: Any) -> Any:
    """Hook the function of all computer actions, which returns the screen for the model."""

    async def act(cls: Any, computer: Any, tool_call: Any) -> Any:
        if listening() is None:
            return await original(cls, computer, tool_call)
        return await _act("computer", tool_call, {}, lambda: original(cls, computer, tool_call))

    return act


class _Editor:
    """An editor whose operations are effects."""

    def __init__(self, editor: Any, name: str, call: Any) -> None:
        self._editor = editor
        for operation in ("create_file", "update_file", "delete_file"):
            act = getattr(editor, operation)
            setattr(self, operation, _acting(name, call, act))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._editor, name)


def _acting(name: str, call: Any, inner: Any) -> Any:
    """Return a function, sync or async, whose calls are effects named after its tool."""

    @wraps(inner)
    async def act(*args: Any) -> Any:
        async def live() -> Any:
            result = inner(*args)
            return await result if isawaitable(result) else result

        # One call may change several files: the operation names this one.
        parts = {part: getattr(args[0], part, None) for part in ("type", "path", "diff", "move_to")}
        asked = {"operation": parts} if parts["path"] is not None else {}
        return await _act(name, call, asked, live)

    return act


async def _act(name: str, call: Any, asked: dict[str, Any], live: Callable[[], Awaitable[Any]]) -> Any:
    given = plain(call)
    told = dict(given) if isinstance(given, dict) else {}
    owner = told.pop("call_id", None)
    asked = {key: item for key, item in {**told, **asked}.items() if key not in ("id", "status", "type")}
    flight = runs.flying()
    with entered(flight.scope if flight is not None else current()):
        return await aperform(Effect("tool", name, asked, owner=owner), live)
