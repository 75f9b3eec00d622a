"""The calls of a replay that run for real: each is decided about before it is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from reenact.core.boundary import Answer, Scope, Ticket, ToolInside
from reenact.core.model import codec
from reenact.core.model.event import Effect
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay.acts import act_of
from reenact.core.replay.answers import answer_of, edit_of
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.question import Question
from reenact.core.replay.rulings import ActionGuard, Ruling
from reenact.core.replay.terms import Terms
from reenact.core.replay.watch import Edit
from reenact.errors import Departure, Divergence, Halt


class RecordedAnswers:
    """The recorded answers to equal questions, wherever they were asked.

    Args:
        log: The recorded process.
        terms: Puts arguments into the recording's terms.
        cursor: Compares questions.
    """

    def __init__(self, log: Log, terms: Terms, cursor: Cursor) -> None:
        self._log = log
        self._terms = terms
        self._cursor = cursor
        self._given: set[int] = set()

    def to(self, effect: Effect) -> Edit | None:
        """Return the recorded answer to an equal question, each one once while there are others."""
        args = self._terms.args(effect)
        self._terms.clean_args(args)
        found: list[tuple[CallRecord, Edit]] = []
        for call in self._log.calls.values():
            if call.label == effect.label and self._cursor.equal(call, effect.label, args):
                edit = edit_of(self._log, call)
                if edit is not None and codec.flaw([edit.value, *(edit.pieces or ())]) is None:
                    found.append((call, edit))
        if not found:
            return None
        call, edit = next((pair for pair in found if pair[0].number not in self._given), found[-1])
        self._given.add(call.number)
        return edit


class LiveCalls:
    """Lets the live calls of a replay happen, answers them, or refuses them.

    Args:
        guard: Decides.
        answers: Serve the mode `recorded`.
        places: The number of places in the recorded order.
        halt: Stops the replay at a divergence, and returns the exception to raise.
        remark: Adds a note to the verdict.
    """

    def __init__(
        self,
        guard: ActionGuard,
        answers: RecordedAnswers,
        places: int,
        *,
        halt: Callable[[Divergence], Halt],
        remark: Callable[[str], None],
    ) -> None:
        self._guard = guard
        self._answers = answers
        self._places = places
        self._halt = halt
        self._remark = remark

    def new(self, question: Question) -> Answer | Ticket:
        """Decide about a call that the recording does not have, or that comes behind a departure."""
        effect, inside = question.effect, question.scope.tool
        if inside is not None and inside.free:
            return self._ticket(Ruling(act_of(effect), "live", "", covers=True), question.address)
        ruling = self._guard.rule(effect)
        if ruling.mode == "recorded":
            edit = self._answers.to(effect)
            if edit is None:
                raise self._refused(ruling, question.address, "it has no recorded answer to this")
            self._remark(f"{effect.label}: by {ruling.basis} it got the recorded answer to an equal question")
            return answer_of(edit, self._places)
        if ruling.mode != "live":
            raise self._refused(ruling, question.address)
        return self._ticket(ruling, question.address)

    def again(self, effect: Effect, call: CallRecord, step: int, *, named: bool) -> Ticket | None:
        """Decide about a recorded call that runs for real; `named` means by its own name.

        Return None if the policy gives it the recorded answer.
        """
        rule = self._guard.policy.rule(act_of(effect))
        if named and rule is None:
            ruling = Ruling(act_of(effect), "live", "--live", covers=True)
        else:
            ruling = self._guard.rule_again(effect)
        if ruling.mode == "recorded":
            return None
        if ruling.mode != "live":
            raise self._refused(ruling, call.address, step=step)
        return Ticket(call.number, call.order, self._inside(ruling, call.address, step))

    def act(self, effect: Effect, scope: Scope) -> None:
        """Decide about an act that crosses no boundary."""
        if scope.tool is not None and scope.tool.free:
            return
        ruling = self._guard.rule(effect)
        if ruling.mode != "live":
            raise self._refused(ruling, f"{scope.path}/{effect.label}")

    # -- within ----------------------------------------------------------------------------------------------

    def _ticket(self, ruling: Ruling, address: str) -> Ticket:
        return Ticket(None, tool=self._inside(ruling, address))

    def _inside(self, ruling: Ruling, address: str, step: int | None = None) -> ToolInside | None:
        source = ruling.act.effect.source
        if source is None and not ruling.covers:
            return None
        inside = ToolInside(() if source is None else source.unrecorded, free=ruling.covers)
        if not ruling.covers:
            inside.permit = partial(self._permit, inside, ruling, address, step)
        return inside

    def _permit(self, inside: ToolInside, ruling: Ruling, address: str, step: int | None, what: str) -> None:
        """Decide on an act inside of a tool that was let through as one that only reads."""
        if inside.free:
            return
        found = self._guard.asked(ruling.act, f"it {what}")
        if found.mode != "live":
            raise self._refused(found, address, step=step)
        inside.free = True

    def _refused(self, ruling: Ruling, address: str, instead: str = "", *, step: int | None = None) -> Halt:
        detail = f"{ruling.act.shown} was not run: {instead or ruling.basis}"
        hint = f"to let it run: {self._guard.option(ruling.act.target)}"
        return self._halt(Divergence(Departure.EXTRA, address, step, detail=detail, hint=hint))
