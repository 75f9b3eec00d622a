"""The running browser of a session. Use it only in its own thread, inside effects."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import (
    Browser,
    BrowserContext,
    ElementHandle,
    Error,
    Frame,
    Locator,
    Page,
    Playwright,
    Route,
    async_playwright,
)

from reenact.browser.camera.camera import Camera
from reenact.browser.isolation import sandbox
from reenact.browser.isolation.addresses import RefusedAddressError, check_scheme, is_refused, is_shown
from reenact.browser.isolation.egress import Egress
from reenact.browser.isolation.endpoint import DebugEndpoint
from reenact.browser.isolation.sandbox import Sandbox
from reenact.browser.page import secret
from reenact.browser.page.consequence import SentRequests
from reenact.browser.page.held import print_of
from reenact.browser.page.hiding import hide_element, hide_named, hide_secrets
from reenact.browser.page.launcher import DOWNLOADS, LaunchSettings, connect, launch
from reenact.browser.page.lifetime import Lifetime
from reenact.browser.page.loads import PageLoads
from reenact.browser.page.pending import watch_timers
from reenact.browser.page.watchdog import Watchdog
from reenact.core.boundary import Sidecar
from reenact.core.model.event import FORMAT
from reenact.errors import ActionError, SessionError

CLOSING = 60.0
"""Most seconds to wait until a part of a browser has ended."""
_HIDDEN = 50
"""Most fields of a tab that are masked because a secret was written into them."""
_QUALITY = 80
"""JPEG quality of screenshots, 0 to 100."""


async def _ended(part: Awaitable[object]) -> None:
    """Wait until a part of a browser has ended, but not longer than `CLOSING`."""
    with suppress(Error, OSError, TimeoutError):
        await asyncio.wait_for(part, CLOSING)


class LiveBrowser:
    """One browser, its tabs, and its time limits.

    Attributes:
        ended: The reason that it cannot be used any more, or None.
        context: Playwright's context.
        sight: The last observation of each tab, by page.
        handles: The page's objects that the program has, by number (`page_proxy.py`).
        cdp: The address of a browser that was connected to, or None for one that was started.
        camera: The camera, or None.
        asked: The next action, and its element or the error of the search.
        requests: The requests of its tabs.
        room: The sandbox of a server's browser; None for a program's own browser.
        watchdog: Stops endless scripts of pages; off with a window, where a page may wait for a person.
    """

    context: BrowserContext

    def __init__(self, settings: LaunchSettings) -> None:
        self.settings = settings
        self.ended: str | None = None
        self.sight: dict[Page, Any] = {}
        self.handles: list[Any] = []
        self.cdp: str | None = None
        self.camera: Camera | None = None
        self.asked: tuple[object, Locator | LookupError] | None = None
        self._hidden: dict[Page, list[str]] = {}
        self.requests = SentRequests(print_of)
        self._loads = PageLoads()
        self._numbers: dict[Page, int] = {}
        self._front: Page | None = None
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._folder: str | None = None
        self._egress: Egress | None = None
        self.room: Sandbox | None = None
        self._door: DebugEndpoint | None = None
        self._downloads: str | None = None
        self._lifetime = Lifetime(settings.longest, settings.idle)
        self._watch: asyncio.Task[None] | None = None
        self.watchdog = Watchdog(self._open_front)
        self._beside: Sidecar | None = None
        self._keeping: asyncio.Task[None] | None = None

    # -- from the beginning to the end -----------------------------------------------------------------------

    async def open(self) -> dict[str, Any]:
        """Start the browser, or connect to one. Return the facts about it.

        Raises:
            SessionError: There is no browser, or it does not start.
        """
        self._playwright = await async_playwright().start()
        try:
            started = await (connect if self.settings.cdp_url else launch)(self._playwright, self.settings)
        except BaseException:
            await self.close("it did not start")
            raise
        self.context, self._browser, self.cdp = started.context, started.browser, started.cdp
        self._folder = started.folder
        self._egress, self.room, self._door = started.egress, started.room, started.door
        if self.room is not None and not sandbox.isolation(self.room.executable).policy:
            # Routing disables the browser's cache, so it is used only if the policies do not work.
            await self.context.route(is_refused, _refuse)
        self.context.on("page", self._opened)
        self.context.on("close", lambda _: self._died())
        self.context.on("request", self._requested)
        for event in ("requestfinished", "requestfailed"):
            self.context.on(event, self._answered)
        await hide_secrets(self.context, self.settings.mask)
        await watch_timers(self.context)
        for page in self.context.pages:
            self._opened(page)
        if not self.context.pages:
            await self.context.new_page()
        self._front = self.context.pages[-1]
        self._watch = asyncio.create_task(self._end_in_time())
        if self.settings.headless or self.settings.guest is not None:
            self.watchdog.start()
        return self._told()

    async def close(self, why: str) -> None:
        """End the browser; disconnect from one that was connected to. May be called again."""
        if self.ended is None:
            self.ended = why
        if self._watch is not None and self._watch is not asyncio.current_task():
            self._watch.cancel()
        self.watchdog.stop()
        await _ended(self.kept())
        if self.camera is not None:
            camera, self.camera = self.camera, None
            await _ended(camera.stop())
        if self._beside is not None:
            self._beside.write("end")
            self._beside.close()
        if not self.settings.cdp_url and hasattr(self, "context"):
            await _ended(self.context.close())
        elif self.settings.cdp_url and self._browser is not None:
            # For a browser that was connected to, this only ends the connection.
            await _ended(self._browser.close())
        if self._playwright is not None:
            playwright, self._playwright = self._playwright, None
            await _ended(playwright.stop())
        if self._door is not None:
            await self._door.close()
        if self._egress is not None:
            await self._egress.stop()
        if self.room is not None:
            self.room.leave()
        for folder in (self._folder, self._downloads):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def use(self) -> Iterator[None]:
        """Let the browser not count as idle during the body.

        Raises SessionError if the browser has ended.
        """
        if self.ended is not None:
            raise SessionError(self.ended)
        self._lifetime.use_begins()
        self.watchdog.busy(now=True)
        try:
            yield
        finally:
            self._lifetime.use_ends()
            self.watchdog.busy(now=self._lifetime.uses > 0)

    # -- tabs ------------------------------------------------------------------------------------------------

    @property
    def page(self) -> Page:
        """The tab in front."""
        front = self._front
        if front is None or front.is_closed():
            left = self.context.pages
            if not left:
                raise SessionError("every tab is closed: goto_new_tab opens one")
            front = self._front = left[-1]
        if self.settings.guest is not None and not is_shown(front.url):
            raise SessionError(f"the tab shows {front.url[:100]}, which is not for others to see: close it")
        return front

    def _open_front(self) -> Page | None:
        return (
            None if self.ended is not None or self._front is None or self._front.is_closed() else self._front
        )

    def show(self, page: Page) -> None:
        """Bring a tab to the front of the session."""
        if page is not self._front:
            self._front = page
            if self.camera is not None:
                self.camera.active(page)

    def number(self, page: Page) -> int:
        """Return a tab's number in the order in which they opened."""
        return self._numbers.setdefault(page, len(self._numbers))

    def tab(self, number: int) -> Page:
        """Return the tab of that number. Raises SessionError if it is closed."""
        for page, known in self._numbers.items():
            if known == number and not page.is_closed():
                return page
        raise SessionError(f"tab {number} is closed")

    @property
    def navigations(self) -> int:
        """The number of navigations and of opened tabs so far."""
        return self._loads.count

    async def arrived(self, patience: float) -> None:
        """Wait until no tab is loading another page, for at most `patience` seconds."""
        await self._loads.over(patience)

    def renumber(self, numbers: dict[Page, int]) -> None:
        """Give the tabs the numbers of the recorded tabs that they replace."""
        self._numbers.update(numbers)

    def handle(self, number: int) -> Any:
        """Return the object that the program knows by that number. Raises SessionError."""
        if number >= len(self.handles):
            raise SessionError(
                "what the recording held there (an element, a popup) is not in this browser: look it up again"
            )
        return self.handles[number]

    async def is_secret(self, locator: Any) -> bool:
        """Return True if the content of an element is secret."""
        return await secret.is_secret(locator, self.mask(self.page))

    def known(self, action: object) -> Locator | None:
        """Return the element of an action if it was searched for just before, or None.

        Raises LookupError if it was not found.
        """
        asked, self.asked = self.asked, None
        if asked is None or asked[0] is not action:
            return None
        if isinstance(asked[1], LookupError):
            raise asked[1]
        return asked[1]

    def mask(self, page: Page) -> tuple[str, ...]:
        """Return the selectors of a tab's secrets: the user's, and fields that got a secret."""
        return (*self.settings.mask, *self._hidden.get(page, ()))

    async def hide(self, page: Page, selector: str, element: Locator | ElementHandle) -> None:
        """Hide a field from now on, because a secret will be written into it."""
        await hide_element(page, element, selector)
        hidden = self._hidden.setdefault(page, [])
        if selector not in hidden:
            hidden.append(selector)
            del hidden[:-_HIDDEN]

    async def screenshot(self, page: Page, *, whole: bool = False) -> bytes:
        """Return a JPEG of the viewport, or of the whole page; the browser paints no secrets."""
        await hide_named(page, self.settings.mask)
        return await page.screenshot(type="jpeg", quality=_QUALITY, full_page=whole)

    async def film(self, beside: Sidecar, id: str, told: dict[str, Any]) -> None:
        """Film this session into a file."""
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        head = {name: told[name] for name in ("viewport", "browser", "headless")}
        self._beside = beside
        beside.write("session", format=FORMAT, id=id, started=started, **head)
        self.camera = Camera(self.context, beside, size=self.settings.viewport)
        await self.camera.start()

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Keep the page after an action while the program goes on; the next action waits for it."""
        self._keeping = asyncio.create_task(work)

    async def kept(self) -> None:
        """Wait until the page after the last action is kept."""
        task, self._keeping = self._keeping, None
        if task is not None:
            with suppress(Exception):  # the page or its browser may be closed meanwhile
                await task

    async def address(self) -> str | None:
        """Return the address for other programs, or None. It is secret: it gives full control."""
        return self.cdp if self._door is None else await self._door.url()

    def check(self, url: str) -> None:
        """Raise ActionError if an address may not be opened."""
        if self.settings.guest is None:
            return
        try:
            check_scheme(url)
        except RefusedAddressError as error:
            raise ActionError(str(error)) from None

    def given(self, name: str) -> Path:
        """Return the path of a file to upload. Raises ActionError if there is none."""
        path, guest = Path(name), self.settings.guest
        try:
            if path.is_file():
                return path if guest is None else guest.lend(path)
        except FileNotFoundError as error:
            raise ActionError(str(error)) from None
        raise ActionError(f"there is no file {name}")

    def unreached(self, url: str, said: str) -> str | None:
        """Return the reason that the proxy refused an address, or None."""
        if self._egress is None or "ERR_SOCKS_CONNECTION" not in said:
            return None
        return self._egress.why(urlsplit(url).hostname or "") or self._egress.last

    def downloads(self) -> Path:
        """Return the folder of downloads; a temporary one if the user named none."""
        if self.settings.downloads:
            path = Path(self.settings.downloads)
            path.mkdir(parents=True, exist_ok=True)
            return path
        if self._downloads is None:
            self._downloads = tempfile.mkdtemp(prefix=f"{DOWNLOADS}{os.getpid()}-")
        return Path(self._downloads)

    # -- within ----------------------------------------------------------------------------------------------

    def _told(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "browser": f"chromium {self._browser.version}" if self._browser is not None else "chromium",
            "viewport": list(settings.viewport),
            "headless": settings.headless,
            "url": self.page.url,
        }

    def _opened(self, page: Page) -> None:
        if page in self._numbers:
            return
        self.number(page)
        self.watchdog.opened(page)
        self._loads.opened()
        page.on("close", self._closed)
        page.on("domcontentloaded", self._loaded)
        if self.room is not None:
            page.on("framenavigated", _empty_strayed_tab)
        if self._lifetime.uses and self._front is not None:
            # A tab that an action opens comes to the front, as in any browser.
            self.show(page)

    def _closed(self, page: Page) -> None:
        self.sight.pop(page, None)
        self._hidden.pop(page, None)

    async def _loaded(self, page: Page) -> None:
        await hide_named(page, self.settings.mask)

    def _requested(self, request: Any) -> None:
        self.requests.sent(request)
        self._loads.requested(request)

    def _answered(self, request: Any) -> None:
        self.requests.answered(request)
        self._loads.answered(request)

    def _died(self) -> None:
        if self.ended is None:
            self.ended = "the browser has ended: it crashed, or something closed it"

    async def _end_in_time(self) -> None:
        if why := await self._lifetime.over():
            await self.close(f"the session was closed because {why}")


async def _empty_strayed_tab(frame: Frame) -> None:
    """Empty a tab of a hosted browser that shows a page that is not of the web."""
    if frame.parent_frame is None and not is_shown(frame.url):
        with suppress(Error):
            await frame.page.goto("about:blank")


async def _refuse(route: Route) -> None:
    await route.abort("blockedbyclient")
