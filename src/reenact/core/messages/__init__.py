"""Read model calls: the messages, the answer, the tokens and the price.

One registry of readers for all who need it (show, filters, the index, later diff and diagnose). A reader looks at
an effect of one kind and returns a `ModelCall`, or None for an effect that it does not know; `add_reader` adds one.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from reenact.core.late_readers import add_readers
from reenact.core.messages.call import CHATS, Embedded, Message, ModelCall, Reader, ToolCall, Usage
from reenact.core.messages.growing import Memory
from reenact.core.messages.price import cost
from reenact.core.model.event import Tree
from reenact.core.model.plain import binary, plain

if TYPE_CHECKING:
    from reenact.core.model.log import CallRecord, Log

__all__ = [
    "Embedded",
    "Message",
    "ModelCall",
    "Reader",
    "ToolCall",
    "Usage",
    "add_reader",
    "arguments",
    "asks_model",
    "cost",
    "read",
    "readable",
    "request",
]


class Exchange:
    """An effect and its outcome for readers: plain values, decoded on use."""

    def __init__(self, log: Log, call: CallRecord) -> None:
        self.kind = call.kind
        self.name = call.name
        self._log = log
        self._call = call

    @cached_property
    def args(self) -> dict[str, Any]:
        return {name: self._plain(tree) for name, tree in self._log.args(self._call).items()}

    @cached_property
    def value(self) -> Any:
        outcome = self._call.outcome
        return plain(outcome.get("value")) if outcome is not None else None

    @cached_property
    def chunks(self) -> list[Any]:
        return [plain(tree) for _, _, tree in self._call.pieces]

    @cached_property
    def body(self) -> bytes:
        return b"".join(self._bytes(tree) for _, _, tree in self._call.pieces)

    @property
    def stream(self) -> bool:
        return bool(self._call.pieces)

    @property
    def before(self) -> list[str]:
        own, scope = self._call.order, self._call.scope
        return [
            text for order, text in _connection_texts(self._log).get(scope, ()) if own is None or order < own
        ]

    @property
    def memory(self) -> Memory:
        return _memory(self._log)

    def _plain(self, tree: Tree) -> Any:
        if not isinstance(tree, list):
            return plain(tree)
        once = self.memory.once
        return [once(item, plain) for item in tree]

    def _bytes(self, tree: Tree) -> bytes:
        return binary(self._log.filled(tree)) or b""


def read(log: Log, call: CallRecord) -> ModelCall | None:
    """Return the model call of an effect, or None if it is none. Never raises."""
    if not readable(call.kind):
        return None
    asked = Exchange(log, call)
    for reader in (*_readers, *_own()):
        found = None
        with suppress(Exception):
            found = reader(asked)
        if found is not None:
            return found
    return None


def readable(kind: str) -> bool:
    """Return True if an effect of that kind may be a model call."""
    add_readers()
    return kind in _KINDS


def arguments(log: Log, call: CallRecord) -> dict[str, Any]:
    """Return an effect's plain arguments. Do not change them: calls share them."""
    return Exchange(log, call).args


def request(log: Log, body: Any) -> Any:
    """Return the JSON value of an HTTP request's text, or the text itself. Do not change it."""
    return _memory(log).request(body)


def asks_model(kind: str, name: str) -> bool:
    """Return True if an effect of that kind and name calls a language model."""
    return kind == "model" or (
        kind == "http" and name.startswith("POST ") and name.rstrip("/").endswith(CHATS)
    )


def add_reader(reader: Reader, kind: str) -> None:
    """Add a reader of effects of a kind; it is asked before the present ones."""
    _KINDS.add(kind)
    _readers.insert(0, reader)


def _memory(log: Log) -> Memory:
    known = _memories.get(log)
    if known is None:
        known = _memories[log] = Memory()
    return known


def _connection_texts(log: Log) -> dict[str, list[tuple[int, str]]]:
    """Return the messages of each connection, by its scope, with their places in the log."""
    length, found = _connections.get(log, (-1, {}))
    if length != len(log.times):
        found = {}
        kinds: tuple[str, ...] = import_module("reenact.core.messages.realtime").WHOLE
        for call in log.calls.values():
            if call.kind != "websocket":
                continue
            received = call.name.startswith("receive ")
            order = call.order if received else call.place
            text = plain((call.outcome or {}).get("value") if received else log.args(call).get("message"))
            if order is not None and isinstance(text, str) and any(kind in text for kind in kinds):
                found.setdefault(call.scope, []).append((order, text))
        for messages in found.values():
            messages.sort()
        _connections[log] = len(log.times), found
    return found


_connections: WeakKeyDictionary[Log, tuple[int, dict[str, list[tuple[int, str]]]]] = WeakKeyDictionary()
_memories: WeakKeyDictionary[Log, Memory] = WeakKeyDictionary()
_KINDS = {"model", "http", "websocket"}
_readers: list[Reader] = []
"""The readers of others, the last one first."""


@cache
def _own() -> list[Reader]:
    """Return the readers of this package. Many commands and programs read no model call."""
    frameworks = ("pydantic_ai", "openai_agents", "langchain")
    others = ("browser_use", "http", "realtime", "any_model")
    return [
        *(import_module(f"reenact.core.messages.{name}").reader for name in frameworks),
        *(import_module(f"reenact.core.messages.{name}").read for name in others),
    ]
