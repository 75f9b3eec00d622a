"""Repeat a script's steps from the beginning, in an empty browser."""

from __future__ import annotations

from contextlib import suppress

from playwright.async_api import Error

from reenact.browser.effects.calls import arun
from reenact.browser.effects.cookies import cookies_of
from reenact.browser.heal.harden.recorded_pages import RecordedPages
from reenact.browser.heal.harden.script_run import ScriptRun
from reenact.browser.heal.harden.trial import ChangedPage
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.session.session import Session


class RepeatedSession:
    """A session that repeats the script's steps from the beginning, as often as needed."""

    def __init__(self, session: Session, course: ScriptRun, served: RecordedPages | None) -> None:
        self.session = session
        self.course = course
        self._served = served
        self._inside = ChangedPage(session).inside

    async def begin(self) -> None:
        """Answer the pages from the recording, and stop the camera."""

        async def make(live: LiveBrowser) -> None:
            if live.camera is not None:
                camera, live.camera = live.camera, None
                await camera.stop()
            if self._served is not None:
                await self._served.attach(live.context)

        await self._inside(make)

    async def go_live(self) -> None:
        """Load the pages from the network from here on."""
        served, self._served = self._served, None

        async def make(live: LiveBrowser) -> None:
            if served is not None:
                await served.detach(live.context)

        await self._inside(make)

    async def walk(self, until: int) -> str:
        """Do the first `until` steps in an empty browser. Return the failure as a text, or ""."""
        await self._empty()
        for step in self.course.steps[:until]:
            result = await arun(self.session.core.perform(step.action))
            if not result.success:
                return f"step {step.number}: {result.message}"
        return ""

    async def _empty(self) -> None:
        session = self.session
        session.core.outcomes.clear()
        if self._served is not None:
            self._served.again()
        cookies = session.options.cookie_file

        async def make(live: LiveBrowser) -> None:
            front = live.page
            for page in live.context.pages:
                if page is not front:
                    await page.close()
            with suppress(Error):
                protocol = await live.context.new_cdp_session(front)
                for frame in {_origin(one.url) for one in front.frames} - {""}:
                    await protocol.send(
                        "Storage.clearDataForOrigin", {"origin": frame, "storageTypes": "all"}
                    )
                await protocol.detach()
            await live.context.clear_cookies()
            if cookies is not None:
                await live.context.add_cookies(cookies_of(None, cookies))  # type: ignore[arg-type]
            await front.goto("about:blank")

        await self._inside(make)


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3]) if url.startswith("http") else ""
