"""Store received spans on disk, and make a recording of each complete trace.

No message marks the end of a trace. It counts as complete when its outermost span has come (spans are sent when they
end) and no other span has come for a while; without an outermost span, after a longer time. While the collector runs,
later spans replace the recording, under the same id.

Until then, the spans of a trace are in a file in the store, one on each line, without their secrets. So a collector
that is killed loses none, and the next one resumes with the file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import TypeAlias

import orjson

from reenact.analysis.interchange.importers.otel import runs
from reenact.analysis.interchange.importers.otel.span import Span
from reenact.analysis.interchange.importers.run import ImportedRun
from reenact.analysis.interchange.importers.run_writer import keep
from reenact.core import private
from reenact.core.redact import DEFAULT_RULES, Redactor
from reenact.core.store.deleted import Tombstones
from reenact.core.store.intake import synced
from reenact.core.store.local import LocalStore
from reenact.server.traces import span_lines

_ID = re.compile(r"[0-9a-f]{1,64}")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
QUIET = 2.0
PATIENCE = 60.0
LATE = 600.0
FOLDER = "traces"
"""The folder in a home with the spans that are not recordings yet."""

_AT_ONCE = 16

LARGEST = 64 << 20
"""Bytes of the spans of one trace; later ones are left out."""

_MOST_SPANS = 500_000
"""Spans of all traces under way, which are known in memory; above it, no more are accepted."""

_PAUSE = 5
"""The pause before a trace is recorded again, in times of the last recording's duration."""

_TOO_LARGE = (
    f"spans are missing: the trace has more than {LARGEST >> 20} MB, and its later spans were left out"
)

_UNRECORDED = 64 << 20
"""Bytes of the spans, of all traces that cannot be recorded, that are kept."""

_Key: TypeAlias = tuple[str, int, int, str, str]


@dataclass(frozen=True, slots=True)
class KeptTrace:
    """A trace of which a recording was made or replaced."""

    id: str
    name: str
    steps: int
    again: bool


@dataclass(slots=True)
class _Trace:
    """An incomplete trace. Times are seconds of the caller's clock."""

    last: float
    whole: bool = False
    spans: int = 0
    kept: int = 0
    recorded: bool = False
    failed: bool = False
    told: str = ""
    size: int = 0
    full: bool = False
    took: float = 0.0
    seen: set[_Key] = field(default_factory=set)


@dataclass(slots=True)
class Counts:
    """The counts for the summary."""

    spans: int = 0
    recordings: int = 0
    strange: int = 0
    late: int = 0


