"""A session on a server: each step is one request."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reenact.browser.effects.operations import Operation
from reenact.browser.effects.session_recording import SessionRecording
from reenact.browser.session.remote.link import Server, ServerConnection
from reenact.core.query.overview import script_of
from reenact.errors import SessionError, UsageError

if TYPE_CHECKING:
    from reenact.browser.effects.driver import KnownTabs
    from reenact.browser.page.live_browser import LiveBrowser

_OF_THIS_MACHINE = {
    "executable_path": "the server finds its own browser",
    "home": "the server keeps the recording",
    "profile": "a folder here is not there",
    "downloads": "what is downloaded stays with the server's session",
}
"""Options that name a place on this machine."""

_OWN = ("raise_on_failure", "cookie_file")
"""Options that the program handles itself."""


class RemoteBrowser:
    """The browser of a session on a server.

    Args:
        server: The server.
        recording: The recording of the session's effects in this process, if one is made.
        id: An existing session, or None for a new one.
        options: The session's options, as the user gave them.

    Raises:
        UsageError: An option names a place on this machine, or a model without a name.
    """

    live: LiveBrowser | None = None

    def __init__(
        self, server: Server, recording: SessionRecording, id: str | None, options: Mapping[str, Any]
    ) -> None:
        for name, why in _OF_THIS_MACHINE.items():
            if options.get(name) is not None:
                raise UsageError(f"Session({name}=…) does not go with a server: {why}")
        self.server = server
        self._options = {name: _sent(name, value) for name, value in options.items() if name not in _OWN}
        self._recording = recording
        self._asker = ServerConnection(server)
        self._id = id or ""
        self._open = False
        self._ended: str | None = None

    @property
    def up(self) -> bool:
        """True if the session is open on the server."""
        return self._open

    @property
    def ended(self) -> str | None:
        """The reason that it cannot be used any more, or None."""
        return self._ended

    async def open(self, id: str) -> dict[str, Any]:
        """Open a session. Return its id and its current address."""
        # The server groups the recordings of a script, so that healing learns from earlier runs.
        script = script_of({"program": {"argv": sys.argv}})
        options = {"name": script, **self._options} if script is not None else self._options
        answer = await self.request("POST", "sessions/start", options)
        self._id, self._open, self._ended = answer["session_id"], True, None
        return {"session_id": self._id, "url": answer["url"]}

    async def refresh(self) -> None:
        """Ask if the session is still open on the server: it may have ended by a time limit."""
        answer = await self.ask("GET", "")
        if answer["status"] != "active":
            self._ended = answer["reason"] or "it was stopped"

    def hide(self, value: str) -> str:
        """Return the token that replaces a secret in this process's recording."""
        return self._recording.secret(value)

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request about the session."""
        if not self._id:
            raise SessionError("the session was not started: there is nothing of it on the server")
        return await self.request(method, f"sessions/{self._id}/{path}".rstrip("/"), body)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request to the server."""
        return await self._asker.ask(method, path, body)

    async def do(self, step: Operation, call: int | None, at: KnownTabs) -> Any:
        """Do a step on the server."""
        if step.name == "start" and step.kind == "browser":
            return await step.live(None, call)  # type: ignore[arg-type]
        if not self._open:
            raise SessionError(
                f"{step.kind}:{step.name} is live, and the recording had the session on a server: open a new session"
            )
        if step.wire is None:
            raise UsageError(
                f"{step.name} needs the browser in this process, and a server has it: use session.execute(…), "
                "observe() or scrape(); on the server's own machine Playwright can connect to session.cdp_url()"
            )
        return await step.wire(self)

    async def ask_for(self, step: Operation) -> Any:
        """Ask the server for the facts that a step's recorded arguments need."""
        return True if step.wire_ask is None else await step.wire_ask(self)

    async def close(self, why: str) -> None:
        """End the session on the server, if there is one."""
        opened, self._open = self._open, False
        self._ended = self._ended or why
        try:
            if opened:
                await self.ask("DELETE", "stop")
        finally:
            await self._asker.close()


def _sent(name: str, value: Any) -> Any:
    if name == "model" and value is not None and not isinstance(value, str):
        raise UsageError(
            f"Session(model={type(value).__name__}): a server knows models by name, such as 'openai:gpt-5'"
        )
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value
