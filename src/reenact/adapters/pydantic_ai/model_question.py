"""The question of a model as trees: messages, tools and settings, equal in equal runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from reenact.adapters.pydantic_ai import message as one
from reenact.adapters.pydantic_ai.history import Histories
from reenact.core.model import codec


def of(
    model: Model[Any],
    messages: Sequence[ModelMessage],
    settings: Mapping[str, Any] | None,
    parameters: ModelRequestParameters | None,
    *,
    stream: bool,
    histories: Histories,
) -> dict[str, Any]:
    """The arguments of a model effect."""
    args: dict[str, Any] = {
        "provider": model.system,
        "stream": stream,
        "settings": {name: _plain(value) for name, value in (settings or {}).items()},
    }
    if parameters is not None:
        args["output"] = _output(parameters)
        args["tools"] = _tools(parameters)
    args["messages"] = histories.encoded(messages)
    return args


def _output(parameters: ModelRequestParameters) -> dict[str, Any]:
    """Return the allowed forms of the answer."""
    output: dict[str, Any] = {"mode": parameters.output_mode, "allow_text": parameters.allow_text_output}
    if parameters.output_object is not None:
        shape = parameters.output_object
        output["object"] = {"name": shape.name, "description": shape.description, "schema": shape.json_schema}
    if parameters.allow_image_output:
        output["allow_image"] = True
    return output


def _tools(parameters: ModelRequestParameters) -> codec.Items:
    """Return the tools that the model may call: functions, outputs, and the provider's own."""
    reduce = one.Reducer()
    tools: list[Any] = [_tool(tool, "function") for tool in parameters.function_tools]
    tools += [_tool(tool, "output") for tool in parameters.output_tools]
    tools += [{"type": "native", "tool": tool} for tool in parameters.native_tools]
    data = [one.encoded(tool, reduce) for tool in tools]
    return codec.Items(data, rest=any(type(item) is not bytes for item in data))


def _tool(tool: ToolDefinition, kind: str) -> dict[str, Any]:
    tree: dict[str, Any] = {"type": kind, "name": tool.name, "description": tool.description}
    tree["schema"] = tool.parameters_json_schema
    if tool.strict is not None:
        tree["strict"] = tool.strict
    return tree


def _plain(value: Any) -> Any:
    """Return a setting; one that cannot be kept (a timeout object) is still told apart."""
    if isinstance(value, (str, int, float, type(None))):
        return value
    encoder = codec.Encoder()
    tree = encoder.encode(value)
    return f"<{type(value).__module__}.{type(value).__qualname__}>" if encoder.unkept else codec.view(tree)
