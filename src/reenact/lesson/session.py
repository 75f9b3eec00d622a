"""`SessionRecord`: one run of an agent as one readable JSON file."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from reenact.core import messages as reading
from reenact.core import private
from reenact.core.messages import ModelCall
from reenact.core.model.plain import compact, plain
from reenact.core.model.storable import storable
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.redact import DEFAULT_RULES, Redactor, SecretRules
from reenact.errors import NotARecording, RecordingNotFound, UsageError
from reenact.lesson import messages

_SESSION = "session:"


def _now() -> str:
    return datetime.now(UTC).isoformat()


@dataclass
class SessionRecord:
    """One run of an agent: its input, the messages of its model and tools, and its output.

    Attributes:
        session_id: The session's id; after `record_session`, that of the recording.
        timestamp: The time of its start, ISO 8601.
        user_input: The input of the agent.
        final_output: The output: text, or plain JSON of a structured output. Empty for a run that failed.
        model: The model, `openai:gpt-4o`.
        instructions: The agent's instructions.
        messages: Every message, `{"type": "ModelRequest" | "ModelResponse", "parts": [{"kind": ...}]}`.
        tool_calls: `{"tool": ..., "args": ...}` for each requested tool call.
        duration_ms: The duration in milliseconds.
    """

    session_id: str
    timestamp: str = field(default_factory=_now)
    user_input: str = ""
    final_output: Any = ""
    model: str = ""
    instructions: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    duration_ms: float = 0

    def save(self, filepath: str | os.PathLike[str], *, rules: SecretRules = DEFAULT_RULES) -> Path:
        """Write it as JSON, atomically, creating the folder if missing; return the path.

        Secrets are redacted before anything is written, as in recordings.

        Raises:
            UsageError: The file cannot be written.
        """
        data = orjson.dumps(asdict(self), default=str, option=orjson.OPT_NON_STR_KEYS)
        redactor = Redactor(rules, salt=secrets.token_bytes(16), environ=dict(os.environ))
        return written(filepath, orjson.loads(redactor.line(data)))

    @classmethod
    def load(cls, filepath: str | os.PathLike[str]) -> SessionRecord:
        """Read a saved session, of Reenact or of the lesson's own code.

        Raises:
            RecordingNotFound: There is no such file.
            NotARecording: The file has another content.
        """
        path = Path(filepath)
        try:
            found = json.loads(path.read_bytes())
        except FileNotFoundError:
            raise RecordingNotFound(f"{path}: there is no such file") from None
        except OSError as error:
            raise NotARecording(f"{path} cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise NotARecording(f"{path} is no session: it is damaged JSON ({error})") from None
        return cls.checked(found, path)

    @classmethod
    def of(cls, recording: RecordedRun, agent: str = "") -> SessionRecord:
        """Make a session from a recording, of any agent, library or provider.

        Args:
            recording: A loaded recording.
            agent: The agent's name, if it contains several; by default the first one that called a model.

        Raises:
            UsageError: It contains no model call, or none of that agent.
        """
        step, first, last = _conversation(recording, agent)
        said, instructions = messages.of_call(last), _instructions(step)
        if instructions and said:
            _without(said[0]["parts"], instructions)
        output = recording.output
        if output is None:
            output = last.answer.text if last.answer is not None and recording.status == "ok" else ""
        return cls(
            session_id=recording.id,
            timestamp=recording.started,
            user_input=next((each.text for each in reversed(first.messages) if each.role == "user"), ""),
            final_output=messages.jsonable(output),
            model=":".join(word for word in (last.provider or _provider(step), last.model) if word),
            instructions=instructions,
            messages=said,
            tool_calls=messages.tool_calls(said),
            duration_ms=round(recording.duration * 1000, 3),
        )

    @classmethod
    def checked(cls, found: Any, path: Path) -> SessionRecord:
        known = [each.name for each in fields(cls)]
        if not isinstance(found, dict) or "session_id" not in found:
            raise NotARecording(
                f"{path} is no session: it is a JSON object with {', '.join(known)}"
                + (
                    f", not with {', '.join(storable(repr(key), 80) for key in list(found)[:6])}"
                    if isinstance(found, dict)
                    else ""
                )
            )
        other = [str(key) for key in found if key not in known]
        if other:
            raise NotARecording(
                f"{path} is no session: a session has no {storable(other[0], 80)!r} ({', '.join(known)})"
            )
        for name in ("messages", "tool_calls"):
            items = found.get(name, [])
            if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
                raise NotARecording(f"{path} is no session: its {name} are no list of objects")
        for number, message in enumerate(found.get("messages", [])):
            parts = message.get("parts")
            if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
                raise NotARecording(f"{path} is no session: messages[{number}] has no list of parts")
        return cls(**found)


Session = SessionRecord | Mapping[str, Any] | RecordedRun | str | os.PathLike[str]
"""A SessionRecord, its dict, its file, or a loaded recording."""


def session_of(source: Session) -> SessionRecord:
    """Return the session of any source.

    Raises UsageError for other values, RecordingError for unreadable ones.
    """
    if isinstance(source, SessionRecord):
        return source
    if isinstance(source, RecordedRun):
        return SessionRecord.of(source)
    if isinstance(source, Mapping):
        found = {"session_id": "", **source}
        return SessionRecord.checked(
            found, Path(storable(repr(found["session_id"]), 80) if found["session_id"] else "the session")
        )
    if isinstance(source, (str, os.PathLike)):
        return SessionRecord.load(source)
    raise UsageError(f"a {type(source).__name__} is no session: give a SessionRecord, its dict or its file")


def written(filepath: str | os.PathLike[str], value: Any) -> Path:
    """Write indented JSON, atomically; return the path.

    A missing folder is created. Raises UsageError if writing fails.
    """
    target = Path(filepath)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        private.write(target, json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n")
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None
    return target


def _conversation(recording: RecordedRun, agent: str) -> tuple[Step, ModelCall, ModelCall]:
    """Return an agent's first model step, its call, and its last answered call."""
    found: list[tuple[Step, ModelCall]] = []
    for step in recording:
        if agent and f"agent:{agent}" not in step.call.scope.split("/"):
            continue
        if found and step.call.scope != found[0][0].call.scope:
            continue
        call = reading.read(step.log, step.call)
        if call is not None:
            found.append((step, call))
    if not found:
        whose = f" of an agent {agent!r}" if agent else ""
        raise UsageError(f"recording {recording.id} holds no model call{whose}: there is no session in it")
    answered = [call for _, call in found if call.answer is not None]
    return found[0][0], found[0][1], (answered or [found[-1][1]])[-1]


def _instructions(step: Step) -> str:
    """Return the instructions that Pydantic AI sent; other libraries send a system message."""
    asked = plain(step.log.args(step.call).get("messages"))
    if isinstance(asked, list) and asked and isinstance(asked[0], dict):
        return str(asked[0].get("instructions") or "")
    return ""


def _without(parts: list[dict[str, Any]], instructions: str) -> None:
    same = {"kind": "system-prompt", "content": instructions}
    if same in parts:
        parts.remove(same)


def _provider(step: Step) -> str:
    provider = plain(step.log.args(step.call).get("provider"))
    return provider if isinstance(provider, str) else ""


def tag(session_id: str) -> str:
    """Return the tag that finds the recording of a session with an id of its own."""
    return f"{_SESSION}{session_id}"


def text(value: Any) -> str:
    """Return a value of a session on one line."""
    return " ".join(compact(value).split())
