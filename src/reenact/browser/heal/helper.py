"""Help a block: try the ladder if the user wants it, then an agent; record each help."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult
from reenact.browser.heal import expect, heal_record, ladder
from reenact.browser.heal.caller import place
from reenact.browser.heal.mend import FailedStep, Judge, Mend, RungRefusal
from reenact.browser.heal.remote import mended
from reenact.browser.page.session_options import MODEL
from reenact.browser.script.step_key import base_of
from reenact.browser.session.remote.agent_choice import agent_for
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.agent import Agent
    from reenact.browser.agent.status import AgentStatusResponse
    from reenact.browser.session.remote.agent import RemoteAgent
    from reenact.browser.session.session import Session


class BlockHelper:
    """Helps one block.

    Args:
        session: The block's session.
        heal: `agent`, `auto` or `off`.
        params: The agent's options.

    Attributes:
        agent: The agent, once it was called.
        heals: The records of the repairs.
        left: The message of a repair that failed and has changed the page, or empty.
    """

    def __init__(self, session: Session, heal: str, params: Mapping[str, Any]) -> None:
        self._session = session
        self._heal = heal
        self._params = params
        self.left = ""
        self._asks = False
        """True if the server of the session has a model of its own."""
        self.agent: Agent | RemoteAgent | None = None
        self.heals: list[heal_record.HealRecord] = []

    @property
    def cost(self) -> Decimal | None:
        """Cost of the models in US dollars; None where a price is unknown."""
        total = Decimal(0)
        for heal in self.heals:
            if heal.cost is None:
                return None
            total += heal.cost
        return total

    async def mended(self, failed: FailedStep, expected: expect.Expectation | None) -> ExecutionResult | None:
        """Mend a failed step and return its verified result; None if mending is off or failed."""
        if self._heal != "auto" or self._session.status().status == "closed":
            return None
        began, count = now(self._session), self._session.offset()
        judge = await self._judge_of(failed, expected)
        mend: Mend | None
        refusals: list[RungRefusal] = []
        if self._session.remote:
            there = await mended(
                self._session, failed, count, judge=judge, what=expected, model=self._model()
            )
            mend, failed, self._asks = there.mend, there.failed, there.model
            refusals += there.refusals
        else:
            mend = await ladder.climb(
                self._session, failed, judge=judge, model=self._model(), refusals=refusals
            )
        if mend is None:
            if refusals:
                self._keep(heal_record.stopped(failed, refusals, seconds=now(self._session) - began))
            return None
        self._keep(heal_record.mended(failed, mend, seconds=now(self._session) - began))
        if mend.verified:
            return mend.result
        self.left = mend.result.message
        return None

    def called(self, failed: FailedStep) -> Agent | RemoteAgent | None:
        """Return the agent that continues after a failed step, or None.

        Raises UsageError if an agent is wanted and there is no model.
        """
        asked, error = self._model(), failed.result.message
        gone = self._session.status().status == "closed"
        alone = asked is None and not self._asks
        if gone or self._heal == "off" or (self._heal == "auto" and alone):
            return None
        try:
            # A server finds the model itself, and reports a missing one.
            model = asked if self._session.remote else _chosen(asked)
        except UsageError as missing:
            raise UsageError(f"{error.rstrip('.')}; and no agent can take over: {missing}") from None
        self.agent = agent_for(self._session, **{**self._params, "reasoning_model": model})
        self.agent.trouble = f"{error} {self.left}".strip()
        return self.agent

    def wrote(self, failed: FailedStep, answer: AgentStatusResponse, *, healed: bool, by: str) -> None:
        """Keep the record of the agent's takeover; `by` names the check that verified it."""
        assert self.agent is not None
        assert answer.closed_at is not None
        heal = heal_record.taken_over(
            failed,
            healed=healed,
            url=self._session.status().url,
            verified_by=by,
            cost=self.agent.cost,
            tokens=self.agent.tokens,
            seconds=(answer.closed_at - answer.created_at).total_seconds(),
        )
        self._keep(heal)

    def _keep(self, heal: heal_record.HealRecord) -> None:
        self.heals.append(heal_record.written(self._session, heal))

    def _model(self) -> Any:
        """Return the named model, or None."""
        named = self._params.get("reasoning_model") or self._session.options.model
        # A server has a default model of its own.
        return named if self._session.remote else named or os.environ.get(MODEL)

    async def _judge_of(self, failed: FailedStep, what: expect.Expectation | None) -> Judge | None:
        """Return the check of the block's expectation for a mend; None if it would prove nothing."""
        if what is None:
            return None
        if not failed.delivered and (await expect.ajudged(self._session, what, now=True)).met:
            return None  # it is met already without the step
        return functools.partial(expect.ajudged, self._session, what)


def _chosen(asked: Any) -> Any:
    from reenact.browser.agent import models  # noqa: PLC0415 - a script that works stays quick

    return models.chosen(asked)


def now(session: Session) -> float:
    """Return the seconds since the epoch, as recorded."""
    with session.core.recording.inside():
        return float(boundary.draw("fallback:clock", time.time))


def begun(session: Session, task: str, heal: str) -> float:
    """Record the beginning of a block with its task; return the seconds since the epoch.

    A script exported from the recording needs the task.
    """
    asked = {"task": task, **({"heal": heal} if heal != "agent" else {})}
    return _marked(session, Effect("heal", "block", asked, leaf=True))


def over(session: Session) -> float:
    """Record the end of a block; return the seconds since the epoch."""
    return _marked(session, Effect("heal", "left", {}, leaf=True))


def _marked(session: Session, effect: Effect) -> float:
    with session.core.recording.inside():
        return float(boundary.perform(effect, time.time))


def stuck(session: Session, action: dict[str, Any], said: str) -> FailedStep:
    """Return a `FailedStep` for a failed call of `session.page` or a failed expectation."""
    at = datetime.fromtimestamp(now(session), UTC)
    url = session.status().url
    told = do.Help(reason=said)
    result = made(told, at, url, success=False, message=said)
    return FailedStep(told, action, result, place(), f"{base_of(action, url)} #0", delivered=True)


def made(action: do.Action, at: datetime, url: str, *, success: bool, message: str) -> ExecutionResult:
    """Return the result of an action that was not done on a page."""
    return ExecutionResult(
        action=action, exception=None, success=success, message=message, started_at=at, ended_at=at, url=url,
        selectors=None, why=None, consequence=None, delivered=False, step=None,
    )  # fmt: skip
