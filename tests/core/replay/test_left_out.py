"""A call that was left out is named, and not the question of another thread that follows from it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from reenact.core.boundary import Scope
from reenact.core.model.event import Effect, Event
from reenact.core.model.log import Log
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.departures import Departures
from reenact.core.replay.match import Rules
from reenact.core.replay.question import Question
from reenact.errors import Departure

THREAD = "main/thread:work.0"


def called(number: int, at: str, name: str, seen: str) -> dict[str, Any]:
    return {
        "event": "called", "call": number, "at": at, "in": None, "kind": "tool", "name": name, "n": 0,
        "args": {"seen": seen}, "t": 0.0,
    }  # fmt: skip


def fired(at: str, name: str) -> dict[str, Any]:
    return {"event": "fired", "at": at, "in": None, "name": name, "t": 0.0}


LINES = [
    called(1, "main", "wait", "nothing"),
    {"event": "cancelled", "call": 1, "t": 0.0},
    fired("main", "timer#0"),
    fired(THREAD, "begin"),
    fired("main/thread:work.1", "begin"),
    called(2, THREAD, "ask", "late"),
]
"""A call that a time limit ends; then two threads begin, and one of them asks."""


def test_a_cancelled_call_that_is_left_out_comes_before_the_changed_question_of_a_thread() -> None:
    log = Log([Event(str(data["event"]), data, line) for line, data in enumerate(LINES)], lambda _: b"")
    # The thread asks at once, when the other one has not begun.
    turnstile = SimpleNamespace(position=2, over=lambda _: False)
    departures = Departures(log, Cursor(log, Rules(())), {1: 1, 2: 2}, cast("Any", turnstile))
    question = Question(
        Effect("tool", "ask", {"seen": ""}), Scope(THREAD, cast("Any", None)), 0, {"seen": ""}, "tool:ask"
    )
    found = departures.first(question, log.calls[2])
    assert (found.kind, found.step) == (Departure.MISSING, 1)
