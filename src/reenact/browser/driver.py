"""Who drives a session's browser: each step crosses the boundary here, and is done in the worker's thread if live."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from reenact import boundary
from reenact.boundary import aperform, perform
from reenact.browser.crossing import Crossing
from reenact.browser.launching import Settings
from reenact.browser.live import Live
from reenact.browser.steps import Step
from reenact.browser.worker import Worker
from reenact.model.event import Effect
from reenact.store.writer import warn


class Driver:
    """The browser of one session, if there is one, and the pages it was last known to show.

    Attributes:
        crossing: Where its effects happen.
        tabs: The open tabs' addresses by their numbers, as the steps' outcomes told them.
        front: The number of the tab in front.
    """

    def __init__(self, crossing: Crossing, settings: Settings) -> None:
        self.crossing = crossing
        self.settings = settings
        self.tabs: dict[int, str] = {}
        self.front: int | None = None
        self._seen: list[dict[str, Any]] = []
        self._worker: Worker | None = None
        self._live: Live | None = None

    @property
    def ended(self) -> str | None:
        """Why the browser can be used no more, if that is so."""
        return None if self._live is None else self._live.ended

    def run(self, step: Step) -> Any:
        """Put a step's question, and wait here for the answer."""
        with self.crossing.inside():
            if step.ask is not None and self._live is not None:
                ask, live = step.ask, self._live
                step.asked = self._thread().call(lambda: ask(live))
            effect = self._effect(step)
            return step.done(perform(effect, lambda: self._do(step)))

    async def arun(self, step: Step) -> Any:
        """Put a step's question, and await the answer."""
        with self.crossing.inside():
            if step.ask is not None and self._live is not None:
                ask, live = step.ask, self._live
                step.asked = await self._thread().acall(lambda: ask(live))
            effect = self._effect(step)
            return step.done(await aperform(effect, lambda: self._ado(step)))

    def _effect(self, step: Step) -> Effect:
        step.sent = step.args(self.crossing.secret)
        return Effect(step.kind, step.name, step.sent, leaf=True)

    def starting(self, id: str, asked: dict[str, Any]) -> Step:
        """The first step: the browser is started."""

        async def live(nobody: Any, call: int | None) -> dict[str, Any]:
            return await self._open(id)

        def told(outcome: dict[str, Any]) -> dict[str, Any]:
            self.tabs, self.front = {0: outcome["url"]}, 0
            return outcome

        return Step("start", live, lambda _: asked, done=told)

    def heard(self, outcome: Mapping[str, Any]) -> None:
        """Where the browser is after a step."""
        tab = outcome.get("tab")
        if tab is not None:
            self.front = tab
            self.tabs[tab] = outcome.get("url") or ""
        if "elements" in outcome:
            self._seen = [*outcome["elements"]]

    def stop(self, why: str) -> None:
        """End the browser. Harmless where there is none."""
        worker, live = self._worker, self._live
        if worker is None or not worker.here:
            return
        try:
            if live is not None:
                worker.call(lambda: live.close(why))
        finally:
            self._worker = None
            worker.stop()

    async def astop(self, why: str) -> None:
        """`stop`, awaited."""
        worker, live = self._worker, self._live
        if worker is None or not worker.here:
            return
        try:
            if live is not None:
                await worker.acall(lambda: live.close(why))
        finally:
            self._worker = None
            worker.stop()

    # -- live ------------------------------------------------------------------------------------------------

    def _do(self, step: Step) -> Any:
        call = _number()
        return self._thread().call(lambda: self._done(step, call))

    async def _ado(self, step: Step) -> Any:
        call = _number()
        return await self._thread().acall(lambda: self._done(step, call))

    async def _done(self, step: Step, call: int | None) -> Any:
        if self._live is None and step.name != "start":
            await self._revive(step)
        return await step.live(cast("Live", self._live), call)

    def _thread(self) -> Worker:
        if self._worker is None:
            self._worker = Worker()
        return self._worker

    async def _open(self, id: str) -> dict[str, Any]:
        live = Live(self.settings)
        told = await live.open()
        self._live = live
        beside = self.crossing.beside()
        if beside is not None:
            await live.film(beside, id, told)
        return told

    async def _revive(self, step: Step) -> None:
        """Live on a session that a recording had started: a browser of its own, at the addresses that were recorded."""
        await self._open(self.crossing.id)
        live = self._live
        assert live is not None
        pages = dict(self.tabs)
        numbers = {}
        for number, url in sorted(pages.items()):
            page = live.page if number == min(pages) else await live.context.new_page()
            numbers[page] = number
            if url and url != "about:blank":
                with suppress(Exception):  # the step itself will find out, and say so
                    await page.goto(url)
            if number == self.front:
                live.show(page)
        live.renumber(numbers)
        if self._seen:
            await live.recognise(self._seen)
        where = self.tabs.get(self.front or 0) or "an empty page"
        warn(
            f"browser:{step.name} is live, and the recording had started no browser here: a new one was opened, at "
            f"{where}; what earlier steps left in the page, in forms and in cookies is not there"
        )


def _number() -> int | None:
    """The number of the call that this is the inside of."""
    scope = boundary.current()
    return None if scope is None else scope.call
