"""Record LangChain's objects as plain fields, without those at their default value.

    {"type": "ChatResult", "generations": [{"type": "ChatGeneration", "message": {"type": "AIMessage", "content": …}}]}

Only LangChain's own classes are converted here; the codec keeps the Python types of their contents (a provider's
metadata, tool arguments). Fields that the replaying version does not have are left out, those that the recording
version did not have get their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from langchain_core import messages, outputs
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from reenact.errors import RecordingError

_NESTED = {"generations", "message"}


def pack(value: Any) -> Any:
    """Return the recordable form of LangChain's messages or outputs; others are the codec's."""
    if isinstance(value, list):
        return [pack(item) for item in value]
    kind = type(value)
    if _find(kind.__name__) is not kind:
        return value
    tree: dict[str, Any] = {"type": kind.__name__}
    for name, default in _defaults(kind).items():
        item = getattr(value, name)
        if name == "type" or (item == default and type(item) is type(default)):
            continue
        tree[name] = pack(item) if name in _NESTED else item
    if _says_twice(tree):
        del tree["text"]
    if extra := value.__pydantic_extra__:
        tree["extra"] = dict(extra)
    if value.__pydantic_fields_set__ != _named(tree):
        tree["set"] = sorted(value.__pydantic_fields_set__)
    return tree


def unpack(tree: Any) -> Any:
    """Rebuild the object. Its validators do not run: the recorded fields are their results."""
    if isinstance(tree, list):
        return [unpack(item) for item in tree]
    if not (isinstance(tree, Mapping) and "type" in tree):
        return tree
    kind = _kind(tree["type"])
    values = {name: _fresh(default) for name, default in _defaults(kind).items()}
    for name in values.keys() & tree.keys() - {"type"}:
        values[name] = unpack(tree[name]) if name in _NESTED else tree[name]
    if "message" in tree and "text" not in tree:
        content = values["message"].content
        values["text"] = content if isinstance(content, str) else ""
    instance: Any = kind.__new__(kind)
    object.__setattr__(instance, "__dict__", values)
    object.__setattr__(instance, "__pydantic_fields_set__", set(tree.get("set") or _named(tree)))
    allows = kind.model_config.get("extra") == "allow"
    object.__setattr__(instance, "__pydantic_extra__", dict(tree.get("extra") or ()) if allows else None)
    object.__setattr__(instance, "__pydantic_private__", None)
    return instance


def _says_twice(tree: dict[str, Any]) -> bool:
    """Return True if a generation's text only repeats its message, as in most cases."""
    message = tree.get("message")
    return isinstance(message, dict) and "text" in tree and tree["text"] == message.get("content")


def _named(tree: Mapping[str, Any]) -> set[str]:
    """Return the fields that a tree has values for."""
    return {*tree.keys() - {"type", "extra", "set"}, *(("text",) if "message" in tree else ())}


@lru_cache
def _defaults(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a class with their defaults. `type` is the key of the tree."""
    return {name: field.get_default(call_default_factory=True) for name, field in kind.model_fields.items()}


def _fresh(default: Any) -> Any:
    if default is PydanticUndefined:
        return None
    return default.copy() if isinstance(default, (list, dict)) else default


@lru_cache
def _kind(name: str) -> Any:
    kind = _find(name)
    if kind is not None:
        return kind
    raise RecordingError(
        f"the recording holds a {name}, which this version of LangChain does not have; "
        f"`reenact report ID -o report.md` says with which version it was made"
    )


@lru_cache
def _find(name: str) -> Any:
    """Return the class of that name among LangChain's messages and outputs, or None."""
    kind = getattr(messages, name, None) or getattr(outputs, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


class MessageWire:
    """The wire of a whole answer, and of each chunk of a streamed one."""

    def dump(self, value: Any, /) -> Any:
        """Return its fields."""
        return pack(value)

    def load(self, value: Any, /) -> Any:
        """Rebuild the object."""
        return unpack(value)
