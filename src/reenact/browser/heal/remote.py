"""Mend a failed step of a remote session on the server, by the same ladder.

The server also checks the block's expectation, unless it is a function or a pattern: those are checked by the program,
after the server's answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reenact.browser.actions import types as do
from reenact.browser.actions.results import result_of
from reenact.browser.effects.calls import arun
from reenact.browser.effects.operations import Operation, ServerSession, asked_of
from reenact.browser.heal import ladder
from reenact.browser.heal.expect import Expectation
from reenact.browser.heal.mend import FailedStep, Judge, Mend, MendOptions, RungRefusal
from reenact.errors import SessionError

if TYPE_CHECKING:
    from reenact.browser.session.session import Session


@dataclass(frozen=True)
class ServerMend:
    """The server's answer about a failed step.

    Attributes:
        mend: The repair, or None.
        failed: The step, with the key by which the server's recordings know it.
        model: True if the server has a model of its own to ask.
        refusals: The rungs that did nothing, with their reasons, if there is no repair.
    """

    mend: Mend | None
    failed: FailedStep
    model: bool
    refusals: tuple[RungRefusal, ...] = ()


async def mended(
    session: Session,
    failed: FailedStep,
    count: int,
    *,
    judge: Judge | None,
    what: Expectation | None,
    model: str | None,
) -> ServerMend:
    """Let the server climb the ladder.

    Args:
        session: The session of the failed step.
        failed: The step.
        count: The number of actions that the session had done by then.
        judge: Checks the expectation; None if there is none, or its answer would prove nothing.
        what: The expectation that the judge checks.
        model: The name of the model for one question; None for the server's own.
    """
    answer = await arun(
        session.core.driver.run(_asking(failed, count, what if judge is not None else None, model))
    )
    session.core.adopt(answer["outcomes"])
    failed = replace(failed, key=answer["key"])
    mend = _mend(answer)
    if answer["asks"] and judge is not None:
        if mend is not None:
            mend = await _judged(mend, answer["mend"]["message"], judge)
        elif failed.delivered:
            mend = await ladder.arrived(failed, MendOptions(judge=judge))
    refusals = tuple(RungRefusal(**one) for one in answer.get("refusals") or ())
    return ServerMend(mend, failed, bool(answer["model"]), refusals)


def _asking(failed: FailedStep, count: int, what: Expectation | None, model: str | None) -> Operation:
    expected = {} if what is None else {"expect": what.data}
    named = {} if model is None else {"model": model}

    async def wire(link: ServerSession) -> Any:
        action = {"type": failed.asked.type, **asked_of(failed.asked)}
        own = {"expect": {"own": True}} if what is not None and what.own else expected
        return await link.ask("POST", "page/mend", {"action": action, "count": count, **own, **named})

    return Operation(
        "mend", _nowhere, lambda _: {"step": failed.key, **expected, **named}, kind="remote", wire=wire
    )


def _mend(answer: Mapping[str, Any]) -> Mend | None:
    tree = answer["mend"]
    if tree is None:
        return None
    outcome = answer["outcomes"][-1]
    mend = Mend(
        result_of(do.action_of(outcome["action"]), outcome),
        tree["rung"],
        tree["old"],
        new=tree["new"],
        score=tree["score"],
        margin=tree["margin"],
        evidence=tree["evidence"],
        cost=None if tree["cost"] is None else Decimal(tree["cost"]),
        verified_by=tree["verified_by"],
        same_element=tree["same_element"],
    )
    return mend if mend.verified_by or answer["asks"] else _unverified(mend, tree["message"])


async def _judged(mend: Mend, message: str, judge: Judge) -> Mend:
    verdict = await judge()
    if verdict.state == "met":
        return replace(mend, verified_by=f"expect: {verdict.by}")
    return _unverified(mend, message)


def _unverified(mend: Mend, message: str) -> Mend:
    """Return the mend as failed, with the server's message."""
    return ladder.failed(mend, message)


async def _nowhere(live: Any, call: int | None) -> Any:
    raise SessionError("a session of a server's is mended there")
