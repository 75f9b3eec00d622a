"""What a model is asked: messages, tools and settings, as trees that two runs of the same program make alike.

Everything that may reach the model is in, by a list of what is out: a name missing on that list is a loud false
divergence, whereas one missing on a list of what is in would be a silent wrong answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import orjson
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from reenact.model import codec

_OUT = {
    # Made anew in every run.
    "timestamp", "run_id", "conversation_id",
    # For the program only, never sent.
    "metadata", "dynamic_ref", "context_id",
    # What a model's answer says about itself; the framework of another version stamps other things there.
    "usage", "finish_reason", "provider_url", "model_id", "canonical_system",
    "workspace_ref", "history_digest", "failed_attempts",
}  # fmt: skip

_GENERATED = "pyd_ai_"
"""How the ids begin that Pydantic AI makes up for calls without one, at random."""

_Shape = tuple[
    Callable[[Any], tuple[Any, ...]], tuple[str, ...], tuple[Any, ...], tuple[tuple[str, str], ...]
]
"""How a class is taken apart: its values at once, their names, their defaults, and the defaults that are texts."""

_shapes: dict[type, _Shape] = {}
_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_SORT_KEYS
_NO_DEFAULT = object()


def of(
    model: Model[Any],
    messages: Sequence[ModelMessage],
    settings: Mapping[str, Any] | None,
    parameters: ModelRequestParameters | None,
    *,
    stream: bool,
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
    args["messages"] = encoded(messages)
    return args


def encoded(messages: Sequence[ModelMessage]) -> list[Any]:
    """Each message as a tree that is encoded already."""
    reduce = _Reducer()
    return [_tree(message, reduce) for message in messages]


def _tree(message: Any, reduce: _Reducer) -> Any:
    try:
        data = orjson.dumps(message, reduce, _OPTIONS)
    except (TypeError, ValueError):
        # Bytes, which the recorder keeps as blobs; keys that are no text; lone surrogates: the codec knows them all.
        return reduce.whole(message)
    if b"$" in data and (b'{"$' in data or b',"$' in data):
        # Keys that look like the codec's own tags are escaped there. Few texts have any of that: the first look is
        # ten times faster than the others.
        return reduce.whole(message)
    return orjson.Fragment(data)


class _Reducer:
    """Turns what orjson does not know into what it does, one message after the other.

    Generated ids are numbered in the order in which they appear: at random, they would differ in every run.
    """

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def __call__(self, value: Any) -> Any:
        """`default` of orjson: one level of a dataclass, or a value of the codec's."""
        shape = _shapes.get(type(value))
        if shape is None:
            if not _known(value):
                return _coded(value)
            shape = _learnt(type(value))
        values, names, defaults, texts = shape
        tree = {
            name: item
            for name, item, default in zip(names, values(value), defaults, strict=True)
            if item is not default
        }
        for name, text in texts:
            if tree.get(name) == text:
                del tree[name]
        call = tree.get("tool_call_id")
        if call is not None and call.startswith(_GENERATED):
            tree["tool_call_id"] = self._ids.setdefault(call, f"{_GENERATED}{len(self._ids)}")
        return tree

    def whole(self, value: Any) -> Any:
        """The same, all levels, as Python values for the codec."""
        if _known(value):
            return {name: self.whole(item) for name, item in self(value).items()}
        if type(value) in {list, tuple}:
            return [self.whole(item) for item in value]
        return value


def _known(value: Any) -> bool:
    return (
        dataclasses.is_dataclass(value)
        and not isinstance(value, type)
        and type(value).__module__.startswith("pydantic_ai.")
    )


def _learnt(kind: type) -> _Shape:
    """How to take a class of Pydantic AI's apart.

    A field that has its default is left out: another version's class may have more, which nobody has set.
    """
    names, defaults = [], []
    for field in dataclasses.fields(kind):
        if field.name in _OUT or field.name.startswith("_"):
            continue
        # Only what tells one kind of part from another is worth its place although it is the default.
        kept = field.default is dataclasses.MISSING or field.name in {"kind", "part_kind"}
        names.append(field.name)
        defaults.append(_NO_DEFAULT if kept else field.default)
    # One name alone would give no tuple.
    values = (
        attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)
    )
    texts = tuple((name, text) for name, text in zip(names, defaults, strict=True) if isinstance(text, str))
    _shapes[kind] = values, tuple(names), tuple(defaults), texts
    return _shapes[kind]


def _coded(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError("bytes are the recorder's to keep")
    return codec.Encoder().encode(value)


def _output(parameters: ModelRequestParameters) -> dict[str, Any]:
    """How the model may answer."""
    output: dict[str, Any] = {"mode": parameters.output_mode, "allow_text": parameters.allow_text_output}
    if parameters.output_object is not None:
        shape = parameters.output_object
        output["object"] = {"name": shape.name, "description": shape.description, "schema": shape.json_schema}
    if parameters.allow_image_output:
        output["allow_image"] = True
    return output


def _tools(parameters: ModelRequestParameters) -> list[Any]:
    """What the model may call: functions, outputs, and what its provider runs."""
    reduce = _Reducer()
    tools = [_tree(_tool(tool, "function"), reduce) for tool in parameters.function_tools]
    tools += [_tree(_tool(tool, "output"), reduce) for tool in parameters.output_tools]
    tools += [_tree({"type": "native", "tool": tool}, reduce) for tool in parameters.native_tools]
    return tools


def _tool(tool: ToolDefinition, kind: str) -> dict[str, Any]:
    tree: dict[str, Any] = {"type": kind, "name": tool.name, "description": tool.description}
    tree["schema"] = tool.parameters_json_schema
    if tool.strict is not None:
        tree["strict"] = tool.strict
    return tree


def _plain(value: Any) -> Any:
    """A setting; one that cannot be kept (a client's own timeout object) is still told from another."""
    if isinstance(value, (str, int, float, type(None))):
        return value
    encoder = codec.Encoder()
    tree = encoder.encode(value)
    return f"<{type(value).__module__}.{type(value).__qualname__}>" if encoder.unkept else codec.decode(tree)
