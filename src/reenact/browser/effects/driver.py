"""Drive a session's browser: each step is an effect, done live in the browser's thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from reenact.browser.effects.calls import AwaitedValue, Steps
from reenact.browser.effects.operations import Operation
from reenact.browser.effects.session_recording import SessionRecording
from reenact.browser.effects.thread import BrowserThread
from reenact.browser.page.live_browser import LiveBrowser
from reenact.core import boundary
from reenact.core.boundary import aperform, perform
from reenact.core.model.event import Effect


class KnownTabs(Protocol):
    """The last known tabs of a session, from its steps' outcomes, to set up a later browser.

    Attributes:
        tabs: The open tabs' addresses by their numbers.
        front: The number of the tab in front.
        seen: The elements of the last observation.
    """

    tabs: dict[int, str]
    front: int | None
    seen: list[dict[str, Any]]


class BrowserBackend(Protocol):
    """Does a session's steps in the browser's thread: with a local browser, or one on a server.

    Attributes:
        live: The browser, if it is in this process.
    """

    live: LiveBrowser | None

    @property
    def up(self) -> bool:
        """True if there is a browser."""

    @property
    def ended(self) -> str | None:
        """The reason that it cannot be used any more, or None."""

    async def open(self, id: str) -> dict[str, Any]:
        """Start a browser for the session of that id. Return the facts about it."""

    async def ask_for(self, step: Operation) -> Any:
        """Find the facts that a step's recorded arguments need."""

    async def do(self, step: Operation, call: int | None, at: KnownTabs) -> Any:
        """Do a step, as the inside of the effect of that number."""

    async def close(self, why: str) -> None:
        """End the browser, if there is one."""


class BrowserDriver:
    """The browser of one session, if there is one, and its last known pages.

    Attributes:
        recording: The recording of its effects.
        tabs: The open tabs' addresses by their numbers, from the steps' outcomes.
        front: The number of the tab in front.
        seen: The elements of the last observation.
    """

    def __init__(self, recording: SessionRecording, backend: BrowserBackend) -> None:
        self.recording = recording
        self.tabs: dict[int, str] = {}
        self.front: int | None = None
        self.seen: list[dict[str, Any]] = []
        self._worker: BrowserThread | None = None
        self._backend = backend

    @property
    def ended(self) -> str | None:
        """The reason that the browser cannot be used any more, or None."""
        return self._backend.ended

    @property
    def live(self) -> LiveBrowser | None:
        """The browser, if it is in this process."""
        return self._backend.live

    def run(self, step: Operation) -> Steps[Any]:
        """Run a step as an effect, and return its answer."""
        with self.recording.inside():
            if step.ask is not None and self._backend.up:
                step.asked = yield self.call(lambda: self._backend.ask_for(step))
            effect = self._effect(step)
            answer = yield AwaitedValue(
                lambda: perform(effect, lambda: self._done(step).block(), begun=step.began),
                lambda: aperform(effect, lambda: self._done(step).wait(), begun=step.began),
            )
            return step.done(answer)

    def _effect(self, step: Operation) -> Effect:
        step.sent = step.args(self.recording.secret)
        return Effect(step.kind, step.name, step.sent, leaf=True)

    def starting(self, id: str, asked: dict[str, Any]) -> Operation:
        """Return the first step, which starts the browser."""

        async def live(nobody: Any, call: int | None) -> dict[str, Any]:
            return await self._backend.open(id)

        def started(outcome: dict[str, Any]) -> dict[str, Any]:
            self.tabs, self.front = {0: outcome["url"]}, 0
            # A session on a server gets its id there.
            self.recording.id = outcome.get("session_id") or self.recording.id
            return outcome

        return Operation("start", live, lambda _: asked, done=started)

    def heard(self, outcome: Mapping[str, Any]) -> None:
        """Note the tab and the address after a step."""
        tab = outcome.get("tab")
        if tab is not None:
            self.front = tab
            self.tabs[tab] = outcome.get("url") or ""
        if "elements" in outcome:
            self.seen = [*outcome["elements"]]

    def stop(self, why: str) -> Steps[None]:
        """End the browser, if there is one."""
        worker = self._worker
        if worker is None or not worker.here:
            return
        try:
            yield self.call(lambda: self._backend.close(why))
        finally:
            self._worker = None
            worker.stop()

    def call(self, make: Callable[[], Coroutine[Any, Any, Any]]) -> AwaitedValue:
        """Run a coroutine in the browser's thread, without an effect."""
        return AwaitedValue(lambda: self._thread().call(make), lambda: self._thread().acall(make))

    # -- live ------------------------------------------------------------------------------------------------

    def _done(self, step: Operation) -> AwaitedValue:
        call = _number()
        return self.call(lambda: self._backend.do(step, call, self))

    def _thread(self) -> BrowserThread:
        if self._worker is None:
            self._worker = BrowserThread()
        return self._worker


def _number() -> int | None:
    """Return the number of the current effect."""
    scope = boundary.current()
    return None if scope is None else scope.call
