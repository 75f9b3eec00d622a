"""Compare the results of tools that run again with the recorded ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from reenact.core.boundary import Answer
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.model.event import Cancelled, Outcome
from reenact.core.model.log import CallRecord
from reenact.core.replay.answers import Answers
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.departures import Departures
from reenact.core.replay.replay_state import ReplayState
from reenact.core.replay.reruns import Tools
from reenact.errors import Divergence


class RerunResults:
    """Compares results, chunks and ends of tools that run again; differences are departures.

    Args:
        steps: The step number of each call.
        state: The replay's state.
        tools: Compares values.
        cursor: The calls that have been asked for.
        departures: Names a departure that an earlier one has caused.
        answers: Recorded answers, for tools that get those after all.
        turnstile: The recorded order.
        served: Counts the calls that are as recorded, by kind.
        remark: Adds a note to the verdict.
    """

    def __init__(
        self,
        steps: Mapping[int, int],
        state: ReplayState,
        tools: Tools,
        cursor: Cursor,
        departures: Departures,
        *,
        answers: Answers,
        turnstile: ReplayingTurnstile,
        served: Counter[str],
        remark: Callable[[str], None],
    ) -> None:
        self._steps = steps
        self._state = state
        self._tools = tools
        self._cursor = cursor
        self._departures = departures
        self._answers = answers
        self._turnstile = turnstile
        self._served = served
        self._remark = remark
        self._cancelled: list[tuple[int, Divergence]] = []
        """The departures of cancelled tools, with the position in the recorded order."""

    def outcome(self, call: CallRecord, outcome: Outcome) -> Answer | None:
        """Compare an outcome; return the recorded answer if the program is to have that one."""
        with self._state.lock:
            found = self._tools.departure(call, self._steps[call.number], outcome)
            if found is not None and isinstance(outcome, Cancelled):
                # Its coroutine is being closed: an exception cannot be raised in it.
                self._state.divergences.append(found)
                self._cancelled.append((self._turnstile.position, found))
            elif found is None:
                self._served[call.kind] += 1
            elif self._tools.here and self._tools.unchanged(call):
                self._served[call.kind] += 1
                self._tools.moved_on(call)
                self._remark(
                    f"{call.label} ran again and gave another result than recorded; the program got the recorded one"
                )
                self._turnstile.abandon(self._cursor.places_inside(call))
                return self._answers.recorded(call)
            else:
                self._depart(call, found)
        return None

    def chunk(self, call: CallRecord, number: int, value: Any) -> int | None:
        """Compare a chunk; return its recorded place."""
        with self._state.lock:
            found = self._tools.other_chunk(call, self._steps[call.number], number, value)
            if found is not None:
                self._depart(call, found)
        return call.pieces[number][0] if number < len(call.pieces) else None

    def end(self, call: CallRecord, count: int, how: str | BaseException) -> int | None:
        """Compare the end of a tool's chunks; return its recorded place."""
        with self._state.lock:
            found = self._tools.other_end(call, self._steps[call.number], count, how)
            self._turnstile.abandon([order for order, _, _ in call.pieces[count:]])
            if found is not None and how in ("closed", "cancelled"):
                # Its generator is being closed: an exception cannot be raised in it.
                self._state.divergences.append(found)
            elif found is not None:
                self._depart(call, found)
        return call.end_order

    def _depart(self, call: CallRecord, found: Divergence) -> None:
        self._state.depart(self._departures.overtook(call, found) or found)

    def name_causes(self) -> None:
        """Name a left out call in place of a tool's cancellation that it has caused."""
        for position, found in self._cancelled:
            due = [c for c in self._cursor.missing() if c.outcome is not None and c.place <= position]
            if due and found in self._state.divergences:
                self._state.divergences.remove(found)
                self._state.divergences.append(self._departures.led_to(due[0], found))
