"""The handler protocol: the questions and answers that cross the boundary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from reenact.core.boundary.scope import Scope
from reenact.core.model.event import Effect, Outcome


@dataclass(slots=True)
class Ticket:
    """Permission to go live. `order` is the recorded place of the outcome, if it has one."""

    call: int | None
    order: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """One recorded chunk of a stream: its place in the order of the run, and its value."""

    order: int
    value: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded outcome: the value or error, its place in the run's order, a stream's chunks.

    `end` is the end of a stream: None if the recording stops before it, `"ended"`, `"closed"` (the program stopped
    reading), `"cancelled"` (it was cancelled while it waited for more), or the error that broke it off. `end_order`
    is
    the place of an end that came from outside. `cut` is set if the recording stops before the outcome, or before the
    stream's end: the place behind all recorded ones.
    """

    outcome: Outcome
    order: int | None
    call: int | None = None
    pieces: tuple[Piece, ...] = ()
    end: str | BaseException | None = None
    end_order: int | None = None
    cut: int | None = None


class Handler(Protocol):
    """Decides the answer of each effect at the boundary.

    Its decisions are pure: it never waits, and touches nothing in the world but its recording.
    """

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        """An answer, or leave to go live. Raises `Halt` where a replay departs from its recording."""

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        """The outcome of a live call, before the program sees it."""

    def chunk(self, ticket: Ticket, value: Any) -> None:
        """One more chunk of a live stream, before the program sees it."""

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        """A live stream's end: `ended`, `closed`, `cancelled`, or its error."""

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        """A scalar input (a clock, entropy, an environment variable)."""

    def fire(self, scope: Scope, name: str) -> None:
        """A timer, a sleep or a job of the program's came due."""

    def due(self, scope: Scope, name: str) -> int | None:
        """Return the recorded place of that firing, or None."""

    def read_on(self, answer: Answer) -> BaseException:
        """The divergence of a program that reads on where its recording has no more of a stream."""

    def stuck(self, answer: Answer) -> BaseException:
        """Return the divergence of a program that waits forever for a recorded cancellation."""


class Wire(Protocol):
    """Converts a library's own objects to trees and back, where the codec would lose data."""

    def dump(self, value: Any, /) -> Any:
        """The recordable form of a result or chunk."""

    def load(self, value: Any, /) -> Any:
        """The result or chunk again."""


@dataclass(frozen=True, slots=True)
class _Plain:
    def dump(self, value: Any, /) -> Any:
        return value

    def load(self, value: Any, /) -> Any:
        return value


PLAIN: Wire = _Plain()
