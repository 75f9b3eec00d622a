"""A run that somebody else recorded, on its way to becoming one of ours."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reenact.boundary import Run as Scopes
from reenact.boundary import Ticket
from reenact.boundary.turnstile import RecordingTurnstile
from reenact.model import codec
from reenact.model.event import FORMAT, RULES, Effect, Failure, Value
from reenact.record.recorder import Recorder
from reenact.redact import DEFAULT_RULES, Redactor
from reenact.store.bundle import adopt
from reenact.store.local import EVENTS, LocalStore, new_id
from reenact.store.writer import Writer


@dataclass(frozen=True, slots=True)
class Happened:
    """One effect of an imported run, with its outcome.

    Attributes:
        kind: `model` or `tool`, or `user` where a person answered last.
        name: The model's, the tool's, or the agent's name.
        args: What was asked.
        value: What came, if `error` is None.
        error: The error's text, if it failed.
        agent: Which of several agents asked; it becomes the scope.
        began: When it was asked, where that is known, and `ended` when the answer came.
        pieces: Of an answer that came as a stream, its chunks; `value` is then what came before them. None for others.
    """

    kind: str
    name: str
    args: dict[str, Any]
    value: Any = None
    error: str | None = None
    agent: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    pieces: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One run as an importer reads it.

    Attributes:
        name: What lists show.
        effects: What happened, in order.
        tags: Words to find it by.
        status: `ok` or `error`.
        problem: What went wrong, where the source says so.
        output: What the run gave in the end, or None.
        source: What the source says besides: task, reward, labels. Kept in the header.
        notes: What a careful reader must know: where the source kept less than a recording does.
    """

    name: str
    effects: Iterable[Happened]
    tags: tuple[str, ...] = ()
    status: str = "ok"
    problem: str = ""
    output: Any = None
    source: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class ImportedError(Exception):
    """An error that an imported run tells of; only its text is known."""


class _Recorder(Recorder):
    """Writes what happened then, at the times of then."""

    at = 0.0

    def _seconds(self) -> float:
        return self.at


def keep(store: LocalStore, run: ImportedRun) -> str:
    """Write an imported run to the store as a recording of its own; returns its id.

    It appears whole or not at all, and passes the same redaction as any other.
    """
    id = new_id()
    store.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = store.root / f"incoming-{id}"
    try:
        _write(fresh, id, run)
        return adopt(store, fresh, Path(str(run.source.get("file", ""))))
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _write(folder: Path, id: str, run: ImportedRun) -> None:
    salt = secrets.token_bytes(16)
    recorder = _Recorder(
        Writer(folder / EVENTS), Redactor(DEFAULT_RULES, salt=salt, environ=dict(os.environ))
    )
    effects = list(run.effects)
    first = next((effect.began for effect in effects if effect.began is not None), None)
    started = first or datetime.now(UTC)
    recorder.open(
        {
            "format": FORMAT,
            "rules": RULES,
            "id": id,
            "name": run.name,
            "tags": list(run.tags),
            "started": started.isoformat(timespec="milliseconds"),
            "entry": "imported",
            "process": "main",
            "program": None,
            "adapters": [],
            "salt": salt.hex(),
            "source": recorder.encode(run.source),
        }
    )
    root = Scopes(recorder, RecordingTurnstile(), replaying=False).root
    scopes = {"": root}
    for happened in effects:
        if happened.agent not in scopes:
            scopes[happened.agent] = root.span(happened.agent)
        scope = scopes[happened.agent]
        effect = Effect(happened.kind, happened.name, happened.args)
        recorder.at = _seconds(happened.began, started, recorder.at)
        ticket = recorder.enter(effect, scope, scope.count(effect.label))
        recorder.at = _seconds(happened.ended, started, recorder.at)
        _leave(recorder, ticket, happened)
    for note in run.notes:
        recorder.note("imported", note)
    ending: dict[str, Any] = {"status": run.status}
    if run.output is not None:
        ending["output"] = recorder.encode(run.output)
    if run.problem:
        ending["error"] = codec.encode_error(ImportedError(run.problem), codec.Encoder())
    recorder.seal(ending)


def _leave(recorder: Recorder, ticket: Ticket, happened: Happened) -> None:
    if happened.error is not None:
        recorder.leave(ticket, Failure(ImportedError(happened.error)))
        return
    recorder.leave(ticket, Value(happened.value, stream=happened.pieces is not None))
    if happened.pieces is not None:
        for piece in happened.pieces:
            recorder.chunk(ticket, piece)
        recorder.end(ticket, "ended")


def _seconds(moment: datetime | None, started: datetime, before: float) -> float:
    # Clocks of old logs run backwards now and then; a recording's do not.
    return before if moment is None else max(before, (moment - started).total_seconds())
