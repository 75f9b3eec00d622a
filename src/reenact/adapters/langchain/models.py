"""Chat models whose requests are effects.

Every provider's class implements up to four methods, `_generate`, `_agenerate`, `_stream` and `_astream`; all ways to
ask a model (invoke, stream, batch, structured output, an agent) call one of them. Caches, retries, rate limits,
fallbacks and callbacks are above them, are the program's own code, and run for real in a replay.
"""

from __future__ import annotations

import copy
from contextvars import ContextVar
from typing import Any

from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope, aperform, perform
from reenact.core.model.event import Effect
from reenact.errors import Halt, UsageError

METHODS = ("_generate", "_agenerate", "_stream", "_astream")

_halts: ContextVar[list[Halt] | None] = ContextVar("reenact_langchain_halts", default=None)


def wrap(name: str) -> Any:
    """Return the wrapper of the method of that name."""
    # Imported here, after `install` has checked that LangChain has all the names.
    from reenact.adapters.langchain import chat_question

    cross, streams = _crossing(name), name.endswith("stream")

    def wrapper(original: Any) -> Any:
        def hooked(self: Any, messages: Any, *args: Any, **options: Any) -> Any:
            if (scope := listening()) is None:
                return original(self, messages, *args, **options)
            # A leaf: the HTTP request that carries it is not recorded beside it.
            label, asked = chat_question.of(self, messages, args, options, stream=streams)
            effect = Effect("model", label, asked, leaf=True)

            def live() -> Any:
                if scope.run.model is None:
                    return original(self, messages, *args, **options)
                other, changed = _another(self, scope, options)
                return getattr(other, name)(messages, *args, **changed)

            return cross(effect, live)

        return hooked

    return wrapper


def _crossing(name: str) -> Any:
    """Return the function with which such a method crosses the boundary."""
    from reenact.adapters.langchain.object_wire import MessageWire
    from reenact.adapters.langchain.stream import astream, stream

    answer = MessageWire()
    if name == "_generate":
        return lambda effect, live: perform(effect, live, answer)
    if name == "_agenerate":
        return lambda effect, live: aperform(effect, live, answer)
    return stream if name == "_stream" else astream


def agenerate(original: Any) -> Any:
    """Hook `BaseChatModel.agenerate`, which fails on errors that are no `Exception`.

    It would turn a departure into an AttributeError, which agents take for a failed request.
    """

    async def hooked(self: Any, *args: Any, **options: Any) -> Any:
        if listening() is None:
            return await original(self, *args, **options)
        halts: list[Halt] = []
        token = _halts.set(halts)
        try:
            return await original(self, *args, **options)
        except Exception:
            if halts:
                raise halts[0] from None
            raise
        finally:
            _halts.reset(token)

    return hooked


def one_of(original: Any) -> Any:
    """`BaseChatModel._agenerate_with_cache`: one of the requests that `agenerate` gathers."""

    async def hooked(self: Any, *args: Any, **options: Any) -> Any:
        try:
            return await original(self, *args, **options)
        except Halt as halt:
            halts = _halts.get()
            if halts is not None:
                halts.append(halt)
            raise

    return hooked


def _another(model: Any, scope: Scope, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the model that a fork asks instead of the program's, and the options of the call."""
    name = str(scope.run.model)
    options = dict(options)
    if ":" in name:
        other = _of_provider(name)
        if type(other) is not type(model) and options.get("tools"):
            # Each provider has its own form of tools.
            options |= other.bind_tools(options["tools"]).kwargs
    else:
        field = next((each for each in ("model_name", "model") if each in type(model).model_fields), None)
        if field is None:
            raise UsageError(
                f"--model {name}: a {type(model).__name__} has no name; give a provider too: openai:gpt-5"
            )
        other = copy.copy(model)
        setattr(other, field, name)
    if "model" in options:
        options["model"] = name.partition(":")[2] or name
    return other, options


def _of_provider(name: str) -> Any:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise UsageError(
            f"--model {name}: another provider's takes `pip install langchain`; or give a name without provider"
        ) from None
    return init_chat_model(name)
