"""Record page events without a picture: console, errors, dialogs, downloads, crashes.

A listener on Playwright's `dialog` must answer the dialog, and a listener on `filechooser` keeps the browser's chooser
from opening: both would change the page for the agent. So dialogs are observed through a separate session of the
browser's protocol, and choosers only if the program itself listens for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from reenact.browser.camera.writer import FootageWriter

TEXT = 8_000
"""Most characters of a console message that are kept."""
BURST = 100
"""Most console messages, and most errors, kept in one second."""
LINES = 50_000
"""Most console messages and errors kept in a session."""
_FLOOD = 2_000
"""Left-out console messages after which the camera stops listening to this page."""


@dataclass(slots=True)
class LineLimit:
    """A limit on the lines of one kind."""

    second: float = 0.0
    burst: int = 0
    lines: int = 0

    def take(self, now: float) -> bool:
        """Return True if one more line is kept."""
        if now - self.second >= 1:
            self.second, self.burst = now, 0
        self.burst += 1
        self.lines += self.burst <= BURST
        return self.burst <= BURST and self.lines <= LINES


class PageEvents:
    """Listens to a context and its pages.

    Args:
        context: Playwright's context.
        tab: The number of a page's tab, or None.
    """

    def __init__(self, context: Any, log: FootageWriter, tab: Callable[[Any], int | None]) -> None:
        self._context = context
        self._log = log
        self._tab = tab
        self._rooms = {"console": LineLimit(), "errors": LineLimit()}
        self.aside: list[str] = []
        """The events since the list was last emptied, in words."""
        self._dialogs: dict[int, dict[str, Any]] = {}
        self._sessions: dict[int, Any] = {}
        self._left_out = 0
        self._listeners = {"console": log.guarded(self._console), "weberror": log.guarded(self._weberror)}
        self._disconnected = log.guarded(self._lost)

    def start(self) -> None:
        """Start listening."""
        for event, listener in self._listeners.items():
            self._context.on(event, listener)
        if self._context.browser is not None:
            self._context.browser.on("disconnected", self._disconnected)

    async def stop(self) -> None:
        """Stop listening."""
        for event, listener in self._listeners.items():
            self._context.remove_listener(event, listener)
        if self._context.browser is not None:
            self._context.browser.remove_listener("disconnected", self._disconnected)
        for tab in list(self._dialogs):
            self._answered(tab, None)
        for session in self._sessions.values():
            with suppress(Exception):  # the page may be closed or dead
                await asyncio.wait_for(session.detach(), 1)

    def attach(self, page: Any, tab: int) -> None:
        """Listen to a page."""
        page.on("framenavigated", self._log.guarded(self._listen_again))
        page.on("download", self._log.guarded(lambda download: self._download(tab, download)))
        self._log.start(self._watch_dialogs(page, tab), "dialogs")
        # Playwright reports a chooser here only if the program listens too; this listener alone requests none.
        with suppress(AttributeError):
            channel = page._impl_obj._channel  # noqa: SLF001 - Playwright offers no other way
            channel.onFileChooser(self._log.guarded(lambda event: self._chooser(tab, event)))

    def closed(self, tab: int) -> None:
        """Note that a page is closed."""
        self._sessions.pop(tab, None)
        if tab in self._dialogs:
            self._answered(tab, None)

    # -- console and errors ----------------------------------------------------------------------------------

    def _room(self, what: str) -> bool:
        room = self._rooms[what]
        left = room.take(self._log.now())
        if not left:
            limits = f"at most {BURST} a second and {LINES} in a session"
            self._log.left_out(what, f"some of the {what} is left out: {limits} are kept")
        return left

    def _short(self, text: str) -> str:
        clean = self._log.clean(text)
        return clean if len(clean) <= TEXT else f"{clean[:TEXT]}…"

    def _console(self, message: Any) -> None:
        if not self._room("console"):
            self._left_out += 1
            if self._left_out == _FLOOD:
                self._context.remove_listener("console", self._listeners["console"])
        else:
            place = message.location
            members: dict[str, Any] = {"level": message.type, "text": self._short(message.text)}
            members |= {"url": place.get("url"), "row": place.get("lineNumber")}
            self._log.write("console", tab=self._tab(message.page), **members)

    def _listen_again(self, frame: Any) -> None:
        if frame.parent_frame is None:
            if self._left_out >= _FLOOD:
                self._context.on("console", self._listeners["console"])
            self._left_out = 0

    def _weberror(self, error: Any) -> None:
        if self._room("errors"):
            self._log.write("error", tab=self._tab(error.page), text=self._short(str(error.error)))

    # -- dialogs ---------------------------------------------------------------------------------------------

    async def _watch_dialogs(self, page: Any, tab: int) -> None:
        if page.is_closed():
            return
        session = await self._context.new_cdp_session(page)
        self._sessions[tab] = session
        session.on("Page.javascriptDialogOpening", self._log.guarded(lambda event: self._opening(tab, event)))
        session.on(
            "Page.javascriptDialogClosed",
            self._log.guarded(lambda event: self._answered(tab, event["result"])),
        )
        await session.send("Page.enable")

    def _opening(self, tab: int, event: dict[str, Any]) -> None:
        self._dialogs[tab] = {
            "t": self._log.now(),
            "kind": event["type"],
            "text": self._short(event["message"]),
        }

    def _answered(self, tab: int, accepted: bool | None) -> None:
        dialog = self._dialogs.pop(tab, None)
        if dialog is not None:
            answer = None if accepted is None else "accepted" if accepted else "dismissed"
            asked = "asked" if dialog["kind"] in ("confirm", "prompt") else "said"
            self.aside.append(
                f"the page {asked} “{dialog['text']}”" + (f", which was {answer}" if answer else "")
            )
            self._log.write("dialog", tab=tab, answer=answer, closed=round(self._log.now(), 6), **dialog)

    # -- files -----------------------------------------------------------------------------------------------

    def _download(self, tab: int, download: Any) -> None:
        members = {"tab": tab, "url": self._log.clean(download.url), "name": download.suggested_filename}
        self.aside.append(f"the download of {members['name']} began")
        self._log.write("download", **members, size=None, state="started")
        self._log.start(self._downloaded(download, members), "a download")

    async def _downloaded(self, download: Any, members: dict[str, Any]) -> None:
        failure = await download.failure()
        size = None
        with suppress(Exception):  # it failed, or is on another machine
            size = (await download.path()).stat().st_size
        state = "finished" if failure is None else "canceled" if failure == "canceled" else "failed"
        self._log.write(
            "download", **members, size=size, state=state, **({"text": failure} if failure else {})
        )

    def _chooser(self, tab: int, event: dict[str, Any]) -> None:
        self._log.write("chooser", tab=tab, multiple=bool(event["isMultiple"]))

    # -- the end ---------------------------------------------------------------------------------------------

    def _lost(self, _: Any) -> None:
        self._log.write("crash", tab=None, what="browser")
