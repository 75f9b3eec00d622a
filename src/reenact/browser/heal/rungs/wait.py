"""Wait: repeat a step that came too early, within the time budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reenact.browser.actions import types as do
from reenact.browser.effects.calls import arun
from reenact.browser.heal.mend import FailedStep, Mend, MendOptions, StepHistory
from reenact.browser.heal.rungs.alternative import ABSENT, AlternativeRung

if TYPE_CHECKING:
    from reenact.browser.actions.results import ExecutionResult
    from reenact.browser.session.session import Session

_PASSES = {
    "missing", "empty", "loading", "late", "hidden", "disabled", "moving", "detached", "covered", "silent", "outside",
    "no clicks", "unknown",
}  # fmt: skip
"""Reasons of failure that may disappear with time."""

_CHANGES = {"drifted", "several"}
"""Reasons that may disappear if the page shows that it will change."""

_NETWORK = (
    "nothing listens there",
    "was reset",
    "was closed",
    "timed out",
    "sent nothing",
    "no network",
    "no page came",
)
"""Words of a failed load that may succeed later."""

_LEAST = 200
"""Milliseconds for a step that has already waited for the whole budget."""

ENOUGH = 1000
"""Milliseconds of waiting by the step itself that are enough.

After that, the step does not wait for an element that exists under another name, and only briefly on a page that is
loaded and waits for no answer.
"""

PAUSE = 250
"""Milliseconds between two tries to open an address."""


class WaitRung:
    """Tries the step again.

    A click or key press that may have been delivered is never sent twice.
    """

    name = "wait"

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Do the step again, within the budget, or its own time-out while the page may change."""
        if failed.delivered:
            return None
        if isinstance(failed.asked, do.Aimed):
            if (failed.result.why or {}).get("quiet") and not _awaits(failed):
                return means.pass_on(self.name, "the page is quiet, and shows no sign that it will change")
            if await self._in_vain(session, failed, failed.asked, known, means):
                return means.pass_on(
                    self.name, "it waited long enough, and the element is there under another name"
                )
            result = await self._aimed(session, failed, failed.asked, means)
        elif isinstance(failed.asked, do.Goto):
            result = await self._opened(session, failed, means)
        else:
            return means.pass_on(self.name, "time does not help this action")
        if result is None:
            return means.pass_on(
                self.name, f"time does not help: {failed.reason or 'the page was not asked'}"
            )
        if not result.success:
            return means.pass_on(self.name, result.message)
        new = dict(result.selectors or {})
        evidence = {"reason": failed.reason, "consequence": result.consequence}
        return Mend(
            result, self.name, failed.action.get("selector"), new, evidence=evidence, same_element=True
        )

    async def _in_vain(
        self, session: Session, failed: FailedStep, asked: do.Aimed, known: StepHistory, means: MendOptions
    ) -> bool:
        """Return True if the step waited long enough, and its element exists under another name."""
        enough = failed.reason == "missing" and asked.timeout >= ENOUGH
        if asked.id is not None or failed.reason not in ABSENT or not (enough or _awaits(failed)):
            return False
        return await AlternativeRung().sees(session, failed, known, means)

    async def _aimed(
        self, session: Session, failed: FailedStep, asked: do.Aimed, means: MendOptions
    ) -> ExecutionResult | None:
        passes = failed.reason in _PASSES or (failed.reason in _CHANGES and _awaits(failed))
        if not passes or asked.id is not None:
            return None
        element = (failed.result.why or {}).get("element") or {}
        if failed.reason == "covered" and (element.get("covered") or {}).get("exit"):
            return None  # a layer that has an exit must be closed by the rung `dismiss`
        if _awaits(failed):
            patience = max(asked.timeout - _waited(failed), _LEAST)
        else:
            patience = _LEAST if _still(failed, asked) else _patience(asked.timeout, means.budget_ms)
        again = asked.model_copy(update={"timeout": patience})
        return await arun(session.core.perform(again, "heal", target=failed.key))

    async def _opened(
        self, session: Session, failed: FailedStep, means: MendOptions
    ) -> ExecutionResult | None:
        if not any(words in failed.result.message for words in _NETWORK):
            return None
        for _ in range(max(means.budget_ms // PAUSE, 1)):
            await arun(session.core.perform(do.Wait(time_ms=PAUSE), "heal"))
            result = await arun(session.core.perform(failed.asked, "heal"))
            if result.success or not any(words in result.message for words in _NETWORK):
                return result
        return None


def _awaits(failed: FailedStep) -> bool:
    """Return True if the page showed that it may change before the step's time-out."""
    return bool((failed.result.why or {}).get("awaits"))


def _waited(failed: FailedStep) -> int:
    """Return the milliseconds that the step itself has waited."""
    passed = failed.result.ended_at - failed.result.started_at
    return round(passed.total_seconds() * 1000)


def _still(failed: FailedStep, asked: do.Aimed) -> bool:
    """Return True if the page is loaded, waits for no answer, and the step waited long enough."""
    answered = (failed.result.why or {}).get("under_way") == 0
    return answered and failed.reason == "missing" and asked.timeout >= ENOUGH


def _patience(waited: int, budget: int) -> int:
    """Return the milliseconds still to wait, less the time that the step itself has waited."""
    return max(min(budget, _LEAST), budget - waited, 1)
