"""A conversation."""

from __future__ import annotations

from typing import Literal

from reenact.server.shapes.base import Ended, Json, Shape
from reenact.server.shapes.listing import Tokens
from reenact.server.shapes.steps import Call


class Item(Shape):
    """Something that was said or done.

    `part` is `asked` (a message that is new in a model call), `answer` (what the model said), or `done` (a tool or
    another effect, with its arguments and what it gave as `text`). `more` is how many characters of a very long text
    are left out; the step has them. `dropped` is how many earlier messages the program left out of its history.
    """

    step: int
    kind: str
    depth: int
    process: str
    part: Literal["asked", "answer", "done"]
    role: str
    text: str
    more: int = 0
    thinking: str = ""
    name: str = ""
    calls: list[Call] = []  # noqa: RUF012 - pydantic gives each its own
    args: dict[str, Json] | None = None
    model: str | None = None
    dropped: int = 0
    error: str | None = None
    status: Ended | None = None
    duration: float | None = None
    tokens: Tokens | None = None
    cost: float | None = None
    edited: bool = False


class Conversation(Shape):
    """The items of a page of steps; `total` is how many steps there are."""

    items: list[Item]
    total: int
