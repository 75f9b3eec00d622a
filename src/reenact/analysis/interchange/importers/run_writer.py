"""Write a run that another program recorded as a recording."""

from __future__ import annotations

import heapq
import os
import secrets
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.run import (
    Happened,
    ImportedError,
    ImportedFiles,
    ImportedRun,
    Seen,
    Stretch,
)
from reenact.core import private
from reenact.core.boundary import Run as Scopes
from reenact.core.boundary import Scope, Ticket
from reenact.core.boundary.turnstile import RecordingTurnstile
from reenact.core.files.keeping import FileKeeper, Keeping
from reenact.core.files.trees import UNKNOWN
from reenact.core.model import codec
from reenact.core.model.event import FORMAT, RULES, Effect, Failure, Tree, Value
from reenact.core.model.storable import name_of, storable, tags_of
from reenact.core.record.file_events import FileEvents
from reenact.core.record.recorder import Recorder
from reenact.core.redact import DEFAULT_RULES, Redactor
from reenact.core.store.bundle import adopt
from reenact.core.store.local import EVENTS, LocalStore, new_id
from reenact.core.store.writer import Writer

REPEATED = 2_000_000
"""The maximum number of messages in the histories of a run's model calls together.

It grows with the square of the calls.
"""


class _Recorder(Recorder):
    """Writes the events of the imported run, at its own times."""

    at = 0.0

    def _seconds(self) -> float:
        return self.at

    def write_event(self, event: dict[str, Tree]) -> None:
        """Write an event at its own time."""
        self._writer.append(codec.dumps({**event, "t": self.at}))

    def clean(self, data: bytes) -> bytes:
        """Return bytes without their secrets."""
        return self._redactor.raw(data)


def keep(store: LocalStore, run: ImportedRun, *, id: str = "", files: ImportedFiles | None = None) -> str:
    """Write an imported run to the store as a recording of its own; returns its id.

    It appears whole or not at all, and is redacted as any other. With an `id`, it replaces the recording of that id, if
    there is one: an earlier state of a growing trace.
    """
    replaced = store.folder(id) if id else None
    id = id or new_id()
    private.folder(store.root)
    fresh = store.root / f"incoming-{id}"
    try:
        _write(fresh, id, run, files)
        if replaced is not None and replaced.exists():
            old = store.root / f"incoming-{new_id()}"
            replaced.rename(old)
            fresh.rename(replaced)
            shutil.rmtree(old, ignore_errors=True)
            return id
        return adopt(store, fresh, Path(str(run.source.get("file", ""))))
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _write(folder: Path, id: str, run: ImportedRun, files: ImportedFiles | None) -> None:
    salt = secrets.token_bytes(16)
    writer = Writer(folder / EVENTS)
    recorder = _Recorder(writer, Redactor(DEFAULT_RULES, salt=salt, environ=dict(os.environ)))
    effects = list(run.effects)
    first = next((effect.began for effect in effects if effect.began is not None), None)
    started = first or datetime.now(UTC)
    recorder.open(
        {
            "format": FORMAT,
            "rules": RULES,
            "id": id,
            "name": name_of(run.name),
            "tags": list(tags_of(map(storable, run.tags))[0]),
            "started": started.isoformat(timespec="milliseconds"),
            "entry": "imported",
            "process": "main",
            "program": None,
            "adapters": [],
            "salt": salt.hex(),
            "source": recorder.encode(run.source),
        }
    )
    kept = None if files is None else _FilesToWrite(files, recorder, writer, salt)
    told = _EffectWriter(recorder, started, kept)
    told.all(effects, overlapping=run.overlapping)
    for note in (*run.notes, *told.notes(), *(() if files is None else (files.note,))):
        recorder.note("imported", note)
    ending: dict[str, Any] = {"status": run.status}
    if run.output is not None:
        ending["output"] = recorder.encode(run.output)
    if run.problem:
        ending["error"] = codec.encode_error(ImportedError(run.problem), codec.Encoder())
    recorder.seal(ending)


class _FilesToWrite:
    """Writes the files of a session between its effects."""

    def __init__(self, files: ImportedFiles, recorder: _Recorder, writer: Writer, salt: bytes) -> None:
        self._files, self._salt = files, salt
        self._keeper = FileKeeper(Keeping(writer.blob, recorder.clean, salt, recorder.note))
        self._events = FileEvents(
            self._keeper, recorder.write_event, lambda: recorder.snapshots.last or None, recorder.seconds
        )

    def before(self) -> None:
        self._events.write("first", self._files.before(self._keeper, self._salt))

    def around(self, happened: Happened, ticket: Ticket | None) -> None:
        """Write the changes before an effect, or with its `ticket` after it."""
        for how, states in self._files.around(happened, self._keeper, self._salt, after=ticket is not None):
            within = UNKNOWN if ticket is None or how != "change" else ticket.call
            self._events.write(how, states, within=within)


