"""A browser session: what a script or an agent has in its hand.

Every call crosses the boundary as one effect of kind `browser`. Live, it is done in the session's own thread; in a
replay the recording answers, and there is no browser at all.
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
from reenact.browser.effects import steps
from reenact.browser.effects.crossing import Crossing, Keep
from reenact.browser.effects.driver import Doer, Driver
from reenact.browser.effects.local import Here
from reenact.browser.effects.page import Page
from reenact.browser.isolation.guest import Guest
from reenact.browser.page.options import Options
from reenact.browser.session.remote.link import Server
from reenact.browser.session.remote.there import There
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
    """A browser, from its start to its end. Use it in a `with` or `async with` statement, or `start` and `stop` it.

        with client.Session() as session:
            session.execute(type="goto", url="https://example.com")
            session.execute(type="click", selector="text=More information")

    What it does is recorded: in the recording that is under way, or in one of its own.

    Args:
        session_id: A session of the past, for `replay()`.
        server: Where the browser is, and where the session is recorded; None for this machine.
        guest: What a server gives to a session that it has open for others.
        options: Those of `reenact.browser.page.options.Options`.

    Attributes:
        raise_on_failure: Whether a failed action raises ActionError, where a call does not say otherwise.
    """

    def __init__(
        self,
        session_id: str | None = None,
        *,
        server: Server | None = None,
        guest: Guest | None = None,
        **options: Any,
    ) -> None:
        self.options = Options.of(options)
        self.raise_on_failure = self.options.raise_on_failure
        self._past = session_id
        keep = cast("Keep", self.options.save_replay_on)
        self._crossing = Crossing(self.options.name, keep, self.options.home, elsewhere=server is not None)
        self._there = None if server is None else There(server, self._crossing, session_id, options)
        doer: Doer = self._there or Here(self._crossing, replace(self.options.settings(), guest=guest))
        self._driver = Driver(self._crossing, doer)
        self._closed: str | None = _UNBEGUN
        self._failed = False
        self._outcomes: list[dict[str, Any]] = []
        self._asynchronous = False
        self._watchers: list[Watcher] = []
        """Told of each failed call of `session.page`: its name, its arguments without secrets, the error. What they
        give is awaited where the program is asynchronous, before it hears of the failure.
        """
        self._skips: list[Skips] = []
        """Asked before each call of `session.page` that does something whether it is to be left out."""

    # -- from the beginning to the end -----------------------------------------------------------------------

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
        """End the browser, and the recording if it is the session's own. Harmless when it has ended."""
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

    # -- what it does ----------------------------------------------------------------------------------------

    def execute(
        self, action: Asked = None, *, raise_on_failure: bool | None = None, **fields: Any
    ) -> ExecutionResult:
        """Do one action: `execute(type="click", selector="text=Sign in")`. docs/browser.md lists them all.

        Raises:
            UsageError: (a ValueError) No type, an unknown type or field.
            ActionError: It failed, and `raise_on_failure` (by default the session's) says so.
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
        """Do an action for the script, an agent or a healer; a failed one is a result, never an exception.

        `hear` is told the action's outcome, as it is recorded.
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
        """What the page looks like, and what can be done on it. With a `url`, go there first.

        The ids in it (B1, I1, L1 …) hold until the next observation.
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
        """Read the page: Markdown, or what a model makes of it by `instructions` or in a `response_format`.

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

    # -- what it tells ---------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session's id: by it `reenact show`, `watch` and `video` find it."""
        return self._crossing.id or self._past or ""

    @property
    def session_id(self) -> str:
        """`id`, under the name that the API has for it."""
        return self.id

    @property
    def recording(self) -> str | None:
        """The folder of the recording that this session is in, or None where nothing is recorded."""
        folder = self._crossing.folder
        return None if folder is None else str(folder)

    def offset(self) -> int:
        """How many actions it has done so far."""
        return len(self._outcomes)

    @property
    def outcomes(self) -> Sequence[Mapping[str, Any]]:
        """What became of each of its actions, as it is recorded: without secrets."""
        return tuple(self._outcomes)

    @property
    def remote(self) -> bool:
        """Whether a server has the browser."""
        return self._there is not None

    def status(self) -> SessionStatus:
        """Whether it is active, and what it has done so far."""
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
    def page(self) -> Page:
        """Playwright's page: its methods are effects too, and a replay needs no browser for them."""
        return Page(_Pages(self), self._driver.front or 0)

    def replay(self, *, pace: Kind = "real", mask: bool = True, **_: Any) -> ReplayResponse | RemoteReplay:
        """The session as a video: while it goes on, afterwards, and by its id later (`Session(session_id=…)`).

        Raises RecordingError where nothing of it is kept.
        """
        if self._there is not None:
            return replay_of(self._there, self._driver, pace=pace, mask=mask)
        return replay(self._crossing.footage(self.id), pace=pace, mask=mask)

    async def areplay(self, *, pace: Kind = "real", mask: bool = True) -> ReplayResponse | RemoteReplay:
        """`replay`, drawn in a thread while the loop goes on."""
        if self._there is not None:
            return await areplay_of(self._there, self._driver, pace=pace, mask=mask)
        return await asyncio.to_thread(replay, self._crossing.footage(self.id), pace=pace, mask=mask)

    def cdp_url(self) -> str:
        """Where another client may connect to this browser, by the Chrome DevTools Protocol."""
        return str(self._run(steps.telling_cdp()))

    async def acdp_url(self) -> str:
        """`cdp_url`, awaited."""
        return str(await self._arun(steps.telling_cdp()))

    def get_cookies(self) -> list[dict[str, Any]]:
        """The browser's cookies. Their values are secrets: the recording has tokens in their place."""
        return cast("list[dict[str, Any]]", self._run(steps.telling_cookies(self._crossing.secret)))

    async def aget_cookies(self) -> list[dict[str, Any]]:
        """`get_cookies`, awaited."""
        return cast("list[dict[str, Any]]", await self._arun(steps.telling_cookies(self._crossing.secret)))

    def set_cookies(self, cookies: Any = None, *, cookie_file: Any = None) -> None:
        """Give the browser cookies: a list of dicts as Playwright takes them, or a JSON file of one."""
        self._run(steps.giving_cookies(steps.cookies_of(cookies, cookie_file)))

    async def aset_cookies(self, cookies: Any = None, *, cookie_file: Any = None) -> None:
        """`set_cookies`, awaited."""
        await self._arun(steps.giving_cookies(steps.cookies_of(cookies, cookie_file)))

    # -- within ----------------------------------------------------------------------------------------------

    def _begin(self) -> steps.Step | None:
        if self._closed is None:
            raise UsageError("the session has begun already")
        if self._past or self._crossing.id:
            raise SessionError("a session cannot be started again: make another one")
        file = self.options.cookie_file
        cookies = None if file is None else steps.giving_cookies(steps.cookies_of(None, file))
        self._crossing.begin()
        self._closed = None
        _open.add(self)
        return cookies

    def _end(self, error: BaseException | None) -> None:
        _open.discard(self)
        if self._closed is None:
            self._closed = "it was stopped"
            self._crossing.end(error, failed=self._failed)

    def _run(self, step: steps.Step) -> Any:
        self._ensure_open()
        return self._driver.run(step)

    async def _arun(self, step: steps.Step) -> Any:
        self._ensure_open()
        return await self._driver.arun(step)

    def _ensure_open(self) -> None:
        if self._closed == _UNBEGUN and not self._past:
            raise SessionError("the session has not begun: open it by `with`, or start() it")
        if self._closed is not None:
            raise SessionError(f"the session is closed ({self._closed}): start another one")

    def _acting(self, action: do.Action, actor: str, hear: Hear = lambda _: None) -> steps.Step:
        self._ensure_open()

        def heard(outcome: Mapping[str, Any]) -> None:
            self._heard(outcome)
            hear(outcome)

        return steps.acting(action, actor, heard)

    def _looking(self, options: Mapping[str, Any]) -> steps.Step:
        self._ensure_open()
        return steps.looking(self.options.screenshot_type, self._driver.heard)

    def _heard(self, outcome: Mapping[str, Any]) -> None:
        self._outcomes.append(dict(outcome))
        self._failed = self._failed or not outcome["success"]
        self._driver.heard(outcome)

    def _caught_up(self, outcomes: Sequence[Mapping[str, Any]]) -> None:
        """What an agent of the server's did in the session meanwhile."""
        for outcome in outcomes:
            self._heard(outcome)

    def _given(self, result: ExecutionResult, raise_on_failure: bool | None) -> ExecutionResult:
        raises = self.raise_on_failure if raise_on_failure is None else raise_on_failure
        if raises and result.exception is not None:
            raise result.exception
        return result


@atexit.register
def _stop_all() -> None:
    """No browser outlives the program, and no recording of a session's is left open."""
    for session in list(_open):
        with suppress(Exception):
            session.stop()


class _Pages:
    """What `session.page` asks of its session."""

    def __init__(self, session: Session) -> None:
        self.asynchronous = session._asynchronous
        self._session = session
        self.call, self.acall, self.heard = session._run, session._arun, session._driver.heard

    def failed(self, name: str, args: Mapping[str, Any], error: Exception) -> list[Awaitable[None]]:
        """Tell whoever stands ready to help."""
        self._session._failed = True
        told = [watcher(name, args, error) for watcher in list(self._session._watchers)]
        return [one for one in told if one is not None]

    def skipped(self, name: str, args: Callable[[], Mapping[str, Any]]) -> bool:
        """Whether somebody else has taken over."""
        return any(asked(name, args) for asked in list(self._session._skips))
