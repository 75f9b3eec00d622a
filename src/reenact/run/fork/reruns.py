"""Run tools again in a fork before its step, so that the program's own state is as recorded.

A tool that had ended before the step runs again as in a replay. Its lines in the fork refer to the parent's: each is
written when its event happens again, and the others when the tool ends.
"""

from __future__ import annotations

from typing import Any

from reenact.core.boundary import Ticket
from reenact.core.model.event import TOOL, Effect, Tree
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay.replayer import Replayer
from reenact.run.fork.sharing import Sharing
from reenact.run.fork.started import enclosing


class Reruns:
    """The tools of the parent that run again.

    Args:
        replayer: Answers from the parent.
        sharing: Writes the parent's lines into the fork.
        log: The parent's process.
        at: The call of the step.
    """

    def __init__(self, replayer: Replayer, sharing: Sharing, log: Log, at: CallRecord | None) -> None:
        self._sharing = sharing
        self._last = max(log.calls, default=0)
        self._end = at.place if at is not None else -1.0
        self._begun: set[int] = set()
        self._ended: list[int] = []
        self._real: set[int] = set()
        within: list[Any] = [line["in"] for line in log.spawned.values()]
        self._starting = {call.number for place in within for call in enclosing(log, place)}
        replayer.tools.withheld = self.reason

    def reason(self, effect: Effect, call: CallRecord) -> str:
        """Return the reason to answer a tool without running it; empty if it can run again."""
        if call.order is None or call.order > self._end:
            return "it had not ended at the step"
        if call.number in self._starting:
            return "it had started a Python program"
        if effect.source is not None and effect.source.digest != call.called.get("source"):
            return "its source has changed"
        return ""

    def begin(self, effect: Effect, ticket: Ticket) -> bool:
        """Note a call of the parent's that is about to run. Return True for a tool that runs again."""
        assert ticket.call is not None
        if ticket.again:
            self._begun.add(ticket.call)
        elif effect.kind == TOOL or effect.source is not None:
            self._real.add(ticket.call)
        return ticket.again

    def end(self, ticket: Ticket) -> None:
        """Write the rest of a tool's lines."""
        assert ticket.call is not None
        self._sharing.ran(ticket.call)
        self._ended.append(ticket.call)

    def runs(self, call: int | None) -> bool:
        """Return True for a call that runs again, or did."""
        return call in self._begun

    def tree(self) -> dict[str, Tree]:
        """Return what a replay of the fork needs to run the same tools again, for the last line."""
        return {"calls": sorted(self._ended), "until": self._last, "real": sorted(self._real)}
