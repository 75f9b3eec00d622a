"""`create_replay_model`: a model of Pydantic AI that repeats a session's answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from reenact.errors import UsageError
from reenact.lesson.session import Session, session_of

if TYPE_CHECKING:
    from reenact.lesson.replay_model import ReplayModel


def create_replay_model(session_record: Session, *, ignore: Iterable[str] = ()) -> ReplayModel:
    """Make a Pydantic AI model that answers from a session, in order; tools run for real.

        with agent.override(model=create_replay_model(session)):
            agent.run_sync(session.user_input)

    It can be used for one run. Each request is compared with the recorded one; the first difference is raised, and
    raised again if the agent catches it. `reenact.replay(..., live=["tool"])` does the same from a recording, and also
    replays clock, randomness and HTTP.

    Args:
        session_record: A SessionRecord, its dict, its file, or a loaded recording.
        ignore: Parts to ignore: `"args.messages[*].parts[*].content"` if tools now give other answers.

    Raises:
        UsageError: The session contains no answer of a model, or `ignore` names no part of the question.
        RecordingError: The file cannot be read.
    """
    try:
        from reenact.lesson.replay_model import ReplayModel
    except ImportError as error:
        raise UsageError(
            f"a replay model is one of Pydantic AI's: pip install pydantic-ai-slim ({error})"
        ) from None

    return ReplayModel(asdict(session_of(session_record)), ignore=ignore)