class Traces:
    """Collects spans by their traces, and makes recordings of them.

    Args:
        store: The store of the recordings.
        quiet: Seconds after its last span after which a trace with an outermost span is complete.
        patience: The same for a trace without an outermost span.
        tags: Further tags for the recordings.
        now: The current time, by the clock of the calls.

    All methods may be called from any thread.
    """

    def __init__(
        self,
        store: LocalStore,
        *,
        quiet: float = QUIET,
        patience: float = PATIENCE,
        tags: Iterable[str] = (),
        now: float = 0.0,
    ) -> None:
        self._store = store
        self.folder = store.root / FOLDER
        """The folder of spans that are not recordings yet."""
        self._quiet = quiet
        self._patience = max(patience, quiet)
        self._tags = tuple(tags)
        self._lock = threading.Lock()
        self._traces: dict[str, _Trace] = {}
        self._spans = 0
        self._redactor = Redactor(DEFAULT_RULES, salt=secrets.token_bytes(16), environ=dict(os.environ))
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="reenact-sync")
        self.counts = Counts()
        self._resume(now)

    def take(self, spans: Iterable[Span], now: float) -> int:
        """Store spans on the disk.

        Raises OSError if that fails, or if too many spans wait for their recordings. Returns the number of left out
        spans: an earlier collector recorded their traces, or these are too large.
        """
        sorted_out: dict[str, list[Span]] = {}
        for span in spans:
            sorted_out.setdefault(_file_name(span.trace), []).append(span)
        left_out = 0
        for trace, each in sorted_out.items():
            # One trace at a time, so that other requests are not blocked.
            with self._lock:
                left_out += self._take(trace, each, now)
        # Without the lock, so that other requests are not blocked.
        self._sync([self.folder, *map(self._file, sorted_out)])
        return left_out

    def _sync(self, paths: list[Path]) -> None:
        shares = [paths[at::_AT_ONCE] for at in range(min(_AT_ONCE, len(paths)))]
        if len(shares) > 2:
            list(self._pool.map(synced, shares))
        else:
            synced(paths)

    def settle(
        self, now: float, *, all: bool = False, failed: Callable[[str], None] | None = None
    ) -> list[KeptTrace]:
        """Make recordings of complete traces.

        Args:
            now: The time.
            all: Make recordings of all traces, and remove their files, at the end.
            failed: Called with a message for a trace that cannot be recorded. Its file stays for the next start; of
                many such files, the oldest are deleted, with a message.
        """
        found = []
        say = failed or (lambda _text: None)
        more = False
        with self._lock:
            known = list(self._traces)
        for trace in known:
            # Lock for one trace at a time, so that requests do not wait for all of them.
            with self._lock:
                try:
                    found += self._settle(trace, now, all=all)
                except Exception as error:
                    why, known_as = f"{type(error).__name__}: {error}", self._traces[trace]
                    more |= known_as.kept == known_as.spans
                    if all:
                        self._forget(trace)
                    if why != known_as.told:
                        say(f"trace {trace} could not be recorded ({why}); its spans: {self._file(trace)}")
                    known_as.told = why
        if more:
            self._bound(say)
        if all and self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()
        return found

    def _settle(self, trace: str, now: float, *, all: bool) -> list[KeptTrace]:
        under_way = self._traces[trace]
        idle = now - under_way.last
        kept = None
        pause = max(self._quiet if under_way.whole else self._patience, _PAUSE * under_way.took)
        whole = idle >= pause
        if under_way.spans > under_way.kept and (all or whole):
            kept = self._record(trace, under_way)
        many = self._spans > _MOST_SPANS // 2
        if under_way.spans == under_way.kept and (all or many or idle >= LATE):
            if not under_way.failed:
                self._file(trace).unlink(missing_ok=True)
            self._forget(trace)
        return [kept] if kept is not None else []

    def _bound(self, say: Callable[[str], None]) -> None:
        """Delete the oldest files of traces that cannot be recorded, above the limit."""
        with self._lock:
            waiting = {trace for trace, each in self._traces.items() if not (each.failed and each.kept)}
            files = [(file.stat(), file) for file in self.folder.glob("*.jsonl") if file.stem not in waiting]
            files.sort(key=lambda found: (found[0].st_mtime_ns, found[1].name), reverse=True)
            size, dropped = 0, []
            for stat, file in files:
                size += stat.st_size
                if size > _UNRECORDED:
                    file.unlink(missing_ok=True)
                    self._forget(file.stem)
                    dropped.append(file.stem)
        if dropped:
            others = f" and {len(dropped) - 1} others" if dropped[1:] else ""
            say(
                f"trace {dropped[-1]}{others} could not be recorded, and the spans of such traces took more than "
                f"{_UNRECORDED >> 20} MB: deleted"
            )

    @property
    def waiting(self) -> int:
        """The number of traces that wait for a recording."""
        with self._lock:
            return sum(1 for trace in self._traces.values() if trace.spans > trace.kept)

    def expected(self, spans: Iterable[Span]) -> tuple[int, int]:
        """Return the bytes of traces under way, and the number of recordings to come.

        Those are of these traces and of the given spans.
        """
        with self._lock:
            known = self._traces.values()
            size, fresh = sum(one.size for one in known), sum(not one.recorded for one in known)
            new = {_file_name(span.trace) for span in spans} - self._traces.keys()
        return size, fresh + len(new)

    # -- within ----------------------------------------------------------------------------------------------

    def _take(self, trace: str, spans: list[Span], now: float) -> int:
        self.counts.spans += sum(not span.loose for span in spans)
        under_way = self._traces.get(trace)
        if Tombstones(self._store.root).get(_recording_id(trace)) is not None:
            # Its recording was deleted, and a late span must not bring it back.
            self.counts.late += len(spans)
            return len(spans)
        if under_way is None and self._store.folder(_recording_id(trace)).exists():
            # An earlier collector recorded it, so its other spans are not here any more.
            self.counts.late += len(spans)
            return len(spans)
        seen = under_way.seen if under_way is not None else set()
        # Spans may come twice: a sender without an answer repeats them, and some are sent at their start, too.
        spans = list({key: span for span in spans if (key := _key(span)) not in seen}.values())
        if not spans:
            return 0
        if self._spans + len(spans) > _MOST_SPANS:
            raise OSError(errno.EAGAIN, "too many spans wait for the ends of their traces")
        if under_way is None:
            under_way = _Trace(now)
        taken = self._append(trace, under_way, spans)
        self._traces[trace] = under_way
        under_way.seen.update(map(_key, taken))
        self._spans += len(taken)
        under_way.last = now
        under_way.spans += len(taken)
        under_way.whole = under_way.whole or any(not span.parent and not span.loose for span in taken)
        return len(spans) - len(taken)

    def _append(self, trace: str, under_way: _Trace, spans: list[Span]) -> list[Span]:
        """Write spans to the file of their trace, up to its largest size; return the written ones."""
        if under_way.full:
            return []
        private.folder(self.folder)
        lines: list[bytes] = []
        size = under_way.size
        for span in spans:
            line = (
                self._redactor.line(orjson.dumps(span, default=str, option=orjson.OPT_NON_STR_KEYS)) + b"\n"
            )
            size += len(line)
            if size > LARGEST:
                break
            lines.append(line)
        taken = spans[: len(lines)]
        full = len(taken) < len(spans)
        span_lines.add(self._file(trace), b"".join([*lines, span_lines.LEFT_OUT] if full else lines))
        under_way.size, under_way.full = size, full
        return taken

    def _forget(self, trace: str) -> None:
        known = self._traces.pop(trace, None)
        self._spans -= len(known.seen) if known is not None else 0

    def _record(self, trace: str, under_way: _Trace) -> KeptTrace | None:
        under_way.kept, under_way.failed = under_way.spans, True
        began = monotonic()
        try:
            kept = self._made(trace, under_way)
        finally:
            under_way.took = monotonic() - began
        under_way.failed = False
        return kept

    def _made(self, trace: str, under_way: _Trace) -> KeptTrace | None:
        spans = list(runs.traces(span_lines.read(self._file(trace))).values())
        if not spans or not runs.tells(spans[0]):
            self.counts.strange += 0 if under_way.recorded else 1
            under_way.recorded = True
            return None
        if Tombstones(self._store.root).get(_recording_id(trace)) is not None:
            return None
        made = runs.run(spans[0], source={"format": "otel", "collected": True})
        notes = (*made.notes, *([_TOO_LARGE] if under_way.full else []))
        tags = tuple(dict.fromkeys((*made.tags, *self._tags)))
        run: ImportedRun = replace(made, tags=tags, notes=notes)
        try:
            id = keep(self._store, run, id=_recording_id(trace))
        except Exception:
            under_way.kept = 0
            raise
        again, under_way.recorded = under_way.recorded, True
        self.counts.recordings += 0 if again else 1
        return KeptTrace(id, run.name, len(list(run.effects)), again)

    def _resume(self, now: float) -> None:
        """Resume with the files of a collector that ended without making their recordings."""
        for file in sorted(self.folder.glob("*.jsonl")) if self.folder.is_dir() else ():
            # A home may come from elsewhere, with any file.
            with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
                if file.is_file() and not file.is_symlink() and file.stat().st_size < 2 * LARGEST:
                    known = self._traces[file.stem] = _resumed(file, now)
                    self._spans += len(known.seen)

    def _file(self, trace: str) -> Path:
        return self.folder / f"{trace}.jsonl"


def _resumed(file: Path, now: float) -> _Trace:
    spans = span_lines.read(file)
    return _Trace(
        now,
        whole=any(not span.parent and not span.loose for span in spans),
        spans=len(spans),
        seen=set(map(_key, spans)),
        size=file.stat().st_size,
        full=span_lines.ends_early(file),
    )


def _key(span: Span) -> _Key:
    """Return the identity of a span, or of a separate event, within its trace.

    Other spans may have its id. Its attributes do not count: in the file, secrets in them are replaced.
    """
    return (span.id, span.began, span.ended, span.parent, repr(span.events) if span.loose else "")


def _file_name(trace: str) -> str:
    """Return a trace's id in a form for file names."""
    return trace if _ID.fullmatch(trace) else hashlib.sha256(trace.encode()).hexdigest()[:32]


def _recording_id(trace: str) -> str:
    """Return the id of a trace's recording, which depends only on the trace."""
    number = int.from_bytes(hashlib.sha256(f"reenact trace {trace}".encode()).digest()[:8], "big")
    letters = []
    for _ in range(10):
        number, place = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[place])
    return "".join(letters)
