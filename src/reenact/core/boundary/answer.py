"""The answers and tickets that a handler gives, and the forms that values take on the way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self

from reenact.core.boundary.inside import ToolInside
from reenact.core.dataclass import dataclass
from reenact.core.model.event import Cancelled, Failure, Outcome, Tree


@dataclass(slots=True)
class Ticket:
    """Permission to go live. `order` is the recorded place of the outcome, if it has one.

    `tool` is the inside of a tool's code that is watched while it runs. `step` is the number of the step that the call
    became in the recording that is written, if it is known. `code` is True for a call that runs code of the program,
    and waits for nothing outside by itself. `limits` are those of the effect; `expired` is True where a library's own
    limit cancelled the call.
    """

    call: int | None
    order: int | None = None
    tool: ToolInside | None = None
    step: int | None = None
    code: bool = False
    limits: Mapping[str, float | None] | None = None
    expired: bool = False

    def ended_by(self, outcome: Outcome) -> dict[str, Tree]:
        """Return the member `limits` of the outcome's entry if a time limit made it; else nothing."""
        if self.limits is None:
            return {}
        cancelled = isinstance(outcome, Cancelled) and self.expired
        late = isinstance(outcome, Failure) and _is_timeout(outcome.error)
        return {"limits": dict(self.limits)} if cancelled or late else {}

    @property
    def again(self) -> bool:
        """True if a replay runs a tool again, with all that it asks answered from the recording."""
        return self.tool is not None and self.tool.again

    @property
    def outside(self) -> bool:
        """True if the outcome comes from outside of the program."""
        return not (self.again or self.code)


@dataclass(frozen=True, slots=True)
class StreamPiece:
    """One recorded chunk of a stream: its place in the order of the run, and its value."""

    order: int
    value: Any


class End(str):
    """The word `ended`, of a generator with a result.

    Args:
        value: The result.
    """

    __slots__ = ("value",)

    value: Any

    def __new__(cls, value: Any) -> Self:
        made = super().__new__(cls, "ended")
        made.value = value
        return made


@dataclass(slots=True)  # not frozen, as `Effect`
class Answer:
    """A recorded outcome: the value or error, its place in the run's order, a stream's chunks.

    `end` is the end of a stream: None if the recording stops before it, `"ended"`, `"closed"` (the program stopped
    reading), `"cancelled"` (it was cancelled while it waited for more), or the error that broke it off. `end_order`
    is the place of an end that came from outside. `cut` is set if the recording stops before the outcome, or before
    the stream's end: the place after all recorded ones.
    """

    outcome: Outcome
    order: int | None
    call: int | None = None
    pieces: tuple[StreamPiece, ...] = ()
    end: str | BaseException | None = None
    end_order: int | None = None
    cut: int | None = None


class Sidecar(Protocol):
    """A file of events beside the effects, in the recording's folder; any thread may write."""

    path: Path

    @property
    def folder(self) -> Path:
        """The recording's folder."""

    def write(self, event: str, *, t: float | None = None, **members: Tree) -> None:
        """Append one line; `t` is in seconds since the recording began, by default now."""

    def blob(self, data: bytes) -> str:
        """Keep bytes unchanged under their hash; return the address, `sha256:…`."""

    def text(self, text: str) -> str:
        """Keep a text (an accessibility tree, a body) without its secrets; return its address."""

    def raw(self, data: bytes) -> bytes:
        """Return the bytes without their secrets."""

    def now(self) -> float:
        """Return the seconds since the recording began."""

    def at(self, epoch: float) -> float:
        """Convert a wall-clock moment (real seconds since 1970) to the recording's time."""

    def close(self) -> None:
        """Sync and close. Harmless when closed."""


class Wire(Protocol):
    """Converts a library's own objects to trees and back, where the codec would lose data."""

    def dump(self, value: Any, /) -> Any:
        """Return the recordable form of a result or chunk."""

    def load(self, value: Any, /) -> Any:
        """Return a result or chunk from its recordable form."""


@dataclass(frozen=True, slots=True)
class _PlainWire:
    def dump(self, value: Any, /) -> Any:
        return value

    def load(self, value: Any, /) -> Any:
        return value


PLAIN: Wire = _PlainWire()


def _is_timeout(error: BaseException) -> bool:
    """Return True if an error reports a time limit.

    Each library has a class of its own for it, so the names of the classes decide.
    """
    return any("timeout" in kind.__name__.lower() for kind in type(error).__mro__)
