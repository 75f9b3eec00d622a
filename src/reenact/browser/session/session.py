"""A browser session: the object that a script or an agent drives.

Every call crosses the boundary as one effect of kind `browser`. Live, it is done in the session's own thread; in a
replay the recording answers, without a browser.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, cast

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult, Observation, SessionStatus
from reenact.browser.agent import extract as reading
from reenact.browser.effects import operations
from reenact.browser.effects.driver import BrowserBackend, BrowserDriver
from reenact.browser.effects.local import LocalBrowser
from reenact.browser.effects.page_proxy import PageProxy
from reenact.browser.effects.session_recording import Keep, SessionRecording
from reenact.browser.isolation.guest import GuestResources
from reenact.browser.page.session_options import SessionOptions
from reenact.browser.session.remote.browser import RemoteBrowser
from reenact.browser.session.remote.link import Server
from reenact.browser.session.remote.video import RemoteReplay, areplay_of, replay_of
from reenact.browser.session.replay import ReplayResponse, replay
from reenact.browser.video.pace import Kind
from reenact.errors import SessionError, UsageError

Asked = do.Action | Mapping[str, Any] | str | None
Hear = Callable[[Mapping[str, Any]], None]
Watcher = Callable[[str, Mapping[str, Any], Exception], Awaitable[None] | None]
Skips = Callable[[str, Callable[[], Mapping[str, Any]]], bool]

_UNBEGUN = "it was not started"
_open: set[Session] = set()


class Session:
    """A browser, from its start to its end.

    Use it in a `with` or `async with` statement, or call `start` and `stop`.

        with client.Session() as session:
            session.execute(type="goto", url="https://example.com")
            session.execute(type="click", selector="text=More information")

    Its actions are recorded: in the current recording, or in one of its own.

    Args:
        session_id: A session of the past, for `replay()`.
        server: The server that has the browser and records the session; None for this machine.
        guest: The means that a server gives to a session opened for a client.
        options: Those of `reenact.browser.page.session_options.SessionOptions`.

    Attributes:
        raise_on_failure: True if a failed action raises ActionError by default.
    """

    def __init__(
        self,
        session_id: str | None = None,
        *,
        server: Server | None = None,
        guest: GuestResources | None = None,
        **options: Any,
    ) -> None:
        self.options = SessionOptions.of(options)
        self.raise_on_failure = self.options.raise_on_failure
        self._past = session_id
        keep = cast("Keep", self.options.save_replay_on)
        self._crossing = SessionRecording(
            self.options.name, keep, self.options.home, elsewhere=server is not None
        )
        self._there = None if server is None else RemoteBrowser(server, self._crossing, session_id, options)
        doer: BrowserBackend = self._there or LocalBrowser(
            self._crossing, replace(self.options.settings(), guest=guest)
        )
        self._driver = BrowserDriver(self._crossing, doer)
        self._closed: str | None = _UNBEGUN
        self._failed = False
        self._outcomes: list[dict[str, Any]] = []
        self._asynchronous = False
        self._watchers: list[Watcher] = []
        """Called after each failed call of `session.page`, with name, arguments and error.

        The arguments are without secrets. In an asynchronous program the returned awaitables are awaited before the
        program gets the error.
        """
        self._skips: list[Skips] = []
        """Asked before each call of `session.page` that acts: True skips the call."""

    # -- start and stop --------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start the browser. Raises SessionError where there is none, or it does not start."""
        cookies = self._begin()
        try:
            self._driver.run(self._driver.starting(self.id, self.options.asked()))
            if cookies is not None:
                self._driver.run(cookies)
        except BaseException as error:
            self._driver.stop("it did not start")
            self._end(error)
            raise
        return self

    async def astart(self) -> Self:
        """`start`, awaited."""
        self._asynchronous = True
        cookies = self._begin()
        try:
            await self._driver.arun(self._driver.starting(self.id, self.options.asked()))
            if cookies is not None:
                await self._driver.arun(cookies)
        except BaseException as error:
            await self._driver.astop("it did not start")
            self._end(error)
            raise
        return self

    def stop(self) -> None:
        """End the browser, and the session's own recording. Harmless when it has ended."""
        self.__exit__(None, None, None)

    async def astop(self) -> None:
        """`stop`, awaited."""
        await self.__aexit__(None, None, None)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._driver.stop("it was stopped")
        finally:
            self._end(error)

    async def __aenter__(self) -> Self:
        return await self.astart()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            await self._driver.astop("it was stopped")
        finally:
            self._end(error)

    # -- actions ---------------------------------------------------------------------------------------------

    def execute(
        self, action: Asked = None, *, raise_on_failure: bool | None = None, **fields: Any
    ) -> ExecutionResult:
        """Do one action: `execute(type="click", selector="text=Sign in")`.

        docs/browser.md lists all actions.

        Raises:
            UsageError: (a ValueError) No type, an unknown type or field.
            ActionError: It failed, and `raise_on_failure` (by default the session's) is true.
            SessionError: The session is closed.
        """
        return self._given(self._execute(do.action_of(action, **fields)), raise_on_failure)

    async def aexecute(
        self, action: Asked = None, *, raise_on_failure: bool | None = None, **fields: Any
    ) -> ExecutionResult:
        """`execute`, awaited."""
        return self._given(await self._aexecute(do.action_of(action, **fields)), raise_on_failure)

    def _execute(
        self, action: do.Action, actor: str = "script", hear: Hear = lambda _: None
    ) -> ExecutionResult:
        """Do an action for the script, an agent or a healer; return a failure as a result.

        `hear` is called with the action's outcome, as it is recorded.
        """
        result = cast("ExecutionResult", self._driver.run(self._acting(action, actor, hear)))
        if not reading.wanted(result, action):
            return result
        return (
            reading.formed(result, action)
            if self.remote
            else reading.read(result, action, self.options.model)
        )

    async def _aexecute(self, action: do.Action, actor: str = "script") -> ExecutionResult:
        """`_execute`, awaited."""
        result = cast("ExecutionResult", await self._driver.arun(self._acting(action, actor)))
        if not reading.wanted(result, action):
            return result
        if self.remote:
            return reading.formed(result, action)
        return await reading.aread(result, action, self.options.model)

    def observe(self, url: str | None = None, **options: Any) -> Observation:
        """Return the page's content and its possible actions. With a `url`, go there first.

        The ids in it (B1, I1, L1 …) are valid until the next observation.
        """
        if url is not None:
            self.execute(type="goto", url=url)
        return cast("Observation", self._driver.run(self._looking(options)))

    async def aobserve(self, url: str | None = None, **options: Any) -> Observation:
        """`observe`, awaited."""
        if url is not None:
            await self.aexecute(type="goto", url=url)
        return cast("Observation", await self._driver.arun(self._looking(options)))

    def scrape(self, instructions: str | None = None, *, url: str | None = None, **options: Any) -> Any:
        """Read the page: Markdown, or a model's answer by `instructions` or in a `response_format`.

        Raises:
            ActionError: It could not be read.
            UsageError: Instructions or a format, and no model: `Session(model=…)` or REENACT_MODEL names one.
        """
        if url is not None:
            self.execute(type="goto", url=url)
        return self.execute(type="scrape", instructions=instructions, raise_on_failure=True, **options).data

    async def ascrape(
        self, instructions: str | None = None, *, url: str | None = None, **options: Any
    ) -> Any:
        """`scrape`, awaited."""
        if url is not None:
            await self.aexecute(type="goto", url=url)
        done = await self.aexecute(type="scrape", instructions=instructions, raise_on_failure=True, **options)
        return done.data

    # -- state -----------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session's id, as used by `reenact show`, `watch` and `video`."""
        return self._crossing.id or self._past or ""

    @property
    def session_id(self) -> str:
        """Same as `id`: the API's name for it."""
        return self.id

    @property
    def recording(self) -> str | None:
        """The folder of this session's recording, or None where nothing is recorded."""
        folder = self._crossing.folder
        return None if folder is None else str(folder)

    def offset(self) -> int:
        """Return the number of actions done so far."""
        return len(self._outcomes)

    @property
    def outcomes(self) -> Sequence[Mapping[str, Any]]:
        """The outcome of each action, as it is recorded: without secrets."""
        return tuple(self._outcomes)

    @property
    def remote(self) -> bool:
        """True if a server has the browser."""
        return self._there is not None

    def status(self) -> SessionStatus:
        """Return the session's state, and the number of its actions so far."""
        if self._there is not None and self._there.up:
            self._driver.call(self._there.refresh)
        reason = self._closed or self._driver.ended or ""
        return SessionStatus(
            session_id=self.id,
            status="closed" if reason else "active",
            reason=reason,
            url=self._driver.tabs.get(self._driver.front or 0, ""),
            steps=len(self._outcomes),
            recording=self.recording,
        )

    @property
    def page(self) -> PageProxy:
        """Playwright's page: its methods are effects too, and a replay needs no browser for them."""
        return PageProxy(_PageServices(self), self._driver.front or 0)

    def replay(self, *, pace: Kind = "real", mask: bool = True, **_: Any) -> ReplayResponse | RemoteReplay:
        """Return the session as a video: running, ended, or by its id (`Session(session_id=…)`).

        Raises RecordingError where it was not kept.
        """
        if self._there is not None:
            return replay_of(self._there, self._driver, pace=pace, mask=mask)
        return replay(self._crossing.footage(self.id), pace=pace, mask=mask)

    async def areplay(self, *, pace: Kind = "real", mask: bool = True) -> ReplayResponse | RemoteReplay:
        """`replay`, awaited; the video is drawn in a thread."""
        if self._there is not None:
            return await areplay_of(self._there, self._driver, pace=pace, mask=mask)
        return await asyncio.to_thread(replay, self._crossing.footage(self.id), pace=pace, mask=mask)

    def cdp_url(self) -> str:
        """Return the address for other clients of the Chrome DevTools Protocol."""
        return str(self._run(operations.telling_cdp()))

    async def acdp_url(self) -> str:
        """`cdp_url`, awaited."""
        return str(await self._arun(operations.telling_cdp()))

    def get_cookies(self) -> list[dict[str, Any]]:
        """Return the browser's cookies. The recording has tokens in place of their values."""
        return cast("list[dict[str, Any]]", self._run(operations.telling_cookies(self._crossing.secret)))

    async def aget_cookies(self) -> list[dict[str, Any]]:
        """`get_cookies`, awaited."""
        return cast(
            "list[dict[str, Any]]", await self._arun(operations.telling_cookies(self._crossing.secret))
        )

    def set_cookies(self, cookies: Any = None, *, cookie_file: Any = None) -> None:
        """Set cookies: a list of dicts in Playwright's form, or a JSON file of one."""
        self._run(operations.giving_cookies(operations.cookies_of(cookies, cookie_file)))

    async def aset_cookies(self, cookies: Any = None, *, cookie_file: Any = None) -> None:
        """`set_cookies`, awaited."""
        await self._arun(operations.giving_cookies(operations.cookies_of(cookies, cookie_file)))

    # -- internals -------------------------------------------------------------------------------------------

    def _begin(self) -> operations.Operation | None:
        if self._closed is None:
            raise UsageError("the session has begun already")
        if self._past or self._crossing.id:
            raise SessionError("a session cannot be started again: make another one")
        file = self.options.cookie_file
        cookies = None if file is None else operations.giving_cookies(operations.cookies_of(None, file))
        self._crossing.begin()
        self._closed = None
        _open.add(self)
        return cookies

    def _end(self, error: BaseException | None) -> None:
        _open.discard(self)
        if self._closed is None:
            self._closed = "it was stopped"
            self._crossing.end(error, failed=self._failed)

    def _run(self, step: operations.Operation) -> Any:
        self._ensure_open()
        return self._driver.run(step)

    async def _arun(self, step: operations.Operation) -> Any:
        self._ensure_open()
        return await self._driver.arun(step)

    def _ensure_open(self) -> None:
        if self._closed == _UNBEGUN and not self._past:
            raise SessionError("the session has not begun: open it by `with`, or start() it")
        if self._closed is not None:
            raise SessionError(f"the session is closed ({self._closed}): start a new one")

    def _acting(self, action: do.Action, actor: str, hear: Hear = lambda _: None) -> operations.Operation:
        self._ensure_open()

        def heard(outcome: Mapping[str, Any]) -> None:
            self._heard(outcome)
            hear(outcome)

        return operations.acting(action, actor, heard)

    def _looking(self, options: Mapping[str, Any]) -> operations.Operation:
        self._ensure_open()
        return operations.looking(self.options.screenshot_type, self._driver.heard)

    def _heard(self, outcome: Mapping[str, Any]) -> None:
        self._outcomes.append(dict(outcome))
        self._failed = self._failed or not outcome["success"]
        self._driver.heard(outcome)

    def _caught_up(self, outcomes: Sequence[Mapping[str, Any]]) -> None:
        """Take over the outcomes of a server's agent in this session."""
        for outcome in outcomes:
            self._heard(outcome)

    def _given(self, result: ExecutionResult, raise_on_failure: bool | None) -> ExecutionResult:
        raises = self.raise_on_failure if raise_on_failure is None else raise_on_failure
        if raises and result.exception is not None:
            raise result.exception
        return result


@atexit.register
def _stop_all() -> None:
    """Stop all open sessions at the program's exit, with their browsers and recordings."""
    for session in list(_open):
        with suppress(Exception):
            session.stop()


class _PageServices:
    """The session's services for `session.page`."""

    def __init__(self, session: Session) -> None:
        self.asynchronous = session._asynchronous
        self._session = session
        self.call, self.acall, self.heard = session._run, session._arun, session._driver.heard

    def failed(self, name: str, args: Mapping[str, Any], error: Exception) -> list[Awaitable[None]]:
        """Tell all watchers of a failed call."""
        self._session._failed = True
        told = [watcher(name, args, error) for watcher in list(self._session._watchers)]
        return [one for one in told if one is not None]

    def skipped(self, name: str, args: Callable[[], Mapping[str, Any]]) -> bool:
        """Return True if the call must be skipped because of an earlier failure."""
        return any(asked(name, args) for asked in list(self._session._skips))
