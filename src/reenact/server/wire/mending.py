"""Mend a failed step of a client's session, as `heal="auto"` does, in its recording."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from reenact.browser.actions.results import result_of
from reenact.browser.heal import expect as expecting
from reenact.browser.heal import heal_record, ladder
from reenact.browser.heal.caller import here
from reenact.browser.heal.mend import FailedStep, Judge, Mend, RungRefusal
from reenact.browser.page.session_options import MODEL
from reenact.browser.session.session import Session
from reenact.errors import UsageError
from reenact.server.wire import requests
from reenact.server.wire.actions import files_of
from reenact.server.wire.hosted import Hosted
from reenact.server.wire.responses import Json

_HEAL: TypeAdapter[heal_record.HealRecord] = TypeAdapter(heal_record.HealRecord)


class Mending(BaseModel):
    """The result of mending a failed step.

    `mend` is the mend, or null; then `refusals` has the reason of each rung. `outcomes` are the actions that were done,
    its own the last. `asks` is true if only the program's own expectation could verify it; `model` if the server has a
    model to ask.
    """

    key: str
    mend: dict[str, Json] | None
    outcomes: list[dict[str, Json]]
    asks: bool
    model: bool
    refusals: list[dict[str, Json]] = []


def mended(hosted: Hosted, body: Mapping[str, Any]) -> Mending:
    """Mend a failed step of the session, the last of the first `count`.

    Raises:
        UsageError: It did not fail, or is another action.
    """
    session = hosted.live()
    action = requests.action_of(_mapping(body, "action"), files_of(hosted))
    outcomes, count = session.core.outcomes, body.get("count")
    if not isinstance(count, int) or not 0 < count <= len(outcomes):
        raise UsageError(f"count={count!r}: give the number of actions done when the step failed")
    last = outcomes[count - 1]
    if last["success"] or last["action"].get("type") != action.type:
        raise UsageError(f"action {count} of the session is not a failed {action.type}: it cannot be mended")
    failed = FailedStep.of(session, action, result_of(action, last), count=count)
    named = body.get("model")
    model = str(named) if named is not None else session.options.model or os.environ.get(MODEL)
    asked: list[bool] = []
    judge = _judge(session, body.get("expect"), asked)
    done = len(outcomes)
    refusals: list[RungRefusal] = []
    mend = here(session, lambda: ladder.climb(session, failed, judge=judge, model=model, refusals=refusals))
    return Mending(
        key=failed.key,
        mend=None if mend is None else _as_json(mend),
        outcomes=[dict(one) for one in outcomes[done:]],
        asks=bool(asked),
        model=model is not None,
        refusals=[asdict(one) for one in refusals],
    )


def kept(hosted: Hosted, body: Mapping[str, Any]) -> dict[str, Json]:
    """Write a heal into the session's recording. Raises UsageError for an invalid one."""
    try:
        heal = _HEAL.validate_python(dict(body))
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"no heal record: {first['loc'][0]}: {first['msg']}") from None
    return heal_record.written(hosted.live(), heal).to_tree()


def _judge(session: Session, expect: Any, asked: list[bool]) -> Judge | None:
    """Return the check of an expectation, or None without one.

    If the program itself must check it, note in `asked` that it would be asked.
    """
    if expect is None:
        return None

    async def own() -> expecting.ExpectationVerdict:
        asked.append(True)
        return expecting.ExpectationVerdict("unknown", "the program decides that itself")

    if isinstance(expect, Mapping) and expect.get("own"):
        return own
    return functools.partial(expecting.ajudged, session, expecting.sent(expect))


def _as_json(mend: Mend) -> dict[str, Json]:
    own = {name: getattr(mend, name) for name in ("rung", "old", "new", "score", "margin", "evidence")}
    return {
        **own,
        "cost": None if mend.cost is None else str(mend.cost),
        "verified_by": mend.verified_by,
        "same_element": mend.same_element,
        "message": mend.result.message,
    }


def _mapping(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    given = body.get(name)
    if not isinstance(given, Mapping):
        raise UsageError(f"{name}: give an action, as for page/execute")
    return given
