"""The capability that records an agent's run: it wraps the model and the tools."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_ai.agent import AgentRunResult
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from reenact.adapters import belongings
from reenact.adapters.pydantic_ai.model import RecordedModel
from reenact.adapters.sources import source_of
from reenact.core.boundary import Scope, aperform, entered
from reenact.core.dataclass import dataclass
from reenact.core.model.event import Effect
from reenact.core.query.state import DEPS


class FlightRecorder(AbstractCapability[Any]):
    """One run's recorder, innermost: next to the real model and the real tools.

    The program's own capabilities (guards, retries, caches, budgets) run for real in a replay.

    Args:
        around: The scope in which the run was started.
    """

    def __init__(self, around: Scope) -> None:
        self.scope = around
        self._model: RecordedModel | None = None

    def get_ordering(self) -> CapabilityOrdering:
        """Return the innermost position."""
        return CapabilityOrdering(position="innermost")

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> AgentRunResult[Any]:
        """Name the run after its agent, which distinguishes the requests of parallel runs."""
        name = getattr(ctx.agent, "name", None) or "agent"
        # A span of the scope that started the run, not of the framework's task that wraps it.
        self.scope = self.scope.span(f"agent:{name}")
        with entered(self.scope), belongings.tracked(DEPS, ctx.deps, self.scope):
            return await handler()  # type: ignore[no-any-return]

    def get_wrapper_model(self, model: Model[Any]) -> Model[Any]:
        """Return the wrapped model of the next request."""
        if self._model is None or self._model.wrapped is not model:
            self._model = RecordedModel(model, self.scope)
        return self._model

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Wrap all function tools of the run. Output tools are the program's own code, and run."""
        return RecordedToolset(toolset, self)


class FlightRecorderBefore262(FlightRecorder):
    """The same for a version without wrapped models: each request is wrapped.

    A model's other calls (`count_tokens`) are recorded by their HTTP requests there.
    """

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any
    ) -> ModelResponse:
        """Wrap one request, in a copy: the program's capabilities see their own model."""
        model = self.get_wrapper_model(request_context.model)
        return await handler(replace(request_context, model=model))  # type: ignore[no-any-return]


def recorder_of(scope: Scope) -> FlightRecorder:
    """Return the recorder of a run started in this scope, for the installed version."""
    knows = hasattr(AbstractCapability, "get_wrapper_model")
    return FlightRecorder(scope) if knows else FlightRecorderBefore262(scope)


@dataclass
class RecordedToolset(WrapperToolset[Any]):
    """Turns calls of the wrapped tools into effects of kind `tool`.

    Not in `wrap_tool_execute`, which includes the framework's own counting of calls and retries: with answers from
    there, a replay would reach no limit.
    """

    recorder: FlightRecorder

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Perform one call with its validated arguments, without context and dependencies."""
        source = source_of(_function(tool))
        with entered(self.recorder.scope):
            return await aperform(
                Effect("tool", name, tool_args, owner=ctx.tool_call_id, source=source),
                lambda: self.wrapped.call_tool(name, tool_args, ctx, tool),
            )


def _function(tool: Any) -> Any:
    """Return the program's function behind a tool of any toolset; else None."""
    while (inner := getattr(tool, "source_tool", None)) is not None:
        tool = inner
    schema = getattr(getattr(tool, "call_func", None), "__self__", None)
    return getattr(schema, "function", None)
