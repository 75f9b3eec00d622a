"""Looking on while a replay runs, and changing what it answers: what breakpoints, debugger and forks are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reenact.core.model.divergence import Divergence
from reenact.core.model.event import Outcome, Tree
from reenact.core.model.log import CallRecord
from reenact.core.replay.question import Question


class Watch(Protocol):
    """Who looks on. The program waits until each of these returns; meanwhile nothing else passes the turnstile."""

    def asked(self, question: Question, call: CallRecord | None) -> None:
        """A question is about to be answered: from the recording, or by the world where `call` is None."""

    def departed(self, divergence: Divergence, question: Question | None) -> None:
        """The program leaves its recording, with a question of its own or where it waits, and is about to be told."""

    def left(self, call: int | None, outcome: Outcome) -> None:
        """What was let through to the world has come back."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An answer in place of the recorded one, in the recording's own terms.

    Attributes:
        value: What it returns (of a stream: its head), as a tree.
        pieces: A stream's chunks, as trees; None where the recorded call was no stream.
        error: What it raises instead, as `codec.encode_error` has it, or None.
    """

    value: Tree = None
    pieces: tuple[Tree, ...] | None = None
    error: Tree | None = None
