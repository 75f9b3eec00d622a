"""Whose agent works in a session: one of this program's, or, where a server has the browser, one of the server's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reenact.browser.agent import Agent
    from reenact.browser.session.remote.agent import RemoteAgent
    from reenact.browser.session.session import Session


def agent_for(session: Session, **options: Any) -> Agent | RemoteAgent:
    """An agent that works where the session's browser is. Raises UsageError for an option that cannot be."""
    # Both bring Pydantic AI's package, a second that scripts are spared.
    if session.remote:
        from reenact.browser.session.remote.agent import RemoteAgent  # noqa: PLC0415

        return RemoteAgent(session, **options)
    from reenact.browser.agent import Agent  # noqa: PLC0415

    return Agent(session, **options)
