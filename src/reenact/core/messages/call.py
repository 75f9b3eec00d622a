"""A model call in one form for all libraries and providers: messages and one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol

from reenact.core.dataclass import dataclass
from reenact.core.messages.growing import Memory

CHATS = (
    "chat/completions",
    "completions",
    "responses",
    "messages",
    "api/chat",
    "api/generate",
    "v2/chat",
    "enerateContent",
    "awPredict",
    "/converse",
    "/converse-stream",
    "/invoke",
    "/invoke-with-response-stream",
)
"""The path endings of language model calls."""

_CUT = {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "model_length"}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call in an answer; `args` are plain JSON, or text that is no JSON."""

    name: str
    args: Any = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        text: Its text; an image or a file stands in it as `[image]`.
        calls: Its tool calls.
        name: Of a `tool` message the tool's name, else the author's, if known.
        id: Of a `tool` message the id of the call that it answers.
        thinking: The model's reasoning before the answer.
        failed: Of a `tool` message: the result is marked as an error.
    """

    role: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    name: str = ""
    id: str = ""
    thinking: str = ""
    failed: bool = False

    def says(self, other: Message) -> bool:
        """Return True if text and tool calls are equal; ids and thinking may differ."""
        return (
            self.role == other.role
            and self.text.strip() == other.text.strip()
            and [(call.name, call.args) for call in self.calls]
            == [(call.name, call.args) for call in other.calls]
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a call, as its provider counted them.

    `input` includes `cached` and `written`.

    `heard` and `spoken` are those of `input` and `output` that are audio, which has a price of its own; `heard_cached`
    those that are in `cached` as well.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    heard: int = 0
    spoken: int = 0
    heard_cached: int = 0

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Embedded:
    """The counts of an embedding call: texts, vectors, and numbers in each vector."""

    inputs: int
    vectors: int = 0
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a language model.

    Attributes:
        model: The model that answered, or the requested one.
        messages: All messages that the model saw, the newest last.
        answer: The model's message, or None if it failed or never answered.
        usage: The tokens, or None if not counted.
        provider: The provider, if known (`openai`, `anthropic`, `google`); for prices.
        tools: The names of the offered tools.
        streamed: The answer came in pieces.
        problem: The API's error text if it refused.
        finish: The API's reason for the answer's end (`stop`, `length`, `max_tokens` …), or empty.
        schemas: The JSON schema of each offered tool's arguments, by the tool's name, if given.
        embedded: The embeddings of the messages' texts, for an embedding call: it is no turn of a chat. None for all
            others.
        billed: The cost in US dollars that the API itself reports (OpenRouter does), or None.
    """

    model: str
    messages: tuple[Message, ...] = ()
    answer: Message | None = None
    usage: Usage | None = None
    provider: str = ""
    tools: tuple[str, ...] = ()
    streamed: bool = False
    problem: str = ""
    finish: str = ""
    schemas: Mapping[str, Any] = field(default_factory=dict)
    embedded: Embedded | None = None
    billed: float | None = None

    @property
    def cut(self) -> bool:
        """True if the answer was cut off at its maximum length."""
        return self.finish.lower() in _CUT


class EffectView(Protocol):
    """The view of an effect and its outcome for readers: plain JSON, made on use."""

    kind: str
    name: str

    @property
    def args(self) -> dict[str, Any]:
        """The arguments."""

    @property
    def value(self) -> Any:
        """The returned value (of a stream: its head), or None."""

    @property
    def chunks(self) -> list[Any]:
        """A stream's chunks, plain."""

    @property
    def body(self) -> bytes:
        """A stream's chunks joined, where they are bytes or text."""

    @property
    def stream(self) -> bool:
        """True if the outcome has chunks."""

    @property
    def before(self) -> list[str]:
        """The earlier texts of a message's connection, in both directions, without partial ones."""

    @property
    def memory(self) -> Memory:
        """The memory of the log's earlier calls."""


Reader = Callable[[EffectView], ModelCall | None]
"""Reads the effects that it knows, and returns None for all others."""


@dataclass(slots=True)
class StreamedAnswer:
    """An answer under assembly from a stream's pieces."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[Any, dict[str, Any]] = field(default_factory=dict)

    def call(self, key: Any, name: str = "", args: str = "", id: str = "") -> None:
        """Add to the tool call of that key: its name once, its arguments piece by piece."""
        known = self.calls.setdefault(key, {"name": "", "args": "", "id": ""})
        known["name"] = known["name"] or name
        known["id"] = known["id"] or id
        known["args"] += args
