"""The gate for live calls of a fork, controlled by the policy.

A refused call is written as in flight, and the program ends there. A call that the policy answers is written with its
answer, which names the mode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from reenact.core.boundary import Answer, Scope, Ticket, ToolInside
from reenact.core.model.event import Effect, Tree
from reenact.core.model.log import Log
from reenact.core.record.recorder import Recorder
from reenact.core.replay.answers import answer_of
from reenact.core.replay.replayer import Replayer
from reenact.core.replay.rulings import SUBSTITUTED, ActionGuard, Ruling
from reenact.core.replay.substitutes import NoSubstitute, Substitutes
from reenact.core.replay.watch import Edit


class LiveGate:
    """Lets live calls through, answers them, or refuses them.

    Args:
        guard: Decides.
        recorder: Writes the calls.
        replayer: Compares questions with the parent's.
        log: The parent's process, whose answers serve the mode `recorded`.
        step: Returns the step number of a call, or of the next one.
        stop: Ends the program for a reason. Raises `ForkStop`.
    """

    def __init__(
        self,
        guard: ActionGuard,
        recorder: Recorder,
        replayer: Replayer,
        log: Log,
        *,
        step: Callable[[int | None], int],
        stop: Callable[[str], None],
    ) -> None:
        self.guard = guard
        self._recorder = recorder
        self._log = log
        self._step = step
        self._stop = stop
        self._answers = Substitutes(log, replayer.terms, replayer.cursor, guard)

    def enter(self, ruling: Ruling, scope: Scope, ordinal: int) -> Answer | Ticket:
        """Write the question of an act, and let it run, answer it, or refuse it."""
        effect = ruling.act.effect
        step = self._step(None)
        ticket = self._recorder.question(effect, scope, ordinal)
        if ruling.mode in SUBSTITUTED:
            try:
                edit = self._answers.to(ruling)
            except NoSubstitute as error:
                self._stop(self.guard.refusal(ruling, step, str(error)))
                raise
            self._write(ticket, edit, ruling.mode)
            return answer_of(edit, len(self._log.times))
        if ruling.mode != "live":
            self._stop(self.guard.refusal(ruling, step))
        self.watch(ruling, ticket, step)
        return ticket

    def again(self, ruling: Ruling, ticket: Ticket, why: str) -> None:
        """Let a recorded call before the step of a fork run again, or refuse it."""
        step = self._step(ticket.call)
        if ruling.mode != "live":
            self._stop(self.guard.refusal(ruling, step, f"{why} ({ruling.basis})"))
        source = ruling.act.effect.source
        if source is not None:
            ticket.tool = ToolInside(source.unrecorded)
        self.watch(ruling, ticket, step)

    def watch(self, ruling: Ruling, ticket: Ticket, step: int) -> None:
        """Note a call that runs for real, and watch its acts."""
        self.guard.went(ticket.call, ruling)
        if ticket.tool is not None and not ruling.covers and ticket.call is not None:
            ticket.tool.permit = partial(self._permit, ruling, ticket.call, step)

    def act(self, effect: Effect, scope: Scope) -> None:
        """Allow an act that does not cross the boundary, or refuse it."""
        ruling = self.guard.rule(effect, scope.call)
        if ruling.mode == "live":
            self.guard.went(None, ruling)
            return
        step = self._step(None)
        self._recorder.question(effect, scope, scope.count(effect.label))
        self._stop(self.guard.refusal(ruling, step))

    def _permit(self, ruling: Ruling, call: int, step: int, what: str) -> None:
        """Decide on an act inside of a tool that runs because it only reads."""
        if self.guard.covers(call):
            return
        found = self.guard.asked(ruling.act, f"it {what}")
        if found.mode != "live":
            self._stop(self.guard.refusal(found, step))
        self.guard.cover(call)

    # -- answers of the policy -------------------------------------------------------------------------------

    def _write(self, ticket: Ticket, edit: Edit, mode: str) -> None:
        line: dict[str, Tree] = {"event": "returned", "value": edit.value}
        if edit.error is not None:
            line = {"event": "raised", "error": edit.error}
        elif edit.pieces is not None:
            line["stream"] = True
        write = self._recorder.stamped
        write({**line, "call": ticket.call, "policy": mode})
        for piece in edit.pieces or ():
            write({"event": "chunk", "value": piece, "call": ticket.call})
        if edit.pieces is not None:
            write({"event": "ended", "call": ticket.call})
