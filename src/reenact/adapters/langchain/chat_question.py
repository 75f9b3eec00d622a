"""The question of a chat model as trees: messages, tools and settings, equal in equal runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import ref

import orjson
from langchain_core.messages import BaseMessage

from reenact.core.model import codec

_ROLES = {"human": "user", "ai": "assistant", "HumanMessageChunk": "user", "AIMessageChunk": "assistant"}
_AUTO = "lc_"
"""The prefix of the random ids that LangChain gives to blocks of a content."""

_OUT = {
    # Made anew in every run, or what an earlier answer says about itself.
    "id", "response_metadata", "usage_metadata", "chunk_position",
    # For the program only, never sent.
    "artifact", "example",
    # Said otherwise below.
    "type", "role", "tool_calls", "tool_call_chunks",
}  # fmt: skip
"""The fields that are left out.

A field missing here causes a false divergence, which is seen; one missing in a list of fields to keep would cause a
wrong answer in silence.
"""

_MODELS = 256
_KEPT_APART = {"tools", "_type", "stream"}


def of(
    model: Any,
    messages: Sequence[BaseMessage],
    args: Sequence[Any],
    options: Mapping[str, Any],
    *,
    stream: bool,
) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of a model effect.

    Args:
        model: The chat model that is asked.
        messages: Its messages.
        args: The method's other positional arguments: the stop words.
        options: Its keyword arguments: tools, a response format. The run's manager does not reach the model.
        stream: True for an answer in chunks.
    """
    stop = args[0] if args else options.get("stop")
    asked = {key: item for key, item in options.items() if key not in ("stop", "run_manager")}
    given = _settings(model, stop, asked)
    name = next((given[key] for key in ("model", "model_name", "model_id") if given.get(key)), None)
    found = {
        "class": type(model).__name__,
        "api": _provider(model),
        "stream": stream,
        "settings": {key: plain(item) for key, item in given.items() if item is not None},
        "tools": _items([_encoded(plain(tool)) for tool in asked.get("tools") or ()]),
        "messages": _messages(messages),
    }
    return str(name or getattr(model, "model", None) or type(model).__name__), found


def _settings(model: Any, stop: list[str] | None, options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        given = model._get_invocation_params(stop=stop, **options)
    except Exception:
        # Some models cannot return their parameters; those of the call are known.
        given = {"stop": stop, **options}
    return {key: item for key, item in given.items() if key not in _KEPT_APART}


_providers: dict[int, tuple[ref[Any], str]] = {}


def _provider(model: Any) -> str:
    """Return a model's provider by LangChain's tracing name (`openai`), for prices. Cached."""
    known = _providers.get(id(model))
    if known is not None and known[0]() is model:
        return known[1]
    try:
        name = str(model._get_ls_params().get("ls_provider") or "")
    except Exception:
        return ""
    if len(_providers) >= _MODELS:
        _providers.clear()
    _providers[id(model)] = ref(model), name
    return name


def plain(value: Any) -> Any:
    """Return an argument; of one that cannot be recorded (a client object), its type."""
    if isinstance(value, (str, int, float, type(None))):
        return value
    if isinstance(value, type):
        # A response format given as a class.
        schema = getattr(value, "model_json_schema", None)
        return schema() if schema is not None else f"<{value.__module__}.{value.__qualname__}>"
    encoder = codec.Encoder()
    tree = encoder.encode(value)
    return f"<{type(value).__module__}.{type(value).__qualname__}>" if encoder.unkept else codec.view(tree)


def _messages(messages: Sequence[BaseMessage]) -> codec.Items:
    return _items([_encoded(_tree(message)) for message in messages])


def _items(data: list[Any]) -> codec.Items:
    return codec.Items(data, rest=any(type(item) is not bytes for item in data))


def _encoded(tree: Any) -> Any:
    """Return a tree as JSON bytes with sorted keys; unchanged if only the codec can encode it."""
    try:
        data = orjson.dumps(tree, option=orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS)
    except (TypeError, ValueError):
        # Bytes, keys that are no text, lone surrogates: the codec knows them all.
        return tree
    # Keys that look like the codec's own tags are escaped there.
    return tree if b"$" in data and (b'{"$' in data or b',"$' in data) else data


def _tree(message: BaseMessage) -> dict[str, Any]:
    """Return a message as the model gets it, with the field names that most providers share."""
    kind = message.type
    tree: dict[str, Any] = {"role": _ROLES.get(kind) or getattr(message, "role", None) or kind}
    for name, item in vars(message).items():
        if name in _OUT or item is None or (name != "content" and not item):
            continue
        tree[name] = item
    if tree.get("status") == "success":
        del tree["status"]
    if calls := getattr(message, "tool_calls", None):
        tree["tool_calls"] = [{key: call.get(key) for key in ("name", "args", "id")} for call in calls]
    if more := {key: item for key, item in tree.get("additional_kwargs", {}).items() if item is not None}:
        tree["additional_kwargs"] = more
    else:
        tree.pop("additional_kwargs", None)
    if type(tree.get("content")) is list:
        tree["content"] = [_block(block) for block in tree["content"]]
    if extra := message.__pydantic_extra__:
        tree["extra"] = extra
    return tree


def _block(block: Any) -> Any:
    if isinstance(block, dict) and str(block.get("id", "")).startswith(_AUTO):
        return {key: item for key, item in block.items() if key != "id"}
    return block
