"""`record_session`, and the decorator `record_sessions`."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, ParamSpec, TypeVar, overload

from reenact.core.store.writer import warn
from reenact.errors import ReenactError
from reenact.lesson import messages
from reenact.lesson.session import SessionRecord, tag
from reenact.run.api.recording import RecordingInProgress, record

P = ParamSpec("P")
T = TypeVar("T")


def record_session(
    agent: Any,
    user_input: Any,
    session_id: str | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    **options: Any,
) -> tuple[Any, SessionRecord]:
    """Run a Pydantic AI agent; record it as a recording of Reenact and a `SessionRecord`.

    The recording can be replayed, debugged and forked.

        output, session = record_session(agent, "Cancel my order ORD-5521")
        session.save("sessions/cancel.json")
        reenact.replay(session.session_id)

    Args:
        agent: The agent.
        user_input: The input of the agent.
        session_id: By default the recording's id. An id of your own becomes a tag of the recording, `session:ID`.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` in the working folder.
        options: Other options of `agent.run_sync` (`deps`, `message_history`, `model` ...).

    Returns:
        The agent's output, and the session. An exception of the agent is raised; the recording of that run is kept, and
        `SessionRecord.of(reenact.load("last"))` makes a session from it.
    """
    from pydantic_ai import capture_run_messages

    with _begun(agent, session_id, home) as recording, capture_run_messages() as seen:
        began = perf_counter()
        recording.output = agent.run_sync(user_input, **options).output
        took = perf_counter() - began
    session = SessionRecord(session_id or recording.id, user_input=messages.jsonable(user_input))
    return recording.output, _completed(
        session, options.get("model") or agent.model, seen, recording.output, took
    )


async def arecord_session(
    agent: Any,
    user_input: Any,
    session_id: str | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    **options: Any,
) -> tuple[Any, SessionRecord]:
    """Do the same as `record_session` while an event loop runs (in a notebook, a server)."""
    from pydantic_ai import capture_run_messages

    with _begun(agent, session_id, home) as recording, capture_run_messages() as seen:
        began = perf_counter()
        recording.output = (await agent.run(user_input, **options)).output
        took = perf_counter() - began
    session = SessionRecord(session_id or recording.id, user_input=messages.jsonable(user_input))
    return recording.output, _completed(
        session, options.get("model") or agent.model, seen, recording.output, took
    )


def _begun(agent: Any, session_id: str | None, home: str | os.PathLike[str] | None) -> RecordingInProgress:
    name = getattr(agent, "name", None) or "agent"
    return record(name, tags=[tag(session_id)] if session_id else [], home=home)


def _completed(
    session: SessionRecord, model: Any, seen: list[Any], output: Any, took: float
) -> SessionRecord:
    session.messages = messages.of_pydantic(seen)
    session.tool_calls = messages.tool_calls(session.messages)
    session.instructions = next((text for each in seen if (text := getattr(each, "instructions", None))), "")
    session.final_output = messages.jsonable(output)
    session.model = _model(model)
    session.duration_ms = round(took * 1000, 3)
    return session


def _model(model: Any) -> str:
    if model is None or isinstance(model, str):
        return model or ""
    return f"{model.system}:{model.model_name}"


@overload
def record_sessions(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def record_sessions(
    *, folder: str | os.PathLike[str] = ..., name: str = ..., home: str | os.PathLike[str] | None = ...
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def record_sessions(
    function: Any = None,
    /,
    *,
    folder: str | os.PathLike[str] = "sessions",
    name: str = "",
    home: str | os.PathLike[str] | None = None,
) -> Any:
    """Record every call of a function that runs agents, sync or async.

    Each call makes a recording, and a `SessionRecord` in `folder`, even if it fails.

        @record_sessions
        def handle(text: str) -> str:
            return agent.run_sync(text).output

    `@reenact.recorded` does the same without the JSON files, `reenact record -- python app.py` without the decorator.

    Args:
        function: The decorated function.
        folder: The folder of the sessions, with the names `<recording's id>.json`.
        name: The name in lists; by default the function's name.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` here.
    """
    if function is None:
        return functools.partial(record_sessions, folder=folder, name=name, home=home)
    title = name or function.__qualname__

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def arecorded(*args: Any, **kwargs: Any) -> Any:
            recording = record(title, home=home)
            try:
                async with recording:
                    recording.output = await function(*args, **kwargs)
            finally:
                _keep(recording, folder)
            return recording.output

        return arecorded

    @functools.wraps(function)
    def srecorded(*args: Any, **kwargs: Any) -> Any:
        recording = record(title, home=home)
        try:
            with recording:
                recording.output = function(*args, **kwargs)
        finally:
            _keep(recording, folder)
        return recording.output

    return srecorded


def _keep(recording: RecordingInProgress, folder: str | os.PathLike[str]) -> None:
    """Write the session of a finished recording.

    A failure causes a warning and never breaks the agent.
    """
    if not Path(recording.path).exists():
        # The call is part of another recording or a replay.
        return
    try:
        SessionRecord.of(recording.load()).save(Path(folder) / f"{recording.id}.json")
    except ReenactError as error:
        warn(f"no session was written for recording {recording.id}: {error}")
