"""`Client`: create sessions and agents with shared settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reenact.browser import extra as _extra  # noqa: F401 - says what is missing, before anything is imported in vain
from reenact.browser.session.remote.link import Server as _Server

if TYPE_CHECKING:
    from reenact.browser.agent import Agent as _Agent
    from reenact.browser.heal.block import AgentFallback as _Fallback
    from reenact.browser.heal.block import Heal as _Heal
    from reenact.browser.session.remote.agent import RemoteAgent as _RemoteAgent
    from reenact.browser.session.session import Session as _Session


class Client:
    """Creates sessions and agents.

    They run here, without a server, account or key; or on your own server.

        client = reenact.Client()
        with client.Session(headless=True) as session:
            session.execute(type="goto", url="https://example.com")

    Args:
        server: The address of a Reenact server, `https://host:8090`, that has the browsers and keeps the recordings.
        api_key: The key for it; by default the value of `REENACT_API_KEY`.
        defaults: Default options of every session: `model=`, `executable_path=`, `mask=` …
    """

    def __init__(self, *, server: str | None = None, api_key: str | None = None, **defaults: Any) -> None:
        for name in ("server_url", "verbose"):
            # Programs written for the API pass these; they have no effect here.
            defaults.pop(name, None)
        self._server = None if server is None else _Server.of(server, api_key)
        self._defaults = defaults

    def Session(self, session_id: str | None = None, **options: Any) -> _Session:  # noqa: N802 - as the API has it
        """Return a session; see `reenact.browser.session.session.Session`."""
        # Imported here because the browser's libraries take half a second.
        from reenact.browser.session.session import Session as _Session  # noqa: PLC0415

        return _Session(session_id, server=self._server, **{**self._defaults, **options})

    def Agent(self, session: _Session, **options: Any) -> _Agent | _RemoteAgent:  # noqa: N802 - as the API has it
        """Return an agent for a session; see `reenact.browser.agent.Agent`."""
        from reenact.browser.session.remote.agent_choice import agent_for as _agent_for  # noqa: PLC0415 - as above

        return _agent_for(session, **options)

    def AgentFallback(  # noqa: N802 - as the API has it
        self,
        session: _Session,
        task: str,
        response_format: Any = None,
        *,
        heal: _Heal = "agent",
        expect: Any = None,
        **agent_params: Any,
    ) -> _Fallback:
        """Return a block of steps that an agent finishes; see `reenact.browser.heal.block`."""
        from reenact.browser.heal.block import AgentFallback as _Fallback  # noqa: PLC0415 - as above

        return _Fallback(session, task, response_format, heal=heal, expect=expect, **agent_params)

    def scrape(self, url: str, instructions: str | None = None, **options: Any) -> Any:
        """Read one page, in a session of its own."""
        with self.Session() as session:
            return session.scrape(instructions, url=url, **options)

    def health_check(self) -> None:
        """Check that a browser can be started. Raises SessionError."""
        with self.Session(save_replay_on="never"):
            pass
