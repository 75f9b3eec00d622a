"""A model call as every reader gives it: messages in, one answer out, whichever library asked and whoever answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reenact.core.messages.growing import Memory

_CUT = {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "model_length"}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that an answer asks for; `args` are plain JSON, or text that is none."""

    name: str
    args: Any = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        text: What it says; an image or a file stands in it as `[image]`.
        calls: The tools that it asks for.
        name: Of a `tool` message the tool's name, else the author's, where it is known.
        id: Of a `tool` message the id of the call that it answers.
        thinking: What the model thought aloud before it answered.
    """

    role: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    name: str = ""
    id: str = ""
    thinking: str = ""

    def says(self, other: Message) -> bool:
        """Whether both say the same and ask for the same tools; ids and thinking may have been left out on the way."""
        return (
            self.role == other.role
            and self.text.strip() == other.text.strip()
            and [(call.name, call.args) for call in self.calls]
            == [(call.name, call.args) for call in other.calls]
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a call, as its provider counted them. `input` includes `cached` and `written`.

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
    """What a call for embeddings made: of how many texts how many vectors, and how many numbers are in each."""

    inputs: int
    vectors: int = 0
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a language model.

    Attributes:
        model: The model that answered, or that was asked for.
        messages: All that the model saw, the newest last.
        answer: What it said, or None where it failed or never answered.
        usage: The tokens, or None where nobody counted them.
        provider: Whose API it was, where that is known (`openai`, `anthropic`, `google`); for prices.
        tools: The names of the tools that it was offered.
        streamed: The answer came in pieces.
        problem: The API's own words where it refused.
        finish: Why the answer ended, in the API's own word (`stop`, `length`, `max_tokens` …), or nothing.
        schemas: The JSON schema of each offered tool's arguments, by the tool's name, where it was given one.
        embedded: What was made of the messages' texts, where embeddings were asked for: then it is no chat, and no
            turn of one. None for all others.
        billed: What the API itself says that the call cost, in US dollars (OpenRouter does), or None.
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
        """Whether the answer was cut off at its greatest length, whatever its API calls that."""
        return self.finish.lower() in _CUT


class Asked(Protocol):
    """What a reader gets to see of an effect and its outcome; everything is plain JSON, and made when looked at."""

    kind: str
    name: str

    @property
    def args(self) -> dict[str, Any]:
        """The arguments."""

    @property
    def value(self) -> Any:
        """What it returned (a stream: its head), or None."""

    @property
    def chunks(self) -> list[Any]:
        """A stream's chunks, plain."""

    @property
    def body(self) -> bytes:
        """A stream's chunks joined, where they are bytes or text."""

    @property
    def stream(self) -> bool:
        """Whether the outcome has chunks."""

    @property
    def before(self) -> list[str]:
        """Of a connection's message: the texts that went over it before, either way, those that say something."""

    @property
    def memory(self) -> Memory:
        """What was read of the log's earlier calls."""


Reader = Callable[[Asked], ModelCall | None]
"""Reads the effects that it knows, and says None to all others."""


@dataclass(slots=True)
class Draft:
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
