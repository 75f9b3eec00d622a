"""Watch a replay and change its answers: the base of breakpoints, debugger and forks."""

from __future__ import annotations

from typing import Protocol

from reenact.core.dataclass import dataclass
from reenact.core.model.event import Outcome, Tree
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay.question import Question
from reenact.errors import Divergence


class Watch(Protocol):
    """Watches a replay. The program and the turnstile wait until each method returns."""

    def asked(self, question: Question, call: CallRecord | None) -> None:
        """Called before a question is answered: from the recording, or live where `call` is None."""

    def departed(self, divergence: Divergence, question: Question | None) -> None:
        """Called when the program departs from its recording, with its question if there is one."""

    def left(self, call: int | None, outcome: Outcome) -> None:
        """Called when an effect that ran for real has returned."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An answer in place of the recorded one, in the recording's own terms.

    Attributes:
        value: The returned value (of a stream: its head), as a tree.
        pieces: A stream's chunks, as trees; None if the recorded call was no stream.
        error: The error to raise instead, in the form of `codec.encode_error`, or None.
    """

    value: Tree = None
    pieces: tuple[Tree, ...] | None = None
    error: Tree | None = None


def edit_of(log: Log, call: CallRecord) -> Edit | None:
    """Return a recorded answer as an edit; None if there is none or its stream broke off."""
    outcome = call.outcome
    if (
        outcome is None
        or outcome["event"] == "cancelled"
        or (outcome.get("stream") and call.end not in ("ended", "closed"))
    ):
        return None
    if outcome["event"] == "raised":
        return Edit(error=log.filled(outcome["error"]))
    pieces = tuple(log.filled(tree) for _, _, tree in call.pieces) if outcome.get("stream") else None
    return Edit(log.filled(outcome["value"]), pieces)
