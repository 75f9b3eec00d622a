"""Record Pydantic AI's objects as plain fields, without those at their default value.

    {"type": "ModelResponse", "parts": [{"type": "TextPart", "content": "Hello"}], "usage": {...}, ...}

Only the objects' own classes are taken apart here; whatever they hold (a provider's details, tool arguments) keeps
its Python types by the codec. Fields that the replaying version does not know are left out, those that the recording
version did not know get their defaults: a recording survives the framework's next minor version.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic_ai import messages, usage
from pydantic_ai.models import StreamedResponse

from reenact.errors import RecordingError

_NESTED = {"parts", "part", "delta", "usage"}
_MADE = (list, dict, set)

_HEAD = (
    "model_name", "provider_name", "provider_url", "timestamp", "usage", "provider_response_id", "provider_details",
    "canonical_system", "finish_reason", "state", "metadata", "failed_attempts",
)  # fmt: skip
"""The head fields of a streamed response. Some come late (usage with the last bytes)."""

_Field = tuple[str, Any, Any]
_fields: dict[type, tuple[_Field, ...]] = {}
_names: dict[type, frozenset[str]] = {}
_blanks: dict[type, tuple[dict[str, Any], tuple[tuple[str, Any], ...]]] = {}


def pack(value: Any) -> Any:
    """The recordable form of an object of Pydantic AI's; other values are the codec's."""
    kind = type(value)
    fields = _fields.get(kind)
    if fields is None:
        if not _ours(kind):
            return value
        fields = _learnt(kind)
    tree: dict[str, Any] = {"type": kind.__name__}
    for name, default, factory in fields:
        item = getattr(value, name)
        if item is default or (default.__class__ is str and item == default):
            continue
        if factory in _MADE and not item and type(item) is factory:
            continue
        if name in _NESTED:
            item = [pack(part) for part in item] if isinstance(item, (list, tuple)) else pack(item)
        tree[name] = item
    if isinstance(value, usage.UsageBase) and (more := value.__dict__.keys() - _names[kind]):
        # What providers count beside tokens (searches, say) are attributes, but no fields.
        tree["more"] = {name: value.__dict__[name] for name in sorted(more)}
    return tree


def unpack(tree: Any) -> Any:
    """Rebuild the object. Its constructor does not run: the recorded fields are its results."""
    if not (isinstance(tree, Mapping) and "type" in tree):
        return tree
    kind = _kind(tree["type"])
    defaults, factories = _blanks.get(kind) or _blank(kind)
    values = defaults.copy()
    for name, item in tree.items():
        if name in _NESTED:
            values[name] = [unpack(part) for part in item] if isinstance(item, list) else unpack(item)
        elif name in values:
            values[name] = item
    for name, factory in factories:
        if values[name] is dataclasses.MISSING:
            values[name] = factory()
    instance: Any = object.__new__(kind)
    instance.__dict__.update(values)
    if "more" in tree:
        instance.__dict__.update(tree["more"])
    return instance


def _ours(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) and _find(kind.__name__) is kind


def _learnt(kind: type) -> tuple[_Field, ...]:
    found = []
    for field in dataclasses.fields(kind):
        factory = None if field.default_factory is dataclasses.MISSING else field.default_factory
        # No value is the very object that stands for "no default".
        default = field.default if factory is None else dataclasses.MISSING
        # `list[str]` as a factory makes lists too.
        found.append((field.name, default, getattr(factory, "__origin__", factory)))
    _names[kind] = frozenset(name for name, _, _ in found)
    _fields[kind] = tuple(found)
    return _fields[kind]


def _blank(kind: type) -> tuple[dict[str, Any], tuple[tuple[str, Any], ...]]:
    """Return an instance's default values, and the factories of the others."""
    fields = _learnt(kind)
    made = tuple((name, factory) for name, _, factory in fields if factory is not None)
    _blanks[kind] = {name: default for name, default, _ in fields}, made
    return _blanks[kind]


@lru_cache
def _kind(name: str) -> type:
    kind = _find(name)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return kind
    raise RecordingError(
        f"the recording holds a {name}, which this version of Pydantic AI does not have; "
        f"`reenact report ID -o report.md` says with which version it was made"
    )


def _find(name: str) -> Any:
    return vars(messages).get(name) or vars(usage).get(name)


class ResponseWire:
    """The wire of a whole answer: a model's response, or the usage that it counts."""

    def dump(self, value: Any, /) -> Any:
        """A response's fields."""
        return pack(value)

    def load(self, value: Any, /) -> Any:
        """The response again."""
        return unpack(value)


class Stream:
    """The wire of one streamed answer.

    Its value is the stream's head when it opens; then come events, each with the changes of the head; last, if the
    program read to the end, the whole response.
    """

    def __init__(self) -> None:
        self._said: dict[str, Any] = {}

    def dump(self, value: Any, /) -> Any:
        """A head, `(stream, event)`, or a whole response."""
        if isinstance(value, StreamedResponse):
            return self._news(value)
        if isinstance(value, tuple):
            stream, event = value
            chunk = {"event": pack(event)}
            if news := self._news(stream):
                chunk["news"] = news
            return chunk
        return {"response": pack(value)}

    def load(self, value: Any, /) -> Any:
        """A head as it is; a chunk with its event or response restored."""
        if "usage" in value:
            value["usage"] = unpack(value["usage"])
        if "news" in value:
            value["news"] = self.load(value["news"])
        for name in ("event", "response"):
            if name in value:
                value[name] = unpack(value[name])
        return value

    def _news(self, stream: StreamedResponse) -> dict[str, Any]:
        news = {}
        for name in _HEAD:
            item = getattr(stream, name, None)
            if item is None and name not in self._said:
                continue
            if name not in self._said or self._said[name] != item:
                # Some are filled in as the stream goes on: compared with itself, it would never have changed.
                self._said[name] = copy.copy(item)
                news[name] = pack(item) if name == "usage" else copy.copy(item)
        return news
