"""One step on a changed page that nothing without a model mends: what a model makes of it, and what is true.

Twice, each time on the page as it was: once it is asked which element is meant (the rung `ask`), once an agent takes
over. Which element is meant is known to the judge alone, as in `healing.py`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal
from unittest.mock import patch

from playwright.async_api import Error

from benchmarks.local_model import Metered, Use
from reenact import Client
from reenact.browser.actions import types as do
from reenact.browser.effects.calls import arun
from reenact.browser.heal import candidates
from reenact.browser.heal.harden.mutations import PATH, right, wrong
from reenact.browser.heal.harden.trial import PATIENCE, ChangedPage, PageChange
from reenact.browser.heal.ladder import climb
from reenact.browser.heal.mend import FailedStep, Mend
from reenact.browser.heal.rungs import ask
from reenact.browser.page import consequence, selectors
from reenact.browser.page.isolated_world import chained
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.session.session import Session

MOST_STEPS = 2
"""Steps that the agent may take for one step of a script."""

Helper = Literal["ask", "agent"]


@dataclass(frozen=True)
class Turn:
    """What one helper did on one changed page.

    Attributes:
        helper: `ask` or `agent`.
        claimed: Whether the model claims it: names an element and is sure, or says that the task is done.
        true: Whether that is so: it is the element that is meant; the step was done, and nothing else.
        acted: Whether the right element was acted on.
        met: What was acted on that is not the one, or nothing.
        passed: Whether that the step is done was verified; `by` in words what decided, or why not.
        use: What was asked of the model.
        seconds: What all of it took, the browser's part included.
    """

    helper: Helper
    claimed: bool
    true: bool
    acted: bool
    met: str
    passed: bool
    by: str
    use: Use
    seconds: float


@dataclass(frozen=True)
class Known:
    """What a good run tells of a step: what it led to, and what its element is called."""

    led_to: dict[str, Any] = field(default_factory=dict)
    element: dict[str, Any] = field(default_factory=dict)


async def good(session: Session, asked: do.Aimed) -> Known | None:
    """Do the step on the page as it is; None where it fails, or nobody can see whom it meets."""
    watched = ChangedPage(session)
    if await watched.change(asked, PageChange("none")) is None:
        return None
    try:
        result = await arun(session.core.perform(asked))
        if not result.success or not right(await watched.hits()):
            return None
        return Known(result.consequence or {}, session.core.outcomes[-1].get("fingerprint") or {})
    finally:
        await watched.close()


# -- one question ------------------------------------------------------------------------------------------------


async def questioned(session: Session, asked: do.Aimed, change: PageChange, model: Metered) -> Turn | str:
    """The step on the changed page, and the ladder with the model; in a word why that is no case for a model."""
    watched = ChangedPage(session)
    failed = await _failed(session, watched, asked, change)
    if isinstance(failed, str):
        return failed
    model.taken()
    began = perf_counter()
    try:
        with _listening() as heard:
            mend = await climb(session, failed, model=model)
        took = perf_counter() - began
        if mend is not None and mend.rung != "ask":
            return "saved" if mend.verified else "acted"
        hits = await watched.hits()
        other = wrong(hits)
        meant = right(hits) if hits else await _meant(watched, heard)
        return Turn(
            helper="ask",
            claimed=heard.sure,
            true=meant and other is None,
            acted=right(hits),
            met=other.what if other else "",
            passed=mend is not None and mend.verified,
            by=_how(heard, mend),
            use=model.taken(),
            seconds=round(took, 2),
        )
    finally:
        await watched.close()


async def _failed(
    session: Session, watched: ChangedPage, asked: do.Aimed, change: PageChange
) -> FailedStep | str:
    """The step as it fails on the changed page."""
    if await watched.change(asked, change) is None:
        return "means nothing here"
    step = asked.model_copy(update={"timeout": min(asked.timeout, PATIENCE)})
    result = await arun(session.core.perform(step))
    if result.success or wrong(await watched.hits()) is not None:
        await watched.close()
        return "held" if result.success else "misled"
    return FailedStep.of(session, step, result)


@dataclass
class _Heard:
    """What the model was asked, and said: at first, before it was shown the elements the other way round."""

    asked: int = 0
    answer: ask.ModelChoice | None = None
    found: Sequence[Mapping[str, Any]] = ()

    @property
    def one(self) -> Mapping[str, Any] | None:
        """The element that it named."""
        return ask._named(self.answer, self.found)

    @property
    def sure(self) -> bool:
        """Whether it named one, and was as sure as it is to be."""
        return self.one is not None and self.answer is not None and self.answer.confidence >= ask.SURE


@contextmanager
def _listening() -> Iterator[_Heard]:
    heard = _Heard()
    found, answered = candidates.candidates, ask._answered

    async def listed(*args: Any, **options: Any) -> list[dict[str, Any]]:
        heard.found = await found(*args, **options)
        return list(heard.found)

    async def answer(*args: Any) -> Any:
        heard.asked += 1
        said, cost = await answered(*args)
        heard.answer = said if heard.asked == 1 else heard.answer
        return said, cost

    with patch.object(ask, "candidates", listed), patch.object(ask, "_answered", answer):
        yield heard


async def _meant(watched: ChangedPage, heard: _Heard) -> bool:
    """Whether the element that was named, and not touched, is the one that is meant."""
    if heard.one is None:
        return False
    told = heard.one["fingerprint"]

    async def path(live: LiveBrowser) -> list[Any] | None:
        (one,) = selectors.parse(chained(told["frames"], told["path"]))
        try:
            found: list[Any] = await one.within(live.page).first.evaluate(PATH, timeout=1000)
        except Error:
            return None
        return found

    there = await watched.inside(path)
    return there is not None and await watched.is_meant(there)


def _how(heard: _Heard, mend: Mend | None) -> str:
    if not heard.asked:
        return "not asked: nothing could verify it, or time does not help"
    if heard.answer is None:
        return "no answer of use"
    if heard.one is None:
        return "it says that none is meant"
    if not heard.sure:
        return "it is not sure"
    if mend is None:
        if heard.asked > 1:
            return "it names another one where they are shown the other way round"
        return "the rules speak against the element that it names"
    return mend.verified_by or "nothing shows that it did the same"


# -- an agent ----------------------------------------------------------------------------------------------------


async def taken_over(
    session: Session, asked: do.Aimed, change: PageChange, model: Metered, known: Known
) -> Turn | None:
    """The step in a block whose agent takes over; what the step led to in the good run is what is expected.

    None where the step does not fail this time.
    """
    watched = ChangedPage(session)
    if await watched.change(asked, change) is None:
        return None
    step = asked.model_copy(update={"timeout": min(asked.timeout, PATIENCE)})
    expect = await _expected(watched, known.led_to)
    model.taken()
    began = perf_counter()
    try:
        async with Client().AgentFallback(
            session, task=task(asked, known.element), expect=expect, reasoning_model=model,
            max_steps=MOST_STEPS, use_vision=False,
        ) as block:  # fmt: skip
            await session.aexecute(step)
        took = perf_counter() - began
        if not block.agent_invoked or block.agent_response is None:
            return None
        hits = await watched.hits()
        other = wrong(hits)
        acted = right(hits)
        return Turn(
            helper="agent",
            claimed=bool(block.agent_response.success),
            true=acted and other is None and await _stands(watched, asked),
            acted=acted,
            met=other.what if other else "",
            passed=block.success,
            by=_end(block),
            use=model.taken(),
            seconds=round(took, 2),
        )
    finally:
        await watched.close()


_VERBS = {
    "click": "Click", "fill": "Fill {value} into", "check": "Set to {value}", "hover": "Point at",
    "select_dropdown_option": "Choose {value} in",
}  # fmt: skip


def task(asked: do.Aimed, element: Mapping[str, Any]) -> str:
    """The step in the words of somebody who has seen the page before it changed."""
    value = json.dumps(getattr(asked, "value", None))
    verb = _VERBS.get(asked.type, f"Do {asked.type} on").format(value=value)
    name = element.get("name") or element.get("label") or element.get("caption") or ""
    called = f'the {element.get("role") or "element"} "{name}"' if name else f"the element {asked.selector}"
    return f"{verb} {called}. Nothing else."


async def _expected(
    watched: ChangedPage, led_to: Mapping[str, Any]
) -> Callable[[Session], Awaitable[bool | None]]:
    """Asks whether, since now, what the step had led to has come about; None where that cannot be told."""

    async def look(live: LiveBrowser) -> tuple[consequence.Digest | None, int, int]:
        shown = await consequence.digest(live.page, live.mask(live.page))
        return shown, live.navigations, live.requests.count

    before, navigations, requests = await watched.inside(look)

    async def what_it_led_to(_: Session) -> bool | None:
        async def told(live: LiveBrowser) -> dict[str, Any]:
            after = await consequence.digest(live.page, live.mask(live.page))
            sent = live.requests.since(requests)
            return consequence.consequence(before, after, sent, loaded=live.navigations != navigations)

        return consequence.same(await watched.inside(told), led_to, by_name=True)

    return what_it_led_to


async def _stands(watched: ChangedPage, asked: do.Aimed) -> bool:
    """Whether the element that is meant says what was to be filled in, as far as it is still there."""
    if asked.type not in {"fill", "check", "select_dropdown_option"}:
        return True
    wanted: Any = asked.value  # type: ignore[attr-defined]

    async def look(_: LiveBrowser) -> Any:
        stage = watched._stage
        assert stage is not None
        answer = await (await stage._attached()).send(
            "Runtime.evaluate",
            {"expression": _STANDING, "contextId": stage._world, "returnByValue": True},
        )
        return answer["result"].get("value")

    try:
        found = await watched.inside(look)
    except Error:
        return True  # another page: it took what was in it along
    return found is None or wanted in found or str(wanted) in map(str, found)


_STANDING = """(el => !el || !el.isConnected ? null
  : el.type === "checkbox" || el.type === "radio" ? [el.checked]
  : [el.value, ...[...el.selectedOptions || []].map(one => one.label)])(globalThis.hardening?.target)"""


def _end(block: Any) -> str:
    if block.success:
        return "as in the good run"
    claimed = block.agent_response.success
    return str(block.error if claimed else block.agent_response.answer)[:200]
