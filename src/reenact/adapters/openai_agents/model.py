"""A model whose requests are effects."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import openai
from agents.models.multi_provider import MultiProvider

from reenact.adapters.openai_agents import answer_wire, client_errors, model_question, runs
from reenact.adapters.scopes import listening
from reenact.core.boundary import Call, Scope, aperform, areporting, begin, entered, reporting
from reenact.core.model.event import Effect
from reenact.errors import UsageError

_WHOLE = answer_wire.AnswerWire()
_EVENTS = answer_wire.EventsWire()


def hooked(original: Any) -> Any:
    """Hook `get_model`: wrap its model in a recording or replay."""

    def get_model(agent: Any, run_config: Any) -> Any:
        model = original(agent, run_config)
        if (scope := listening()) is None:
            return model
        flight = runs.flying()
        if flight is None:
            return AgentsModel(model, scope)
        scope = flight.at(agent)
        key = (id(model), scope.path)
        if key not in flight.models:
            flight.models[key] = AgentsModel(model, scope)
        return flight.models[key]

    return get_model


class AgentsModel:
    """A proxy that turns the requests to the wrapped model into effects of kind `model`.

    They are leaves: the HTTP requests that carry them are not recorded beside them. In all other respects, for
    `isinstance` too, it is the wrapped model.

    Args:
        wrapped: The model that answers live.
        scope: The scope of its effects: that of the running agent, in any of the SDK's tasks.
    """

    __wrapped__: Any
    _self_scope: Scope

    def __init__(self, wrapped: Any, scope: Scope) -> None:
        object.__setattr__(self, "__wrapped__", wrapped)
        object.__setattr__(self, "_self_scope", scope)

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> type:
            return type(self.__wrapped__)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "__wrapped__"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__wrapped__, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__wrapped__, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.__wrapped__ == other)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    async def get_response(self, *args: Any, **options: Any) -> Any:
        """Return one whole answer."""
        failed: openai.APIError | None = None

        async def live() -> Any:
            nonlocal failed
            try:
                return await self._self_asked().get_response(*args, **options)
            except openai.APIError as error:
                failed = error
                raise client_errors.recordable(error) from error.__cause__

        try:
            with entered(self._self_scope):
                return await aperform(self._self_effect(args, options, stream=False), live, _WHOLE)
        except openai.APIError as error:
            raised = failed or client_errors.whole(error)
        raise raised

    def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """Yield the events of one answer."""
        with entered(self._self_scope):
            call = begin(self._self_effect(args, options, stream=True), _EVENTS)
        if call is None:
            found: AsyncIterator[Any] = self.__wrapped__.stream_response(*args, **options)
            return found
        if call.answer is not None:
            return _replayed(call)
        return _live(call, lambda: self._self_asked().stream_response(*args, **options))

    def _self_effect(self, args: tuple[Any, ...], options: dict[str, Any], *, stream: bool) -> Effect:
        name = getattr(self.__wrapped__, "model", None)
        asked = model_question.of(args, options, stream=stream)
        return Effect("model", str(name or type(self.__wrapped__).__name__), asked, leaf=True)

    def _self_asked(self) -> Any:
        """Return the model that answers live: in a fork perhaps another one."""
        other = self._self_scope.run.model
        return self.__wrapped__ if other is None else _another(self.__wrapped__, other)


def _another(model: Any, name: str) -> Any:
    """Return the model of a name with its provider (`openai:gpt-5`), or of the same provider."""
    if ":" in name or "/" in name:
        return MultiProvider().get_model(name if "/" in name else name.replace(":", "/", 1))
    if not isinstance(vars(model).get("model"), str):
        raise UsageError(
            f"--model {name}: a {type(model).__name__} has no name; give a provider too: openai:gpt-5"
        )
    other = copy.copy(model)
    other.model = name
    return other


async def _replayed(call: Call) -> AsyncIterator[Any]:
    """Yield the recorded events."""
    try:
        await call.recorded.aserve()
        async with aclosing(call.recorded.apieces()) as events:  # type: ignore[type-var]
            async for event in events:
                yield event
        return
    except openai.APIError as error:
        raised = client_errors.whole(error)
    raise raised


class _Source:
    """A live stream's events; converts its error into a form that can be recorded."""

    def __init__(self, call: Call, events: Any) -> None:
        self._call = call
        self._events = events
        self._first: list[Any] = []
        self.failed: openai.APIError | None = None

    def __aiter__(self) -> _Source:
        return self

    async def begin(self) -> None:
        """Wait for the first event, so that a refused request is an error, not a broken stream."""
        async with areporting(self._call):
            async for event in self:
                self._first.append(event)
                break

    async def __anext__(self) -> Any:
        if self._first:
            return self._first.pop()
        try:
            return await anext(self._events)
        except openai.APIError as error:
            self.failed = error
            raise client_errors.recordable(error) from error.__cause__

    async def aclose(self) -> None:
        """Note that the program stops reading."""
        close = getattr(self._events, "aclose", None)
        if close is not None:
            with entered(self._call.inner):
                await close()


async def _live(call: Call, opened: Callable[[], Any]) -> AsyncIterator[Any]:
    """Yield the live events, each recorded before the program gets it."""
    with reporting(call):
        source = _Source(call, aiter(opened()))
    try:
        async with aclosing(source):
            await source.begin()
            await call.areturned(None, stream=True)
            async with aclosing(call.atee(source)) as events:
                async for event in events:
                    yield event
        return
    except openai.APIError as error:
        raised = source.failed or error
    raise raised
