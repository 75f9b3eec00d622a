"""The protocol of a session, as agents and scripts use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from reenact.browser.actions.results import ExecutionResult, Observation
from reenact.browser.actions.types import Action
from reenact.browser.effects.calls import Steps
from reenact.browser.effects.driver import BrowserDriver
from reenact.browser.effects.operations import Operation
from reenact.browser.effects.session_recording import SessionRecording
from reenact.browser.page.session_options import SessionOptions


class ServerLink(Protocol):
    """The browser on a server."""

    @property
    def up(self) -> bool:
        """True while the server has the session."""

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request to the server."""


class SessionCalls(Protocol):
    """The inside of a session: see `SessionCore`."""

    recording: SessionRecording
    driver: BrowserDriver
    outcomes: list[dict[str, Any]]

    @property
    def remote(self) -> ServerLink | None:
        """The browser on a server, or None."""

    def perform(self, action: Action, actor: str = "script") -> Steps[ExecutionResult]:
        """Do an action; return a failure as a result."""

    def ask(self, step: Operation) -> Steps[Any]:
        """Run a step of the open session."""

    def adopt(self, outcomes: Sequence[Mapping[str, Any]]) -> None:
        """Take over the outcomes of a server's agent in this session."""


class OpenSession(Protocol):
    """A session."""

    options: SessionOptions

    @property
    def core(self) -> SessionCalls:
        """Its inside."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def recording(self) -> str | None:
        """The folder of its recording, or None."""

    @property
    def remote(self) -> bool:
        """True if a server has the browser."""

    async def aobserve(self) -> Observation:
        """Return the page's content and its possible actions."""

    def offset(self) -> int:
        """Return the number of actions done so far."""
