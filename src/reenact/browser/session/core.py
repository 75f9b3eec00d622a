"""The inside of a session, for `Session` and the other packages of `browser`.

Each call of a session is written once here, as a generator (`reenact.browser.effects.calls`).
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult, Observation, SessionStatus
from reenact.browser.actions.running import TargetCheck
from reenact.browser.effects import observing, operations
from reenact.browser.effects.calls import AwaitedValue, Steps, run
from reenact.browser.effects.cookies import cookies_of, giving_cookies
from reenact.browser.effects.driver import BrowserBackend, BrowserDriver
from reenact.browser.effects.local import LocalBrowser
from reenact.browser.effects.session_recording import Keep, SessionRecording
from reenact.browser.isolation.guest import GuestResources
from reenact.browser.page.session_options import SessionOptions
from reenact.browser.page.target import KnownTarget
from reenact.browser.script.known_targets import KnownTargets, known_of
from reenact.browser.script.step_key import key_of
from reenact.browser.session import extract
from reenact.browser.session.remote.browser import RemoteBrowser
from reenact.browser.session.remote.link import Server
from reenact.browser.session.remote.remote_video import RemoteReplay, replay_of
from reenact.browser.session.session_video import ReplayResponse, replay
from reenact.errors import SessionError, UsageError

Asked = do.Action | Mapping[str, Any] | str | None
Hear = Callable[[Mapping[str, Any]], None]

HEAL_LIMIT = 15_000
"""Most milliseconds for a mend on a page that does not come to rest."""

_NOT_STARTED = "it was not started"
_open: set[SessionCore] = set()


class SessionBlock(Protocol):
    """A block of a script; until it ends, the session's calls pass through it.

    Attributes:
        task: Its purpose, in plain words.
        asking: True while the block itself uses the session: then the calls do not pass through it.
        mends: True if a failed step is mended.
    """

    task: str
    asking: bool
    mends: bool

    def executed(
        self, action: Asked, raise_on_failure: bool | None, fields: Mapping[str, Any]
    ) -> Steps[ExecutionResult]:
        """Execute an action of the script."""

    def refuse_scrape(self) -> None:
        """Raise UsageError: the script reads the page."""

    def page_failed(self, name: str, args: Mapping[str, Any], error: Exception) -> Steps[None]:
        """Handle a failed call of `session.page`; the arguments are without secrets."""

    def page_skipped(self, name: str, args: Callable[[], Mapping[str, Any]]) -> bool:
        """Return True if a call of `session.page` that acts must be skipped."""


class SessionListener(Protocol):
    """Receives the actions of all sessions of this process."""

    def acted(self, core: SessionCore, action: do.Action, actor: str, result: ExecutionResult) -> None:
        """Note an action and its result."""

    def page_called(self, name: str) -> None:
        """Note a call of `session.page` that acts."""


class SessionCore:
    """The state of a session, and its calls.

    Args:
        past: The id of a session of the past, for `replay`.
        server: The server that has the browser, or None.
        guest: The resources that a server gives to a client's session.
        options: The options of `SessionOptions`.

    Attributes:
        recording: The recording of its effects.
        driver: Its browser.
        remote: The browser on a server, or None.
        raise_on_failure: True if a failed action raises ActionError by default.
        outcomes: The recorded outcome of each action, without secrets.
        failed: True after a failed action or call of the page.
        asynchronous: True in a program that awaits.
        block: The block that the script is in, or None.
        listeners: The listeners of all sessions.
        targets: The identities of the script's elements in earlier good runs.
    """

    listeners: ClassVar[list[SessionListener]] = []

    def __init__(
        self, past: str | None, server: Server | None, guest: GuestResources | None, options: dict[str, Any]
    ) -> None:
        self.options = SessionOptions.of(options)
        keep = cast("Keep", self.options.save_replay_on)
        self.recording = SessionRecording(
            self.options.name, keep, self.options.home, elsewhere=server is not None
        )
        self.remote = None if server is None else RemoteBrowser(server, self.recording, past, options)
        backend: BrowserBackend = self.remote or LocalBrowser(
            self.recording, replace(self.options.settings(), guest=guest)
        )
        self.driver = BrowserDriver(self.recording, backend)
        self.raise_on_failure = self.options.raise_on_failure
        self.outcomes: list[dict[str, Any]] = []
        self.failed = False
        self.asynchronous = False
        self.block: SessionBlock | None = None
        self.targets = KnownTargets()
        self._past = past
        self._closed: str | None = _NOT_STARTED

    # -- start and stop --------------------------------------------------------------------------------------

    def start(self) -> Steps[None]:
        """Start the browser. Raises SessionError if there is none, or it does not start."""
        if self._closed is None:
            raise UsageError("the session has begun already")
        if self._past or self.recording.id:
            raise SessionError("a session cannot be started again: make another one")
        file = self.options.cookie_file
        cookies = None if file is None else giving_cookies(cookies_of(None, file))
        self.recording.begin()
        self._closed = None
        _open.add(self)
        try:
            yield from self.driver.run(self.driver.starting(self.id, self.options.asked()))
            if cookies is not None:
                yield from self.driver.run(cookies)
        except BaseException as error:
            yield from self.driver.stop("it did not start")
            self._end(error)
            raise

    def stop(self, error: BaseException | None = None) -> Steps[None]:
        """End the browser, and the session's own recording. May be called again."""
        try:
            yield from self.driver.stop("it was stopped")
        finally:
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        _open.discard(self)
        if self._closed is None:
            self._closed = "it was stopped"
            self.recording.end(error, failed=self.failed)

    # -- actions ---------------------------------------------------------------------------------------------

    def execute(
        self, action: Asked, raise_on_failure: bool | None, fields: Mapping[str, Any]
    ) -> Steps[ExecutionResult]:
        """Do an action of the script; raise its error if asked to, or by the session's default."""
        if self.block is not None and not self.block.asking:
            return (yield from self.block.executed(action, raise_on_failure, fields))
        result = yield from self.perform(do.action_of(action, **fields))
        raises = self.raise_on_failure if raise_on_failure is None else raise_on_failure
        if raises and result.exception is not None:
            raise result.exception
        return result

    def perform(
        self,
        action: do.Action,
        actor: str = "script",
        hear: Hear = lambda _: None,
        *,
        target: KnownTarget | str | None = None,
    ) -> Steps[ExecutionResult]:
        """Do an action for the script, an agent or a healer; return a failure as a result.

        Args:
            action: The action.
            actor: `script`, `agent` or `heal`.
            hear: Called with the action's recorded outcome.
            target: The expected element: a known target, or the key of the script's step that a healer repeats.
        """
        self.check_open()

        def done(outcome: Mapping[str, Any]) -> None:
            self._note(outcome)
            hear(outcome)

        def checks(recorded: Mapping[str, Any]) -> TargetCheck | None:
            return self._check(action, actor, recorded, target)

        result: ExecutionResult = yield from self.driver.run(operations.acting(action, actor, done, checks))
        if extract.wanted(result, action):
            if self.remote is not None:
                result = extract.formed(result, action)
            else:
                result = yield from extract.read(result, action, self.options.model)
        for listener in tuple(self.listeners):
            listener.acted(self, action, actor, result)
        return result

    def _check(
        self, action: do.Action, actor: str, recorded: Mapping[str, Any], target: KnownTarget | str | None
    ) -> TargetCheck | None:
        """Return the check of an action's element. Called only with a live browser, in its loop."""
        folder = self.recording.folder
        self.targets.begin(None if folder is None else Path(folder))
        if not isinstance(action, do.Aimed):
            return None
        stops = self.block is not None

        async def known() -> KnownTarget:
            if isinstance(target, KnownTarget):
                return target
            if actor == "script" or target is not None:
                key = target or key_of(
                    recorded,
                    str(self.outcomes[-1].get("url") or "") if self.outcomes else "",
                    elements=self.driver.seen,
                    before=self.outcomes,
                )
                return await self.targets.of(key, action)
            return known_of(action)

        if actor != "script" and target is None and action.expect_target is None:
            return None
        if isinstance(target, str):
            return TargetCheck(known, stops, "finished")
        if actor == "heal":
            return TargetCheck(known, stops, "finished", least=HEAL_LIMIT)
        mends = actor == "script" and self.block is not None and self.block.mends
        return TargetCheck(known, stops, "quiet" if mends else "time-out")

    def observe(self, url: str | None) -> Steps[Observation]:
        """Return the page's content and its possible actions; go to `url` first if there is one."""
        if url is not None:
            yield from self.execute("goto", None, {"url": url})
        self.check_open()
        looking = observing.looking(self.options.screenshot_type, self.driver.heard)
        observation: Observation = yield from self.driver.run(looking)
        return observation

    def scrape(self, url: str | None, fields: Mapping[str, Any]) -> Steps[Any]:
        """Read the page. Raises ActionError and UsageError."""
        if self.block is not None and not self.block.asking:
            self.block.refuse_scrape()
        if url is not None:
            yield from self.execute("goto", None, {"url": url})
        return (yield from self.execute("scrape", True, fields)).data

    # -- the page's calls ------------------------------------------------------------------------------------

    def ask(self, step: operations.Operation) -> Steps[Any]:
        """Run a step of the open session."""
        self.check_open()
        return (yield from self.driver.run(step))

    def page_failed(self, name: str, args: Mapping[str, Any], error: Exception) -> Steps[None]:
        """Note a failed call of `session.page`. Its arguments are without secrets."""
        self.failed = True
        if self.block is not None:
            yield from self.block.page_failed(name, args, error)

    def page_skipped(self, name: str, args: Callable[[], Mapping[str, Any]]) -> bool:
        """Return True if a call of `session.page` that acts must be skipped."""
        for listener in tuple(self.listeners):
            listener.page_called(name)
        return self.block is not None and self.block.page_skipped(name, args)

    # -- state -----------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session's id."""
        return self.recording.id or self._past or ""

    def status(self) -> SessionStatus:
        """Return the session's state, and the number of its actions so far."""
        if self.remote is not None and self.remote.up:
            self.driver.call(self.remote.refresh).block()
        reason = self._closed or self.driver.ended or ""
        folder = self.recording.folder
        return SessionStatus(
            session_id=self.id,
            status="closed" if reason else "active",
            reason=reason,
            url=self.driver.tabs.get(self.driver.front or 0, ""),
            steps=len(self.outcomes),
            recording=None if folder is None else str(folder),
        )

    def replay(self, **options: Any) -> Steps[ReplayResponse | RemoteReplay]:
        """Return the session as a video; in a program that awaits, it is drawn in a thread."""
        if self.remote is not None:
            return (yield from replay_of(self.remote, self.driver, **options))
        footage = self.recording.footage(self.id)
        video: ReplayResponse = yield AwaitedValue(
            lambda: replay(footage, **options), lambda: asyncio.to_thread(replay, footage, **options)
        )
        return video

    def check_open(self) -> None:
        """Raise SessionError if the session is not open."""
        if self._closed == _NOT_STARTED and not self._past:
            raise SessionError("the session has not begun: open it by `with`, or start() it")
        if self._closed is not None:
            raise SessionError(f"the session is closed ({self._closed}): start a new one")

    def adopt(self, outcomes: Sequence[Mapping[str, Any]]) -> None:
        """Take over the outcomes of a server's agent in this session."""
        for outcome in outcomes:
            self._note(outcome)

    def _note(self, outcome: Mapping[str, Any]) -> None:
        self.outcomes.append(dict(outcome))
        self.failed = self.failed or not outcome["success"]
        self.driver.heard(outcome)


@atexit.register
def _stop_all() -> None:
    """Stop all open sessions at the program's exit, with their browsers and recordings."""
    for core in list(_open):
        with suppress(Exception):
            run(core.stop())
