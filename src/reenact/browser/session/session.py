"""A browser session: the object that a script or an agent drives.

Every call crosses the boundary as one effect of kind `browser`. Live, it is done in the session's thread; in a replay
it is answered from the recording, without a browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, cast

from reenact.browser.actions.results import ExecutionResult, Observation, SessionStatus
from reenact.browser.effects import operations
from reenact.browser.effects.calls import arun, run
from reenact.browser.effects.cookies import cookies_of, giving_cookies, telling_cookies
from reenact.browser.effects.page_proxy import PageProxy
from reenact.browser.isolation.guest import GuestResources
from reenact.browser.session.core import Asked, SessionCore
from reenact.browser.session.remote.link import Server
from reenact.browser.session.remote.remote_video import RemoteReplay
from reenact.browser.session.session_video import ReplayResponse
from reenact.browser.video.pace import Kind


class Session:
    """A browser, from its start to its end.

    Use it in a `with` or `async with` statement, or call `start` and `stop`.

        with client.Session() as session:
            session.execute(type="goto", url="https://example.com")
            session.execute(type="click", selector="text=More information")

    Its actions are recorded, in the current recording or in one of its own.

    Args:
        session_id: A session of the past, for `replay()`.
        server: The server that has the browser and records the session; None for this machine.
        guest: The resources that a server gives to a client's session.
        options: The options of `reenact.browser.page.session_options.SessionOptions`.

    Attributes:
        core: The inside of the session, for Reenact's own modules.
        options: Its options.
    """

    def __init__(
        self,
        session_id: str | None = None,
        *,
        server: Server | None = None,
        guest: GuestResources | None = None,
        **options: Any,
    ) -> None:
        self.core = SessionCore(session_id, server, guest, options)
        self.options = self.core.options

    # -- start and stop --------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start the browser. Raises SessionError if there is none, or it does not start."""
        run(self.core.start())
        return self

    async def astart(self) -> Self:
        """`start`, awaited."""
        self.core.asynchronous = True
        await arun(self.core.start())
        return self

    def stop(self) -> None:
        """End the browser, and the session's own recording. May be called again."""
        run(self.core.stop())

    async def astop(self) -> None:
        """`stop`, awaited."""
        await arun(self.core.stop())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        run(self.core.stop(error))

    async def __aenter__(self) -> Self:
        return await self.astart()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        await arun(self.core.stop(error))

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
        return run(self.core.execute(action, raise_on_failure, fields))

    async def aexecute(
        self, action: Asked = None, *, raise_on_failure: bool | None = None, **fields: Any
    ) -> ExecutionResult:
        """`execute`, awaited."""
        return await arun(self.core.execute(action, raise_on_failure, fields))

    def observe(self, url: str | None = None, **options: Any) -> Observation:
        """Return the page's content and its possible actions. With a `url`, go there first.

        The ids in it (B1, I1, L1 …) are valid until the next observation.
        """
        return run(self.core.observe(url))

    async def aobserve(self, url: str | None = None, **options: Any) -> Observation:
        """`observe`, awaited."""
        return await arun(self.core.observe(url))

    def scrape(self, instructions: str | None = None, *, url: str | None = None, **options: Any) -> Any:
        """Read the page: Markdown, or a model's answer by `instructions` or in a `response_format`.

        Raises:
            ActionError: It could not be read.
            UsageError: Instructions or a format without a model (`Session(model=…)` or REENACT_MODEL).
        """
        return run(self.core.scrape(url, {"instructions": instructions, **options}))

    async def ascrape(
        self, instructions: str | None = None, *, url: str | None = None, **options: Any
    ) -> Any:
        """`scrape`, awaited."""
        return await arun(self.core.scrape(url, {"instructions": instructions, **options}))

    # -- state -----------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session's id, as used by `reenact show`, `watch` and `video`."""
        return self.core.id

    @property
    def session_id(self) -> str:
        """Same as `id`: the API's name for it."""
        return self.core.id

    @property
    def recording(self) -> str | None:
        """The folder of this session's recording, or None if nothing is recorded."""
        folder = self.core.recording.folder
        return None if folder is None else str(folder)

    def offset(self) -> int:
        """Return the number of actions done so far."""
        return len(self.core.outcomes)

    @property
    def outcomes(self) -> Sequence[Mapping[str, Any]]:
        """The recorded outcome of each action, without secrets."""
        return tuple(self.core.outcomes)

    @property
    def remote(self) -> bool:
        """True if a server has the browser."""
        return self.core.remote is not None

    def status(self) -> SessionStatus:
        """Return the session's state, and the number of its actions so far."""
        return self.core.status()

    @property
    def raise_on_failure(self) -> bool:
        """True if a failed action raises ActionError by default; it can be set."""
        return self.core.raise_on_failure

    @raise_on_failure.setter
    def raise_on_failure(self, value: bool) -> None:
        self.core.raise_on_failure = value

    @property
    def page(self) -> PageProxy:
        """Playwright's page. Its methods are effects, too, so that a replay needs no browser."""
        return PageProxy(self.core, self.core.driver.front or 0)

    def replay(self, *, pace: Kind = "real", mask: bool = True, **_: Any) -> ReplayResponse | RemoteReplay:
        """Return the session as a video: running, ended, or by its id (`Session(session_id=…)`).

        Raises RecordingError if it was not kept.
        """
        return run(self.core.replay(pace=pace, mask=mask))

    async def areplay(self, *, pace: Kind = "real", mask: bool = True) -> ReplayResponse | RemoteReplay:
        """`replay`, awaited; the video is drawn in a thread."""
        return await arun(self.core.replay(pace=pace, mask=mask))

    def cdp_url(self) -> str:
        """Return the address for other clients of the Chrome DevTools Protocol."""
        return str(run(self.core.ask(operations.telling_cdp())))

    async def acdp_url(self) -> str:
        """`cdp_url`, awaited."""
        return str(await arun(self.core.ask(operations.telling_cdp())))

    def get_cookies(self) -> list[dict[str, Any]]:
        """Return the browser's cookies. The recording has tokens instead of their values."""
        reading = telling_cookies(self.core.recording.secret)
        return cast("list[dict[str, Any]]", run(self.core.ask(reading)))

    async def aget_cookies(self) -> list[dict[str, Any]]:
        """`get_cookies`, awaited."""
        reading = telling_cookies(self.core.recording.secret)
        return cast("list[dict[str, Any]]", await arun(self.core.ask(reading)))

    def set_cookies(self, cookies: Any = None, *, cookie_file: Any = None) -> None:
        """Set cookies: a list of dicts in Playwright's form, or a JSON file of one."""
        run(self.core.ask(giving_cookies(cookies_of(cookies, cookie_file))))

    async def aset_cookies(self, cookies: Any = None, *, cookie_file: Any = None) -> None:
        """`set_cookies`, awaited."""
        await arun(self.core.ask(giving_cookies(cookies_of(cookies, cookie_file))))
