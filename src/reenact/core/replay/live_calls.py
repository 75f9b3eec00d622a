"""The calls of a replay that run for real: each is decided about before it is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from reenact.core.boundary import Answer, Scope, Ticket, ToolInside
from reenact.core.model.event import Effect
from reenact.core.model.log import CallRecord
from reenact.core.replay.acts import act_of
from reenact.core.replay.answers import answer_of
from reenact.core.replay.question import Question
from reenact.core.replay.rulings import SUBSTITUTED, ActionGuard, Ruling
from reenact.core.replay.substitutes import NoSubstitute, Substitutes
from reenact.errors import Departure, Divergence, Halt


class LiveCalls:
    """Lets the live calls of a replay happen, answers them, or refuses them.

    Args:
        guard: Decides.
        answers: Serve the modes `recorded`, `fixed` and `simulated`.
        places: The number of places in the recorded order.
        halt: Stops the replay at a divergence, and returns the exception to raise.
        remark: Adds a note to the verdict.
    """

    def __init__(
        self,
        guard: ActionGuard,
        answers: Substitutes,
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
        """Decide about a call that the recording does not have, or that follows a departure."""
        effect, inside = question.effect, question.scope.tool
        if inside is not None and inside.free and not effect.declared:
            return self._ticket(Ruling(act_of(effect), "live", "", covers=True), question.address)
        ruling = self._guard.rule(effect)
        if ruling.mode in SUBSTITUTED:
            try:
                edit = self._answers.to(ruling)
            except NoSubstitute as error:
                raise self._refused(ruling, question.address, str(error)) from None
            equal = ruling.mode == "recorded"
            what = "the recorded answer to an equal question" if equal else f"a {ruling.mode} answer"
            self._remark(f"{effect.label}: by {ruling.basis} it got {what}")
            return answer_of(edit, self._places)
        if ruling.mode != "live":
            raise self._refused(ruling, question.address)
        return self._ticket(ruling, question.address)

    def again(self, effect: Effect, call: CallRecord, step: int, *, named: bool) -> Ticket | None:
        """Decide about a recorded call that runs for real; `named` means by its own name.

        Return None if the policy gives it an answer: the recorded one.
        """
        rule = self._guard.policy.rule(act_of(effect))
        if named and rule is None:
            ruling = Ruling(act_of(effect), "live", "--live", covers=True)
        else:
            ruling = self._guard.rule_again(effect)
        if ruling.mode in SUBSTITUTED:
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

    # -- internal --------------------------------------------------------------------------------------------

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
