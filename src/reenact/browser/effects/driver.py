"""Who drives a session's browser: each step crosses the boundary here, and is done in the worker's thread if live."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from reenact.browser.effects.crossing import Crossing
from reenact.browser.effects.steps import Step
from reenact.browser.effects.worker import Worker
from reenact.browser.page.live import Live
from reenact.core import boundary
from reenact.core.boundary import aperform, perform
from reenact.core.model.event import Effect

T = TypeVar("T")


class Whereabouts(Protocol):
    """Where a session is, as its steps' outcomes told: what a browser that comes later begins with.

    Attributes:
        tabs: The open tabs' addresses by their numbers.
        front: The number of the tab in front.
        seen: The elements of the last observation.
    """

    tabs: dict[int, str]
    front: int | None
    seen: list[dict[str, Any]]


class Doer(Protocol):
    """Who does a session's steps: a browser here, or a server's. All of it happens in the worker's thread.

    Attributes:
        live: The browser, where it is in this process.
    """

    live: Live | None

    @property
    def up(self) -> bool:
        """Whether there is a browser."""

    @property
    def ended(self) -> str | None:
        """Why it can be used no more, if that is so."""

    async def open(self, id: str) -> dict[str, Any]:
        """Start a browser for the session of that id. Returns what there is to say about it."""

    async def ask_for(self, step: Step) -> Any:
        """What a step must know before its arguments are recorded."""

    async def do(self, step: Step, call: int | None, at: Whereabouts) -> Any:
        """Do a step, the inside of the effect of that number."""

    async def close(self, why: str) -> None:
        """End the browser. Harmless where there is none."""


class Driver:
    """The browser of one session, if there is one, and the pages it was last known to show.

    Attributes:
        crossing: Where its effects happen.
        tabs: The open tabs' addresses by their numbers, as the steps' outcomes told them.
        front: The number of the tab in front.
        seen: The elements of the last observation.
    """

    def __init__(self, crossing: Crossing, doer: Doer) -> None:
        self.crossing = crossing
        self.tabs: dict[int, str] = {}
        self.front: int | None = None
        self.seen: list[dict[str, Any]] = []
        self._worker: Worker | None = None
        self._doer = doer

    @property
    def ended(self) -> str | None:
        """Why the browser can be used no more, if that is so."""
        return self._doer.ended

    @property
    def live(self) -> Live | None:
        """The browser, where it is in this process."""
        return self._doer.live

    def run(self, step: Step) -> Any:
        """Put a step's question, and wait here for the answer."""
        with self.crossing.inside():
            if step.ask is not None and self._doer.up:
                step.asked = self._thread().call(lambda: self._doer.ask_for(step))
            effect = self._effect(step)
            return step.done(perform(effect, lambda: self._do(step)))

    async def arun(self, step: Step) -> Any:
        """Put a step's question, and await the answer."""
        with self.crossing.inside():
            if step.ask is not None and self._doer.up:
                step.asked = await self._thread().acall(lambda: self._doer.ask_for(step))
            effect = self._effect(step)
            return step.done(await aperform(effect, lambda: self._ado(step)))

    def _effect(self, step: Step) -> Effect:
        step.sent = step.args(self.crossing.secret)
        return Effect(step.kind, step.name, step.sent, leaf=True)

    def starting(self, id: str, asked: dict[str, Any]) -> Step:
        """The first step: the browser is started."""

        async def live(nobody: Any, call: int | None) -> dict[str, Any]:
            return await self._doer.open(id)

        def told(outcome: dict[str, Any]) -> dict[str, Any]:
            self.tabs, self.front = {0: outcome["url"]}, 0
            # A session of a server's has its id from there.
            self.crossing.id = outcome.get("session_id") or self.crossing.id
            return outcome

        return Step("start", live, lambda _: asked, done=told)

    def heard(self, outcome: Mapping[str, Any]) -> None:
        """Where the browser is after a step."""
        tab = outcome.get("tab")
        if tab is not None:
            self.front = tab
            self.tabs[tab] = outcome.get("url") or ""
        if "elements" in outcome:
            self.seen = [*outcome["elements"]]

    def stop(self, why: str) -> None:
        """End the browser. Harmless where there is none."""
        worker = self._worker
        if worker is None or not worker.here:
            return
        try:
            worker.call(lambda: self._doer.close(why))
        finally:
            self._worker = None
            worker.stop()

    async def astop(self, why: str) -> None:
        """`stop`, awaited."""
        worker = self._worker
        if worker is None or not worker.here:
            return
        try:
            await worker.acall(lambda: self._doer.close(why))
        finally:
            self._worker = None
            worker.stop()

    def call(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await something in the worker's thread that is no step: nothing is recorded of it."""
        return self._thread().call(make)

    async def acall(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """`call`, awaited."""
        return await self._thread().acall(make)

    # -- live ------------------------------------------------------------------------------------------------

    def _do(self, step: Step) -> Any:
        call = _number()
        return self._thread().call(lambda: self._doer.do(step, call, self))

    async def _ado(self, step: Step) -> Any:
        call = _number()
        return await self._thread().acall(lambda: self._doer.do(step, call, self))

    def _thread(self) -> Worker:
        if self._worker is None:
            self._worker = Worker()
        return self._worker


def _number() -> int | None:
    """The number of the call that this is the inside of."""
    scope = boundary.current()
    return None if scope is None else scope.call
