"""Try one step of a script on a changed page, mend it, and report the element acted on."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from playwright.async_api import ElementHandle, Error

from reenact.browser.actions import aim
from reenact.browser.actions import types as do
from reenact.browser.effects.calls import arun
from reenact.browser.heal.harden.mutations import MutablePage, ObservedEvent, right, wrong
from reenact.browser.heal.ladder import climb
from reenact.browser.heal.mend import FailedStep, Mend
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.page.selectors import AmbiguousElement, ElementNotFound, SelectorError
from reenact.browser.session.session import Session

Ending = Literal["held", "saved", "stopped", "wrong", "misled"]
"""The ending of a trial.

`held`: the script's own selector worked. `saved`: a rung repaired the step. `stopped`: nothing was done, and the
result says so. `wrong`: a rung acted on another element, or reported an action that it had not done. `misled`: the
script's own selector found another element, before any rung was tried.
"""

PATIENCE = 1200
"""Milliseconds that a step waits for its element, longer than the half second of `late`."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageChange:
    """A change of a page: one of `KINDS` or `MISLEADING`, or `none`, and its random seed."""

    kind: str
    seed: int = 0


@dataclass(frozen=True, slots=True)
class StepTrial:
    """The result of a step on a changed page.

    Attributes:
        change: The requested change.
        told: The change made to the page, in words.
        ending: The ending (`Ending`).
        rung: The rung that did something, or None.
        ms: Milliseconds from the failure to the mend, or to the stop; None if nothing failed.
        score: The likeness of the element that the rung took; `margin` the distance to the next.
        why: The message of the step, or of the mend.
        met: The wrong element that was acted on, or empty.
        acted: True if the right element was acted on (an unverified step may still count as stopped).
    """

    change: PageChange
    told: str
    ending: Ending
    rung: str | None = None
    ms: float | None = None
    score: float | None = None
    margin: float | None = None
    why: str = ""
    met: str = ""
    acted: bool = False


class ChangedPage:
    """Changes the session's page, and watches it between the failure and the mend."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stage: MutablePage | None = None

    async def inside(self, make: Callable[[LiveBrowser], Awaitable[T]]) -> T:
        """Run a coroutine with the live browser, in its thread, without a step in the recording."""
        live = self._session.core.driver.live
        assert live is not None

        async def made() -> T:
            return await make(live)

        found: T = await self._session.core.driver.call(made).wait()
        return found

    async def change(self, asked: do.Aimed, change: PageChange) -> str | None:
        """Change the page around a step's element; return None if that is not possible."""

        async def make(live: LiveBrowser) -> str | None:
            element = await _element(live, asked)
            if element is None:
                return None
            self._stage = MutablePage(live.page)
            return await self._stage.mutate(element, change.kind, change.seed)

        return await self.inside(make)

    async def hits(self) -> list[ObservedEvent]:
        """Return the events reported so far."""

        async def make(_: LiveBrowser) -> list[ObservedEvent]:
            assert self._stage is not None
            try:
                return await self._stage.hits()
            except Error:  # the tab is closed: use its earlier reports
                return self._stage.seen

        return await self.inside(make)

    async def is_meant(self, path: list[Any]) -> bool:
        """Return True if the element at that path is the intended one."""

        async def make(_: LiveBrowser) -> bool:
            assert self._stage is not None
            return await self._stage.is_meant(path)

        return await self.inside(make)

    async def close(self) -> None:
        """Stop watching."""

        async def make(_: LiveBrowser) -> None:
            if self._stage is not None:
                try:
                    await self._stage.close()
                except Error:
                    pass

        await self.inside(make)


Between = Callable[[ChangedPage, do.Aimed], Awaitable[None]]
"""A function that inspects the changed page after the step has failed, and changes nothing."""


async def attempt(
    session: Session,
    asked: do.Aimed,
    change: PageChange,
    *,
    between: Between | None = None,
    model: Any = None,
) -> StepTrial | None:
    """Change the page before a step, do the step, mend it, and report the elements acted on.

    Args:
        session: Its page is in the state before the step.
        asked: The step.
        change: The change.
        between: Called with the page after the failure.
        model: The model for one question; None asks no model.

    Returns:
        The trial; None if the change does not apply to this element.
    """
    watched = ChangedPage(session)
    told = await watched.change(asked, change)
    if told is None:
        return None
    try:
        return await _tried(session, asked, StepTrial(change, told, "held"), watched, between, model)
    finally:
        await watched.close()


async def _tried(  # noqa: PLR0917 - the arguments of `attempt`
    session: Session,
    asked: do.Aimed,
    trial: StepTrial,
    watched: ChangedPage,
    between: Between | None,
    model: Any,
) -> StepTrial:
    step = asked.model_copy(update={"timeout": min(asked.timeout, PATIENCE)})
    result = await arun(session.core.perform(step))
    hits = await watched.hits()
    trial = replace(trial, why=result.message, acted=right(hits))
    other = wrong(hits)
    if other is not None:
        return replace(trial, ending="misled", met=other.what)
    if result.success:
        return trial
    if between is not None:
        await between(watched, asked)
    began = time.perf_counter()
    mend = await climb(session, FailedStep.of(session, step, result), model=model)
    ms = (time.perf_counter() - began) * 1000
    return _judged(replace(trial, ms=round(ms, 1)), mend, await watched.hits())


def _judged(trial: StepTrial, mend: Mend | None, hits: list[ObservedEvent]) -> StepTrial:
    other, acted = wrong(hits), right(hits)
    trial = replace(trial, ending="stopped", acted=acted)
    if mend is not None:
        trial = replace(
            trial,
            rung=mend.rung,
            score=mend.score,
            margin=mend.margin,
            why=mend.verified_by or mend.result.message,
        )
    if other is not None:
        return replace(trial, ending="wrong", met=other.what)
    if mend is not None and mend.verified:
        return replace(trial, ending="saved" if acted else "wrong", met="" if acted else "nothing")
    return trial


async def _element(live: LiveBrowser, asked: do.Aimed) -> ElementHandle | None:
    try:
        locator = await aim.found(live, asked)
        return await locator.element_handle(timeout=PATIENCE)
    except (Error, AmbiguousElement, ElementNotFound, SelectorError):
        return None
