"""Record a process that a fork has started, under the policy of the fork."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reenact.core.boundary import Answer, Scope, Ticket
from reenact.core.model.event import Effect
from reenact.core.record.recorder import Recorder
from reenact.core.store.local import load
from reenact.errors import ForkStop
from reenact.run.gate import LiveGate
from reenact.run.guard_plan import GuardPlan
from reenact.run.replayer import replayer_of

ON_REFUSAL: list[Callable[[], None]] = []
"""Called when an act was refused in a process that a fork has started."""


class GuardedRecorder(Recorder):
    """Records a process that a fork has started, and obeys the fork's policy.

    Args:
        plan: The policy.
        more: As for any recorder.
    """

    def __init__(self, plan: GuardPlan, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        parent = load(Path(plan.parent))
        replayer = replayer_of(parent, parent.logs[0], {})
        self.refusal: ForkStop | None = None
        self._plan = plan
        self._asked = 0
        self._gate = LiveGate(
            plan.guard(parent),
            self,
            replayer,
            parent.logs[0],
            step=lambda _: self._asked + 1,
            stop=self._stop,
        )

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        self._check()
        ruling = self._gate.guard.rule(effect, scope.call)
        entered_as = self._gate.enter(ruling, scope, ordinal)
        self._asked += 1
        return entered_as

    def act(self, effect: Effect, scope: Scope) -> None:
        self._check()
        self._gate.act(effect, scope)

    def _check(self) -> None:
        if self.refusal is not None:
            raise ForkStop(self.refusal.reason)

    def _stop(self, reason: str) -> None:
        self.refusal = ForkStop(reason)
        self._plan.refuse(reason)
        for end in ON_REFUSAL:
            end()
        raise self.refusal
