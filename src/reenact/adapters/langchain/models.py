"""Chat models whose requests are effects.

Every provider's class implements up to four methods, `_generate`, `_agenerate`, `_stream` and `_astream`; all ways to
ask a model (invoke, stream, batch, structured output, an agent) come down to one of them. Caches, retries, rate limits,
fallbacks and callbacks sit above, are the program's own code, and run for real in a replay.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Iterator
from typing import Any

from reenact.boundary import Scope, aperform, astream, current, perform, stream
from reenact.errors import UsageError
from reenact.model.event import Effect

METHODS = ("_generate", "_agenerate", "_stream", "_astream")


def wrap(name: str) -> Any:
    """What goes around the method of that name."""
    cross = {"_generate": perform, "_agenerate": aperform, "_stream": stream, "_astream": astream}[name]

    def wrapper(original: Any) -> Any:
        def hooked(self: Any, messages: Any, *args: Any, **options: Any) -> Any:
            scope = current()
            if scope is None or scope.hidden:
                return original(self, messages, *args, **options)
            from reenact.adapters.langchain.wire import Answer

            effect = _effect(self, messages, args, options, stream=cross in (stream, astream))

            def live() -> Any:
                if scope.run.model is None:
                    return original(self, messages, *args, **options)
                other, changed = _another(self, scope, options)
                return getattr(other, name)(messages, *args, **changed)

            return cross(effect, _AT_FIRST_USE.get(name, _at_once)(live), Answer())

        return hooked

    return wrapper


def _at_once(live: Any) -> Any:
    return live


def _lazily(live: Any) -> Any:
    """Chunks whose source is asked for with the first of them: by then the call is known to be under way, and a
    provider's `_stream` that returns that of its base class is not recorded twice.
    """

    def chunks() -> Iterator[Any]:
        yield from live()

    return chunks


def _alazily(live: Any) -> Any:
    async def chunks() -> AsyncIterator[Any]:
        async for chunk in live():
            yield chunk

    return chunks


_AT_FIRST_USE = {"_stream": _lazily, "_astream": _alazily}


def _effect(
    model: Any, messages: Any, args: tuple[Any, ...], options: dict[str, Any], *, stream: bool
) -> Effect:
    """The question. It is a leaf: the HTTP that carries it is not recorded beside it."""
    from reenact.adapters.langchain import question

    # `stop` and the run's manager come by place or by name.
    stop = args[0] if args else options.get("stop")
    asked = {key: item for key, item in options.items() if key not in ("stop", "run_manager")}
    name, found = question.of(model, messages, stop, asked, stream=stream)
    return Effect("model", name, found, leaf=True)


def _another(model: Any, scope: Scope, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The model to ask in a fork in the place of the program's, and what comes with the call."""
    name = str(scope.run.model)
    options = dict(options)
    if ":" in name:
        other = _of_provider(name)
        if type(other) is not type(model) and options.get("tools"):
            # Each provider writes tools in its own words.
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
            f"--model {name}: a model of another provider takes langchain (pip install langchain), or give the name alone"
        ) from None
    return init_chat_model(name)
