"""A step, on its line and whole, and the state at it."""

from __future__ import annotations

from reenact.server.shapes.base import Ended, Json, Shape
from reenact.server.shapes.listing import Tokens


class Row(Shape):
    """A step as a line of a table.

    `began` is in seconds since the recording began, `duration` null while no answer has come. `within` is the step that
    it is inside of, `depth` how many those are. `anomalies` are the rules that found something, null until known.
    """

    step: int
    kind: str
    name: str
    model_name: str | None
    status: Ended
    began: float
    duration: float | None
    depth: int
    within: int | None
    scope: str
    process: str
    error: str | None
    summary: str
    tokens: Tokens | None
    cost: float | None
    chunks: int
    edited: bool
    anomalies: list[str] | None


class Rows(Shape):
    """A page of steps; `total` is how many the filter means."""

    items: list[Row]
    total: int


class Call(Shape):
    """A tool that a model asks for."""

    name: str
    args: Json
    id: str | None


class Message(Shape):
    """One message of a conversation; of what it has not there is nothing."""

    role: str
    text: str
    calls: list[Call] = []  # noqa: RUF012 - pydantic gives each its own
    name: str = ""
    id: str = ""
    thinking: str = ""


class Usage(Shape):
    """A model call's tokens, as its provider counted them."""

    input: int
    output: int
    cached: int
    written: int
    heard: int
    spoken: int
    heard_cached: int


class Embedded(Shape):
    """What a call for embeddings made."""

    inputs: int
    vectors: int
    dimension: int


class ModelCall(Shape):
    """A step as a model call: what is new in it, and how many messages were sent before."""

    model: str
    new_messages: list[Message]
    known_messages: int
    answer: Message | None
    tokens: Usage | None
    cost: float | None
    problem: str | None
    embedded: Embedded | None


class Changed(Shape):
    """What a prompt has that the one before it had not, and the other way round; the answer in between is not new."""

    added: list[Message]
    removed: list[Message]
    from_step: int


class Value(Shape):
    """A tracked value: as of which step it is known, whether it is exactly that of the step, and who looked."""

    value: Json
    why: str
    as_of_step: int | None
    exact: bool
    label: str | None


class StateChange(Shape):
    """A part of the state that differs; of a side that has nothing there the key is missing."""

    path: str
    before: Json = None
    after: Json = None


class StepShape(Row):
    """One step whole.

    `changed` is null for what is no model call and for the first of its scope. `state` is that of the moment when the
    step was asked, `state_changes` what differs from the step before. `events` are its lines as they are stored.
    """

    address: str
    args: dict[str, Json]
    output: Json
    model: ModelCall | None
    changed: Changed | None
    nested: list[Row]
    state: dict[str, Value]
    state_changes: list[StateChange]
    events: list[str]
    blobs: list[str]


class Messages(Shape):
    """All messages that a model saw in a step, the newest last, those from `new` on for the first time."""

    items: list[Message]
    new: int


class State(Shape):
    """The declared state at a step, null for the end; `changes` against the step that was asked for."""

    step: int | None
    state: dict[str, Value]
    changes: list[StateChange]