class _EffectWriter:
    """Passes effects to a recorder, each in its scope and at its time."""

    def __init__(self, recorder: _Recorder, started: datetime, files: _FilesToWrite | None) -> None:
        self._recorder = recorder
        self._files = files
        self._started = started
        self._root = Scopes(recorder, RecordingTurnstile(), replaying=False).root
        self._agents = {"": self._root}
        self._scopes: dict[int, Scope] = {}
        self._tickets: dict[int, Ticket] = {}
        self._repeated = self._shortened = 0
        self._shown: dict[int, int] = {}

    def notes(self) -> Iterator[str]:
        """Yield a note if histories were shortened."""
        if self._shortened:
            yield (
                f"{self._shortened} model calls hold only the messages since the call before them: the whole "
                f"histories of this run have more than {REPEATED:,} messages"
            )

    def all(self, effects: list[Happened], *, overlapping: bool) -> None:
        if self._files is not None:
            self._files.before()
        order = _by_time(effects) if overlapping else _one_by_one(effects)
        for happened, asked in order:
            if asked:
                self._ask(happened)
            else:
                self._answer(happened)

    def _ask(self, happened: Happened) -> None:
        recorder = self._recorder
        scope = self._scope(happened)
        effect = Effect(happened.kind, happened.name, self._args(happened))
        recorder.at = _seconds(happened.began, self._started, recorder.at)
        if self._files is not None:
            self._files.around(happened, None)
        ordinal = scope.count(effect.label)
        ticket = recorder.question(effect, scope, ordinal)
        self._tickets[id(happened)] = ticket
        address = f"{scope.path}/{effect.label}#{ordinal}"
        self._scopes[id(happened)] = scope.inside(address, call=ticket.call, hidden=False)

    def _args(self, happened: Happened) -> dict[str, Any]:
        """Return the arguments of a call, with the messages that it saw as a list."""
        seen = happened.args.get("messages")
        if not isinstance(seen, Seen):
            return happened.args
        shown = self._shown.get(id(seen.messages), 0)
        self._shown[id(seen.messages)] = len(seen)
        self._repeated += len(seen)
        if self._repeated <= REPEATED:
            shown = 0
        else:
            self._shortened += 1
        return {**happened.args, "messages": seen.messages[shown : len(seen)]}

    def _answer(self, happened: Happened) -> None:
        self._recorder.at = _seconds(happened.ended, self._started, self._recorder.at)
        ticket = self._tickets[id(happened)]
        _leave(self._recorder, ticket, happened)
        if self._files is not None:
            self._files.around(happened, ticket)

    def _scope(self, happened: Happened) -> Scope:
        if happened.within is not None:
            return self._inside(happened.within)
        if happened.agent not in self._agents:
            self._agents[happened.agent] = self._root.span(happened.agent)
        return self._agents[happened.agent]

    def _inside(self, outer: Stretch | Happened) -> Scope:
        known = self._scopes.get(id(outer))
        if known is None:
            parent = self._root if outer.within is None else self._inside(outer.within)
            known = self._scopes[id(outer)] = parent.span(outer.name)
        return known


def _one_by_one(effects: list[Happened]) -> Iterator[tuple[Happened, bool]]:
    for happened in effects:
        yield happened, True
        yield happened, False


def _by_time(effects: list[Happened]) -> Iterator[tuple[Happened, bool]]:
    """Return the starts (true) and ends (false) of effects by time; inner effects end first."""
    ends = _ends(effects)
    waiting: list[tuple[datetime, int, int, Happened]] = []
    for place, happened in enumerate(effects):
        if happened.began is not None:
            around = {id(outer) for outer in _around(happened)}
            held = []
            while waiting and waiting[0][0] <= happened.began:
                done = heapq.heappop(waiting)
                if id(done[3]) in around:
                    held.append(done)
                else:
                    yield done[3], False
            for outer in held:
                heapq.heappush(waiting, outer)
        heapq.heappush(waiting, (*ends[id(happened)], place, happened))
        yield happened, True
    while waiting:
        yield heapq.heappop(waiting)[3], False


def _ends(effects: list[Happened]) -> dict[int, tuple[datetime, int]]:
    """Return the end of each effect, not before the ends of effects inside it."""
    last = datetime.min.replace(tzinfo=UTC)
    found: dict[int, tuple[datetime, int]] = {}
    for happened in effects:
        last = happened.ended or happened.began or last
        found[id(happened)] = (last, -sum(1 for _ in _around(happened)))
    for happened in reversed(effects):
        for outer in _around(happened):
            if id(outer) in found:
                found[id(outer)] = (max(found[id(outer)][0], found[id(happened)][0]), found[id(outer)][1])
    return found


def _around(happened: Happened) -> Iterator[Stretch | Happened]:
    outer = happened.within
    while outer is not None:
        yield outer
        outer = outer.within


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
    # Clocks of logs may run backwards; a recording's do not.
    return before if moment is None else max(before, (moment - started).total_seconds())
