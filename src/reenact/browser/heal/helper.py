"""Who helps a block: the ladder first where that is wanted, then an agent. Each help leaves a record."""

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
from reenact.browser.heal import expect, ladder, record
from reenact.browser.heal.calling import place
from reenact.browser.heal.elsewhere import mended
from reenact.browser.heal.mend import Failed, Judge, Mend, base_of
from reenact.browser.page.options import MODEL
from reenact.browser.session.remote.choosing import agent_for
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.agent import Agent
    from reenact.browser.agent.status import AgentStatusResponse
    from reenact.browser.session.remote.agent import RemoteAgent
    from reenact.browser.session.session import Session


class Helper:
    """Helps one block.

    Args:
        session: The block's session.
        heal: `agent`, `auto` or `off`.
        params: What the agent is made with.

    Attributes:
        agent: The agent, once it was called.
        heals: The records of what was done.
    """

    def __init__(self, session: Session, heal: str, params: Mapping[str, Any]) -> None:
        self._session = session
        self._heal = heal
        self._params = params
        self._left = ""
        self._asks = False
        """Whether the server that has the session has a model of its own."""
        self.agent: Agent | RemoteAgent | None = None
        self.heals: list[record.Heal] = []

    @property
    def cost(self) -> Decimal | None:
        """What the models cost, in US dollars; None where a price is not known."""
        total = Decimal(0)
        for heal in self.heals:
            if heal.cost is None:
                return None
            total += heal.cost
        return total

    async def mended(self, failed: Failed, expected: expect.Expected | None) -> ExecutionResult | None:
        """A failed step, done by another way, if there is one that can be verified and mending is wanted."""
        if self._heal != "auto" or self._session.status().status == "closed":
            return None
        began, count = now(self._session), self._session.offset()
        judge = await self._judge_of(failed, expected)
        mend: Mend | None
        if self._session.remote:
            there = await mended(
                self._session, failed, count, judge=judge, what=expected, model=self._model()
            )
            mend, failed, self._asks = there.mend, there.failed, there.model
        else:
            mend = await ladder.climb(self._session, failed, judge=judge, model=self._model())
        if mend is None:
            return None
        self._keep(record.mended(failed, mend, seconds=now(self._session) - began))
        if mend.verified:
            return mend.result
        self._left = mend.result.message
        return None

    def called(self, failed: Failed) -> Agent | RemoteAgent | None:
        """The agent that is to go on behind a failed step, if there is to be one.

        Raises UsageError where there is to be one, and no model to ask.
        """
        asked, error = self._model(), failed.result.message
        gone = self._session.status().status == "closed"
        alone = asked is None and not self._asks
        if gone or self._heal == "off" or (self._heal == "auto" and alone):
            return None
        try:
            # With a server it is that which finds the model, and says so when there is none.
            model = asked if self._session.remote else _chosen(asked)
        except UsageError as missing:
            raise UsageError(f"{error.rstrip('.')}; and nobody can take over: {missing}") from None
        self.agent = agent_for(self._session, **{**self._params, "reasoning_model": model})
        self.agent._trouble = f"{error} {self._left}".strip()
        return self.agent

    def wrote(self, failed: Failed, answer: AgentStatusResponse, *, healed: bool, by: str) -> None:
        """Keep the record of the agent's takeover; `by` is what verified it besides its own word."""
        assert self.agent is not None
        assert answer.closed_at is not None
        heal = record.taken_over(
            failed,
            healed=healed,
            url=self._session.status().url,
            verified_by=by,
            cost=self.agent.cost,
            tokens=self.agent.tokens,
            seconds=(answer.closed_at - answer.created_at).total_seconds(),
        )
        self._keep(heal)

    def _keep(self, heal: record.Heal) -> None:
        self.heals.append(record.written(self._session, heal))

    def _model(self) -> Any:
        """The model that was named, if one was."""
        named = self._params.get("reasoning_model") or self._session.options.model
        # What a server asks by default is its own matter.
        return named if self._session.remote else named or os.environ.get(MODEL)

    async def _judge_of(self, failed: Failed, what: expect.Expected | None) -> Judge | None:
        """Who tells whether a mend did what is expected of the block; None where nobody can."""
        if what is None:
            return None
        if not failed.delivered and (await expect.ajudged(self._session, what, now=True)).met:
            return None  # it is so without the step: that it is so afterwards says nothing
        return functools.partial(expect.ajudged, self._session, what)


def _chosen(asked: Any) -> Any:
    from reenact.browser.agent import models  # noqa: PLC0415 - a script that works stays quick

    return models.chosen(asked)


def now(session: Session) -> float:
    """Seconds since the epoch, as recorded."""
    with session._crossing.inside():
        return float(boundary.draw("fallback:clock", time.time))


def begun(session: Session, task: str, heal: str) -> float:
    """When a block begins, as recorded: with what it is for, so that a script made of the recording has it again."""
    asked = {"task": task, **({"heal": heal} if heal != "agent" else {})}
    return _marked(session, Effect("heal", "block", asked, leaf=True))


def over(session: Session) -> float:
    """When a block ends, as recorded."""
    return _marked(session, Effect("heal", "left", {}, leaf=True))


def _marked(session: Session, effect: Effect) -> float:
    with session._crossing.inside():
        return float(boundary.perform(effect, time.time))


def stuck(session: Session, action: dict[str, Any], said: str) -> Failed:
    """What is no step of `execute`'s, a call of `session.page` or what is expected, in the words of one that failed."""
    at = datetime.fromtimestamp(now(session), UTC)
    url = session.status().url
    told = do.Help(reason=said)
    result = made(told, at, url, success=False, message=said)
    return Failed(told, action, result, place(), f"{base_of(action, url)} #0", delivered=True)


def made(action: do.Action, at: datetime, url: str, *, success: bool, message: str) -> ExecutionResult:
    """A result without a page."""
    return ExecutionResult(
        action=action, exception=None, success=success, message=message, started_at=at, ended_at=at, url=url,
        selectors=None, why=None, consequence=None, delivered=False,
    )  # fmt: skip
