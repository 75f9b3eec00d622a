"""A model whose requests are effects."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import (
    Model,
    ModelRequestContext,
    ModelRequestParameters,
    StreamedResponse,
    infer_model,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from reenact.adapters.pydantic_ai import history, model_question, object_wire
from reenact.adapters.pydantic_ai.stream import ReplayedStream, Tee
from reenact.core.boundary import Call, Scope, aperform, areporting, begin, entered
from reenact.core.model.event import Effect
from reenact.core.store.writer import warn
from reenact.errors import UsageError

_WHOLE = object_wire.ResponseWire()


class RecordedModel(WrapperModel):
    """Turns the requests to the wrapped model into effects of kind `model`.

    They are leaves: the HTTP requests that carry them are not recorded beside them. A model that tries several others
    (`FallbackModel`) is one effect, named after all of them, with the final answer.

    Args:
        wrapped: The model that answers live.
        scope: The scope of its effects: that of the agent's run, in any of the framework's tasks.
    """

    def __init__(self, wrapped: Model[Any], scope: Scope) -> None:
        super().__init__(wrapped)
        self._scope = scope
        self._histories = history.of_run(scope.run)

    @property
    def _asked(self) -> Model[Any]:
        """Return the model that answers live: in a fork perhaps another one."""
        other = self._scope.run.model
        return self.wrapped if other is None else _another(self.wrapped, other)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return one whole answer."""
        args = self._args(messages, model_settings, model_request_parameters)
        with entered(self._scope):
            return await aperform(
                Effect("model", self.wrapped.model_name, args, leaf=True),
                lambda: self._asked.request(messages, model_settings, model_request_parameters),
                _WHOLE,
            )

    async def count_tokens(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> RequestUsage:
        """Ask the provider for a request's token count."""
        args = self._args(messages, model_settings, model_request_parameters)
        with entered(self._scope):
            return await aperform(
                Effect("model", f"{self.wrapped.model_name}:count_tokens", args, leaf=True),
                lambda: self._asked.count_tokens(messages, model_settings, model_request_parameters),
                _WHOLE,
            )

    async def compact_messages(
        self, request_context: ModelRequestContext, *, instructions: str | None = None
    ) -> ModelResponse:
        """Return a shorter history, written by the model."""
        context = request_context
        args = self._args(context.messages, context.model_settings, context.model_request_parameters)
        args["instructions"] = instructions
        with entered(self._scope):
            return await aperform(
                Effect("model", f"{self.wrapped.model_name}:compact_messages", args, leaf=True),
                lambda: self._asked.compact_messages(request_context, instructions=instructions),
                _WHOLE,
            )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncIterator[StreamedResponse]:
        """Yield one answer, a stream of events."""
        args = self._args(messages, model_settings, model_request_parameters, stream=True)
        with entered(self._scope):
            call = begin(Effect("model", self.wrapped.model_name, args, leaf=True), object_wire.Stream())
        manager = self._asked.request_stream(messages, model_settings, model_request_parameters, run_context)
        if call is None:
            async with manager as stream:
                yield stream
        elif call.answer is not None:
            yield ReplayedStream(call, await call.recorded.aserve(), model_request_parameters)
        else:
            async with _live(call, manager) as stream:
                yield stream

    def _args(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        *,
        stream: bool = False,
    ) -> dict[str, Any]:
        histories = self._histories
        return model_question.of(
            self.wrapped, messages, settings, parameters, stream=stream, histories=histories
        )


def _another(model: Model[Any], name: str) -> Model[Any]:
    """Return the model of a name with its provider (`openai:gpt-5`), or of the same provider."""
    if ":" in name:
        return infer_model(name)
    other = copy.copy(model)
    if isinstance(other, WrapperModel):
        other.wrapped = _another(other.wrapped, name)
    elif "_model_name" in vars(other):
        vars(other).pop("profile", None)
        other._model_name = name  # type: ignore[attr-defined]
    else:
        raise UsageError(
            f"--model {name}: a {type(model).__name__} has no name; give a provider too: openai:gpt-5"
        )
    return other


@asynccontextmanager
async def _live(
    call: Call, manager: AbstractAsyncContextManager[StreamedResponse]
) -> AsyncIterator[StreamedResponse]:
    """The live stream, teed in place: it stays the object that the provider's class made."""
    async with areporting(call):
        stream = await manager.__aenter__()
    await call.areturned(stream, stream=True)
    tee = Tee(call, stream)
    stream._event_iterator = tee
    if aiter(stream) is not tee:
        kind = type(stream).__name__
        warn(f"the events of a {kind} are not recorded: it does not keep its iterator as others do")
    try:
        yield stream
    except BaseException as error:
        tee.close()
        with entered(call.inner):
            if not await manager.__aexit__(type(error), error, error.__traceback__):
                raise
    else:
        tee.close()
        with entered(call.inner):
            await manager.__aexit__(None, None, None)
