"""The recorded form of a model's answer: the Responses API's JSON, for every API.

    {"output": [{"type": "message", "role": "assistant", ...}], "usage": {...}, "response_id": "resp_..."}

Streamed, each event is a chunk, as it went over the wire. Only fields that were set are written, and set again: the SDK
sends an answer's items back with the next request, and would send additional fields, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, get_args

from agents.items import ModelResponse
from agents.usage import Usage
from openai.types.responses import ResponseOutputItem, ResponseStreamEvent
from pydantic import BaseModel

_HIDDEN = "_agents_sdk_"
"""The prefix of the attributes that the SDK adds to a response, beside its fields."""


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


fields_of: Callable[[Any], tuple[str, ...]] = lru_cache(_names)
"""The names of a dataclass's fields."""


def plain(value: Any) -> Any:
    """Return an object of OpenAI's as JSON, other values unchanged for the codec."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True, by_alias=True, warnings=False)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


class AnswerWire:
    """The wire of a whole answer."""

    def dump(self, value: Any, /) -> Any:
        """Return a response's fields without empty ones."""
        if not isinstance(value, ModelResponse):
            return value
        tree = {"output": plain(value.output), "usage": _usage(value.usage)}
        for name in fields_of(type(value)):
            item = getattr(value, name)
            if name not in tree and item is not None:
                tree[name] = item
        return tree

    def load(self, value: Any, /) -> Any:
        """Rebuild the response."""
        if not (isinstance(value, Mapping) and "output" in value):
            return value
        fields: dict[str, Any] = {name: value.get(name) for name in fields_of(ModelResponse)}
        fields["output"] = [_made(item, _items()) for item in value["output"]]
        fields["usage"] = Usage(**_known(Usage, value.get("usage") or {}))
        return ModelResponse(**fields)


class EventsWire:
    """The wire of a streamed answer: nothing at its head, then its events."""

    def dump(self, value: Any, /) -> Any:
        """Return an event's JSON, with the attributes that the SDK has added to its response."""
        tree = plain(value)
        hidden = _hidden(getattr(value, "response", None))
        return {"event": tree, "hidden": hidden} if hidden else tree

    def load(self, value: Any, /) -> Any:
        """Rebuild the event."""
        if not isinstance(value, Mapping):
            return value
        event = _made(value.get("event", value), _events())
        for name, item in value.get("hidden", {}).items():
            object.__setattr__(event.response, _HIDDEN + name, item)
        return event


def _hidden(response: Any) -> dict[str, Any]:
    found = getattr(response, "__dict__", {})
    return {
        name.removeprefix(_HIDDEN): item
        for name, item in found.items()
        if name.startswith(_HIDDEN) and isinstance(item, (dict, int, str, type(None)))
    }


def _usage(usage: Any) -> dict[str, Any]:
    if not dataclasses.is_dataclass(usage):
        return {}
    tree = {}
    for name in fields_of(type(usage)):
        item = getattr(usage, name)
        if item == []:
            continue
        tree[name] = [_usage(each) for each in item] if isinstance(item, list) else plain(item)
    return tree


def _known(kind: Any, tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a class has: a recording survives other versions of the SDK."""
    names = fields_of(kind)
    return {name: item for name, item in tree.items() if name in names}


def _made(tree: Any, kinds: Mapping[str, Any]) -> Any:
    """Build an object of its own class loosely, as the client does. An unknown one stays JSON."""
    kind = kinds.get(tree.get("type", "message")) if isinstance(tree, Mapping) else None
    return tree if kind is None else kind.construct(**tree)


@lru_cache(1)
def _items() -> dict[str, Any]:
    return _by_type(ResponseOutputItem)


@lru_cache(1)
def _events() -> dict[str, Any]:
    return _by_type(ResponseStreamEvent)


def _by_type(union: Any) -> dict[str, Any]:
    """Return the classes of a union, by the only value of their `type`."""
    found: dict[str, Any] = {}
    members = get_args(union)
    if members and not isinstance(members[0], type):
        # `Annotated[Union[...], PropertyInfo(...)]`
        members = get_args(members[0])
    for kind in members:
        field = kind.model_fields.get("type")
        for word in get_args(field.annotation) if field is not None else ():
            found.setdefault(str(word), kind)
    return found
