"""A span as every reader of traces gives it, whichever wire or export it came by, and its attributes looked into."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from reenact.core.model.plain import parsed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that was noted in the course of a span: an exception, a message."""

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    at: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """One span of a trace.

    Attributes:
        trace: The trace's id, in hexadecimal digits (of other exports than OTLP: whatever they say).
        id: The span's own, and `parent` that of the span around it, or nothing.
        name: Its name.
        began: Nanoseconds since 1970, UTC; 0 where nobody knows. `ended` likewise.
        attributes: Plain JSON values by name.
        events: What was noted in it.
        error: The error's text, where it failed; None where it did not.
        resource: The attributes of who sent it (`service.name`).
        library: Which instrumentation made it.
        kind: OTLP's number of its kind: 1 internal, 3 client; 0 where nobody says.
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

    @property
    def loose(self) -> bool:
        """Whether it is no span, but events that came by themselves (log records) and belong to the span of this id."""
        return not self.name and not self.began and bool(self.events)

    def get(self, *names: str) -> Any:
        """The first of these attributes that says something, or None."""
        return next((value for name in names if (value := self.attributes.get(name)) not in (None, "")), None)

    def text(self, *names: str) -> str:
        """The same as text; nothing where there is none."""
        found = self.get(*names)
        return found if isinstance(found, str) else "" if found is None else str(found)

    def event(self, name: str) -> SpanEvent | None:
        """The first event of that name."""
        return next((event for event in self.events if event.name == name), None)


def moment(nanoseconds: int) -> datetime | None:
    """A span's time, or None where nobody knows it."""
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds / 1000) if nanoseconds > 0 else None
    except OverflowError:
        return None


def nanoseconds(when: datetime | None) -> int:
    """A moment as spans have it."""
    return 0 if when is None else round((when - _EPOCH) / timedelta(microseconds=1)) * 1000


def said(value: Any) -> Any:
    """What an attribute says: attributes are texts where values are not, and the text is JSON, or Python's own."""
    if not isinstance(value, str):
        return value
    found = parsed(value)
    if isinstance(found, str) and found[:1] in "{[(" and found[-1:] in "}])":
        try:
            return ast.literal_eval(found)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return found
    return found


def nested(attributes: Mapping[str, Any], prefix: str) -> Any:
    """Attributes that are one value taken apart (`llm.input_messages.0.message.role`), as that value; or None.

    Names become keys, numbers places in a list.
    """
    root: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name.startswith(prefix + "."):
            continue
        keys = name[len(prefix) + 1 :].split(".")
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
    if inner and all(key.isdigit() for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def problem(spans_events: Iterable[SpanEvent], failed: bool, said: str, kind: str) -> str | None:
    """The error's text of a span: of its exception, else its status, else the error's kind; None where it did not fail.

    Args:
        spans_events: Its events.
        failed: Whether its status is an error.
        said: What its status says.
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
