"""A span in one form for every reader of traces, with access to its attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from reenact.core.dataclass import dataclass
from reenact.core.model.plain import parsed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_DEEPEST_NAME = 64
"""The levels of an attribute's name; the rest of a longer name is one."""

_LONGEST_LITERAL = 1 << 20
"""The longest text that is read as a Python literal, which takes 100 times its memory."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event of a span: an exception, a message."""

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    at: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A span of a trace.

    Attributes:
        trace: The trace's id, in hexadecimal digits (other exports than OTLP may have other texts).
        id: The span's own; `parent` is that of the enclosing span, or empty.
        name: Its name.
        began: Nanoseconds since 1970, UTC; 0 if unknown. `ended` likewise.
        attributes: Plain JSON values by name.
        events: Its events.
        error: The error's text if it failed, else None.
        resource: The attributes of its sender (`service.name`).
        library: The instrumentation that made it.
        kind: OTLP's number of its kind: 1 internal, 3 client; 0 if unknown.
        replaced: The number of other complete spans of its id, before it, that it has replaced.
    """

    trace: str
    id: str
    name: str
    parent: str = ""
    began: int = 0
    ended: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    error: str | None = None
    resource: Mapping[str, Any] = field(default_factory=dict)
    library: str = ""
    kind: int = 0
    replaced: int = 0

    @property
    def loose(self) -> bool:
        """Return whether it holds only events (log records) that belong to the span of this id."""
        return not self.name and not self.began and bool(self.events)

    def get(self, *names: str) -> Any:
        """Return the first of these attributes with a value, or None."""
        return next((value for name in names if (value := self.attributes.get(name)) not in (None, "")), None)

    def text(self, *names: str) -> str:
        """Return as `get` does, as text; empty without a value."""
        found = self.get(*names)
        return found if isinstance(found, str) else "" if found is None else str(found)

    def event(self, name: str) -> SpanEvent | None:
        """Return the first event of that name, or None."""
        return next((event for event in self.events if event.name == name), None)


def moment(nanoseconds: int) -> datetime | None:
    """Return a span's time, or None if unknown."""
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds / 1000) if nanoseconds > 0 else None
    except OverflowError:
        return None


def nanoseconds(when: datetime | None) -> int:
    """Return a time in nanoseconds since 1970, as spans have it."""
    return 0 if when is None else round((when - _EPOCH) / timedelta(microseconds=1)) * 1000


def said(value: Any) -> Any:
    """Return an attribute's value; a text is read as JSON or a Python literal if it is one."""
    if not isinstance(value, str):
        return value
    found = parsed(value)
    if (
        isinstance(found, str)
        and found[:1] in "{[("
        and found[-1:] in "}])"
        and len(found) <= _LONGEST_LITERAL
    ):
        try:
            read = ast.literal_eval(found)
            # Sets, bytes and the like are no values of JSON: such a text stays one.
            return orjson.loads(orjson.dumps(read, option=orjson.OPT_NON_STR_KEYS))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return found
    return found


def nested(attributes: Mapping[str, Any], prefix: str) -> Any:
    """Rebuild a value from flat attributes (`llm.input_messages.0.message.role`), or None.

    Names become keys, numbers places in a list.
    """
    root: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name.startswith(prefix + "."):
            continue
        keys = name[len(prefix) + 1 :].split(".", _DEEPEST_NAME)
        here = root
        for key in keys[:-1]:
            inner = here.get(key)
            if not isinstance(inner, dict):
                inner = here[key] = {}
            here = inner
        here[keys[-1]] = value
    return _lists(root) if root else None


def _lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {key: _lists(value) for key, value in tree.items()}
    if inner and all(len(key) < 10 and key.isdecimal() for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def problem(spans_events: Iterable[SpanEvent], failed: bool, said: str, kind: str) -> str | None:
    """Return the error's text of a span: exception, status or kind; None if it did not fail.

    Args:
        spans_events: Its events.
        failed: True if its status is an error.
        said: The text of its status.
        kind: Its attribute `error.type`.
    """
    if not failed and not kind:
        return None
    for event in spans_events:
        if event.name == "exception":
            name = str(event.attributes.get("exception.type") or "").removeprefix("builtins.")
            text = str(event.attributes.get("exception.message") or "")
            if name or text:
                return f"{name}: {text}" if name and text else name or text
    return f"{kind}: {said}" if kind and said and kind not in said else said or kind or "failed"
