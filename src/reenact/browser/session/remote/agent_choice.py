"""Choose the agent of a session: here, or on the server that has the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.browser.agent import Agent
    from reenact.browser.effects.open_session import OpenSession
    from reenact.browser.session.remote.agent import RemoteAgent


def agent_for(session: OpenSession, **options: Any) -> Agent | RemoteAgent:
    """Return an agent for the session's browser. Raises UsageError for an invalid option."""
    # Imported here because both import Pydantic AI, which takes a second.
    if session.remote:
        from reenact.browser.session.remote.agent import RemoteAgent  # noqa: PLC0415

        return RemoteAgent(session, **options)
    from reenact.browser.agent import Agent  # noqa: PLC0415

    return Agent(session, **options)
