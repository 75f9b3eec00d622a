"""A session that a server has: each step is one question to it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reenact.browser.effects.crossing import Crossing
from reenact.browser.effects.steps import Step
from reenact.browser.script.program import script_of
from reenact.browser.session.remote.link import Asker, Server
from reenact.errors import SessionError, UsageError

if TYPE_CHECKING:
    from reenact.browser.effects.driver import Whereabouts
    from reenact.browser.page.live import Live

_OF_THIS_MACHINE = {
    "executable_path": "the server finds its own browser",
    "home": "the server keeps the recording",
    "profile": "a folder here is not there",
    "downloads": "what is downloaded stays with the server's session",
}
"""Options that mean a place on this machine."""

_OWN = ("raise_on_failure", "cookie_file")
"""Options that the program sees to itself."""


class There:
    """The browser of a server's session.

    Args:
        server: The server.
        crossing: Where the session's effects happen here, if anything is recorded.
        id: A session that is there already, or None for a new one.
        options: The session's, as the user gave them.

    Raises:
        UsageError: An option means a place on this machine, or a model that has no name.
    """

    live: Live | None = None

    def __init__(
        self, server: Server, crossing: Crossing, id: str | None, options: Mapping[str, Any]
    ) -> None:
        for name, why in _OF_THIS_MACHINE.items():
            if options.get(name) is not None:
                raise UsageError(f"Session({name}=…) does not go with a server: {why}")
        self.server = server
        self._options = {name: _sent(name, value) for name, value in options.items() if name not in _OWN}
        self._crossing = crossing
        self._asker = Asker(server)
        self._id = id or ""
        self._open = False
        self._ended: str | None = None

    @property
    def up(self) -> bool:
        """Whether the session is open there."""
        return self._open

    @property
    def ended(self) -> str | None:
        """Why it can be used no more, if that is so."""
        return self._ended

    async def open(self, id: str) -> dict[str, Any]:
        """Open a session. Returns its id, and where it is."""
        # Recordings of one script belong together: what it learned in one run helps it in the next.
        script = script_of({"program": {"argv": sys.argv}})
        options = {"name": script, **self._options} if script is not None else self._options
        told = await self.request("POST", "sessions/start", options)
        self._id, self._open, self._ended = told["session_id"], True, None
        return {"session_id": self._id, "url": told["url"]}

    async def refresh(self) -> None:
        """See whether the session is still open there: it may have ended by its own clock."""
        told = await self.ask("GET", "")
        if told["status"] != "active":
            self._ended = told["reason"] or "it was stopped"

    def hide(self, value: str) -> str:
        """What stands for a secret value in what is recorded here."""
        return self._crossing.secret(value)

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a question about the session."""
        if not self._id:
            raise SessionError("the session was not started: there is nothing of it on the server")
        return await self.request(method, f"sessions/{self._id}/{path}".rstrip("/"), body)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a question to the server."""
        return await self._asker.ask(method, path, body)

    async def do(self, step: Step, call: int | None, at: Whereabouts) -> Any:
        """Have a step done there."""
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

    async def ask_for(self, step: Step) -> Any:
        """What a step must know of the page before its arguments are recorded."""
        return True if step.wire_ask is None else await step.wire_ask(self)

    async def close(self, why: str) -> None:
        """End the session there. Harmless where there is none."""
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
