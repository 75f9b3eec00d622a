"""The names of a well-known lesson on replaying agents; `docs/lesson.md` maps each of them.

    from reenact.lesson import record_session, create_replay_model

    output, session = record_session(agent, "Cancel my order ORD-5521, wrong item")
    session.save("sessions/cancel.json")

    with agent.override(model=create_replay_model(session)):
        agent.run_sync(session.user_input)

Functions that need Pydantic AI import it when they are called.
"""

from reenact.lesson.agent_state import AgentStateSnapshot, StatefulAgent
from reenact.lesson.bug import BugReproducer
from reenact.lesson.compare import compare_sessions
from reenact.lesson.recording import arecord_session, record_session, record_sessions
from reenact.lesson.replaying import create_replay_model
from reenact.lesson.session import SessionRecord

__all__ = [
    "AgentStateSnapshot",
    "BugReproducer",
    "SessionRecord",
    "StatefulAgent",
    "arecord_session",
    "compare_sessions",
    "create_replay_model",
    "record_session",
    "record_sessions",
]
