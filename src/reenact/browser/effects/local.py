"""A session's browser in this process: started with the session, or for a live replay."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from reenact.browser.effects.driver import KnownTabs
from reenact.browser.effects.operations import Operation
from reenact.browser.effects.session_recording import SessionRecording
from reenact.browser.page.launcher import LaunchSettings
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.page.snapshot import recognise
from reenact.core.store.writer import warn


class LocalBrowser:
    """A browser of this process.

    Args:
        recording: The recording of the session's effects, which has the file of the footage.
        settings: The settings of the browser.
    """

    def __init__(self, recording: SessionRecording, settings: LaunchSettings) -> None:
        self._recording = recording
        self._settings = settings
        self.live: LiveBrowser | None = None

    @property
    def up(self) -> bool:
        """True if there is a browser."""
        return self.live is not None

    @property
    def ended(self) -> str | None:
        """The reason that it cannot be used any more, or None."""
        return None if self.live is None else self.live.ended

    async def open(self, id: str) -> dict[str, Any]:
        """Start the browser, and film it if the session is recorded. Raises SessionError."""
        live = LiveBrowser(self._settings)
        told = await live.open()
        self.live = live
        beside = self._recording.sidecar()
        if beside is not None:
            await live.film(beside, id, told)
        return told

    async def ask_for(self, step: Operation) -> Any:
        """Find the page's facts that a step's recorded arguments need."""
        assert step.ask is not None
        return await step.ask(cast("LiveBrowser", self.live))

    async def do(self, step: Operation, call: int | None, at: KnownTabs) -> Any:
        """Do a step in the browser; start a new one if the replay has not started one."""
        if self.live is None and step.name != "start":
            await self._revive(step, at)
        if self.live is not None and self.live.camera is not None:
            self.live.camera.asked(call, step.line)
        return await step.live(cast("LiveBrowser", self.live), call)

    async def close(self, why: str) -> None:
        """End the browser."""
        if self.live is not None:
            await self.live.close(why)

    async def _revive(self, step: Operation, at: KnownTabs) -> None:
        """Open a new browser at the recorded addresses, to continue a recorded session live."""
        await self.open(self._recording.id)
        live = self.live
        assert live is not None
        pages = dict(at.tabs)
        numbers = {}
        for number, url in sorted(pages.items()):
            page = live.page if number == min(pages) else await live.context.new_page()
            numbers[page] = number
            if url and url != "about:blank":
                with suppress(Exception):  # the step itself will report the error
                    await page.goto(url)
            if number == at.front:
                live.show(page)
        live.renumber(numbers)
        if at.seen:
            live.sight[live.page] = await recognise(live.page, at.seen, secret=live.settings.mask)
        where = at.tabs.get(at.front or 0) or "an empty page"
        warn(
            f"browser:{step.name} is live, and the recording had started no browser here: a new one was opened, at "
            f"{where}; what earlier steps left in the page, in forms and in cookies is not there"
        )
