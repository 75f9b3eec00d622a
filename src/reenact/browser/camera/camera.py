"""The camera of a browser session: attached to every tab, now and later."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from playwright.async_api import BrowserContext, Error, Page

from reenact.browser.camera.frames import FrameRecorder, FrameSettings
from reenact.browser.camera.gate import ActionGate
from reenact.browser.camera.moments import MomentWriter, TakenPage
from reenact.browser.camera.network import Network
from reenact.browser.camera.page_events import PageEvents
from reenact.browser.camera.writer import FootageWriter
from reenact.core.boundary import Sidecar
from reenact.core.model.event import Tree


class FilmedTab:
    """One page and its filming parts."""

    def __init__(self, number: int, page: Page, reel: FrameRecorder) -> None:
        self.number = number
        self.page = page
        self.reel = reel
        self.title = ""
        self.opener: int | None = None
        self.written = False
        """True once its first line is written."""


class Camera:
    """Films a browser context: pictures, tabs, actions, network, console, and other events.

    It changes neither the page nor the context, raises no error into the agent, and holds no picture. The browser
    paints no secrets (`page/hiding.py`). All methods run in Playwright's event loop. The session writes the first line
    (`session`) and the last one (`end`), the camera all lines between.

    Args:
        context: Playwright's context. Its tabs are numbered as they open, from 0.
        beside: The session's file.
        size: The largest picture, in pixels. Larger pages are scaled down.
        quality: Of JPEG, 0 to 100.
        rate: The most pictures a second that are kept of a tab.
    """

    def __init__(
        self,
        context: BrowserContext,
        beside: Sidecar,
        *,
        size: tuple[int, int] = (1280, 720),
        quality: int = 75,
        rate: float = 8.0,
    ) -> None:
        self._context = context
        self._log = FootageWriter(beside)
        self._film = FrameSettings(size=size, quality=quality, rate=rate)
        self._tabs: dict[Page, FilmedTab] = {}
        self._opened = 0
        self._active: Page | None = None
        self.moments = MomentWriter(self._log)
        """The pages themselves, beside the pictures."""
        self._lines: dict[int, str] = {}
        self._gate = ActionGate()
        self._network = Network(context, self._log, self._gate, self._number)
        self._happenings = PageEvents(context, self._log, self._number)
        self._page_opened = self._log.guarded(self._attach)

    # -- from start to stop ----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Film all open tabs, and those that open later."""
        self._context.on("page", self._page_opened)
        self._network.start()
        self._happenings.start()
        for page in self._context.pages:
            self._attach(page)
        if self._tabs:
            first = next(iter(self._tabs))
            self.active(first, why="start")

    async def stop(self) -> None:
        """Write pending lines and stop. May be called again, and after the browser has ended."""
        if self._log.closed:
            return
        for tab in list(self._tabs.values()):
            try:
                if tab.page is self._active:
                    await tab.reel.settled()
                    tab.reel.want("end", None)
                await tab.reel.stop()
            except Exception as error:
                self._log.failed("stop", error)
        self._context.remove_listener("page", self._page_opened)
        for part in (self._network, self._happenings):
            try:
                await part.stop()
            except Exception as error:
                self._log.failed("stop", error)
        await self._log.stop()

    # -- calls of the session --------------------------------------------------------------------------------

    def active(self, page: Page, *, why: str = "tab") -> None:
        """Note that the session now works in this tab."""
        tab = self._tab(page)
        if tab is None or page is self._active:
            return
        self._active = page
        self._event(tab, "active")
        self._log.guarded(tab.reel.cut)()
        self._log.guarded(tab.reel.want)(why, None)

    def begin(self, page: Page) -> None:
        """Note that an action begins: postpone the camera's own requests until it is done."""
        self._happenings.aside.clear()
        if (tab := self._tab(page)) is not None:
            self._log.guarded(self._gate.close)(tab.reel.go_on)

    def aside(self) -> str:
        """Return the page's dialogs and downloads since the action began, as a text."""
        return "".join(f"; {text}" for text in self._happenings.aside)

    def asked(self, call: int | None, line: str) -> None:
        """Store the program's line that asks for a step, until the step begins."""
        self._lines.clear()
        if call is not None and line:
            self._lines[call] = line

    async def before(
        self,
        call: int | None,
        page: Page,
        actor: str,
        action: Mapping[str, Tree],
        target: Mapping[str, Tree] | None,
        *,
        began: datetime | None = None,
    ) -> None:
        """Write the line of an action that is about to be done.

        Args:
            call: The number of its effect.
            page: The tab.
            actor: `script`, `agent` or `heal`.
            action: Its type and fields, without secrets.
            target: `box`, `point`, `selector`, `frame` and `secret` of its element, or None.
            began: Its beginning, if the action has failed before it was done.
        """
        tab = self._tab(page)
        if tab is not None:
            self.active(page)
            line_members: dict[str, Any] = {
                "action": dict(action),
                "url": tab.page.url,
                "target": target and dict(target),
            }
            line_members["t"] = None if began is None else self._log.at(began.timestamp() * 1000)
            self._log.guarded(self._before)(tab, call, actor, line_members)

    async def after(  # noqa: PLR0917 - the order of the line's members
        self,
        call: int | None,
        page: Page,
        success: bool,
        message: str,
        why: Tree = None,
        selectors: Tree = None,
    ) -> None:
        """Write the line of a finished action.

        `why` holds the facts of its failure, `selectors` the durable ones of its element.
        """
        tab = self._tab(page)
        if tab is not None:
            line_members: dict[str, Any] = {
                "success": success,
                "message": message,
                "why": why,
                "selectors": selectors,
            }
            line_members |= {"url": page.url, "title": tab.title}
            self._log.guarded(self._after)(tab, call, line_members)
            self.active(page)

    def moment(self, page: Page, taken: TakenPage | None, why: str, call: int | None = None) -> None:
        """Keep the content of the page, as it was read."""
        if (tab := self._tab(page)) is not None and taken is not None:
            self._log.guarded(self.moments.write)(taken, tab.number, why, call)

    def tree(self, page: Page, text: str, call: int | None = None) -> None:
        """Write the line of an accessibility tree that was read in this tab."""
        if (tab := self._tab(page)) is not None:
            self._log.guarded(self._tree)(tab, text, call)

    def _before(self, tab: FilmedTab, call: int | None, actor: str, line_members: dict[str, Any]) -> None:
        tab.reel.cut()
        tab.reel.want("before", call)
        line = self._lines.pop(-1 if call is None else call, "")
        line_members |= {"line": line} if line else {}
        self._log.write("before", call=call, tab=tab.number, actor=actor, **line_members)

    def _after(self, tab: FilmedTab, call: int | None, line_members: Mapping[str, Any]) -> None:
        self._log.write("after", call=call, tab=tab.number, **line_members)
        tab.reel.cut()
        tab.reel.want("after", call, settled=True)
        self._gate.open()

    def _tree(self, tab: FilmedTab, text: str, call: int | None) -> None:
        self._log.write("tree", tab=tab.number, blob=self._log.text(text), call=call)

    # -- tabs ------------------------------------------------------------------------------------------------

    def _tab(self, page: Page) -> FilmedTab | None:
        return None if self._log.closed else self._tabs.get(page)

    def _number(self, page: Page | None) -> int | None:
        tab = self._tabs.get(page) if page is not None else None
        return None if tab is None else tab.number

    def _attach(self, page: Page) -> None:
        if page in self._tabs:
            return
        number, self._opened = self._opened, self._opened + 1
        reel = FrameRecorder(page, number, self._log, gate=self._gate, film=self._film)
        tab = self._tabs[page] = FilmedTab(number, page, reel)
        page.on("close", self._log.guarded(lambda _: self._closed(tab)))
        page.on("framenavigated", self._log.guarded(lambda frame: self._navigated(tab, frame)))
        page.on("load", self._log.guarded(lambda _: self._log.start(self._titled(tab), "a title")))
        page.on("popup", self._log.guarded(lambda popup: self._popped_up(tab, popup)))
        page.on("crash", self._log.guarded(lambda _: self._crashed(tab)))
        self._log.guarded(reel.start)()
        self._happenings.attach(page, number)
        # The opener is reported right after, in another event.
        asyncio.get_running_loop().call_soon(self._log.guarded(self._write_tab), tab)

    def _crashed(self, tab: FilmedTab) -> None:
        self._log.write("crash", tab=tab.number, what="page")
        tab.reel.crashed()

    def _popped_up(self, tab: FilmedTab, popup: Page) -> None:
        if (other := self._tab(popup)) is not None and not other.written:
            other.opener = tab.number

    def _write_tab(self, tab: FilmedTab) -> None:
        if not tab.written:
            tab.written = True
            self._event(tab, "opened", opener=tab.opener)

    def _closed(self, tab: FilmedTab) -> None:
        self._tabs.pop(tab.page, None)
        if self._active is tab.page:
            self._active = None
        self._event(tab, "closed")
        self._happenings.closed(tab.number)
        self._log.start(tab.reel.stop(), "the last pictures of a tab")

    def _navigated(self, tab: FilmedTab, frame: Any) -> None:
        if frame.parent_frame is None:
            tab.title = ""
            self._event(tab, "navigated")
            self._log.start(self._titled(tab, at_once=False), "a title")

    async def _titled(self, tab: FilmedTab, *, at_once: bool = True) -> None:
        if not at_once:  # after a change of address without a load, the title follows later
            await self._gate.passed()
        try:
            title = await tab.page.title()
        except Error:  # it is closed, or loading the next page
            return
        if title != tab.title:
            tab.title = title
            self._event(tab, "titled")

    def _event(self, tab: FilmedTab, what: str, **members: Tree) -> None:
        self._write_tab(tab)
        self._log.write("tab", tab=tab.number, what=what, url=tab.page.url, title=tab.title, **members)
