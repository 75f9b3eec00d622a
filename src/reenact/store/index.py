"""An index of a folder of recordings: one SQLite file, made from the recordings and rebuilt whenever it is missing.

The files are the truth. Before it is asked, the index is brought up to date: each recording's files are looked at
(size and time of last change), and those that changed are read again. It has one writer at a time, behind a lock
file; where it cannot be written it is built in memory.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from reenact.errors import ReenactError
from reenact.model.facts import RecordingFacts, StepFacts, joined, lookup
from reenact.model.filter import Filter
from reenact.model.summary import Summary, summarise
from reenact.store.local import EVENTS, LocalStore, load
from reenact.store.query import FIRST, condition

fcntl: Any
try:
    fcntl = importlib.import_module("fcntl")
except ImportError:  # Windows, where SQLite's own lock must do
    fcntl = None

VERSION = 2
_BATCH = 256
_COLUMNS = {
    "recordings": "id path written broken name status started entry duration steps failed models input_tokens"
    " output_tokens cost tags problem",
    "steps": "number kind name ended scope began duration model calls input_tokens output_tokens cost error keys args"
    " output text whole",
}

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Hit:
    """A recording that a filter means, and the numbers of the steps for which it holds."""

    summary: Summary
    steps: tuple[int, ...] = ()


class Index:
    """The index of one store.

    Args:
        store: The recordings.
    """

    def __init__(self, store: LocalStore) -> None:
        self.store = store
        self._file = store.root / "index.sqlite"
        self._database: sqlite3.Connection | None = None

    # -- asking ----------------------------------------------------------------------------------------------

    def summaries(self, progress: Progress | None = None) -> list[Summary]:
        """All recordings, the last written first."""
        database = self._fresh(progress)
        columns = _COLUMNS["recordings"].split()
        rows = database.execute(f"SELECT {', '.join(columns)} FROM recordings ORDER BY written DESC, id")  # noqa: S608
        return [_summary(row) for row in rows]

    def search(
        self, wanted: Filter, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[Hit]:
        """The recordings that a filter means, the last written first."""
        heads = [line for line in self.summaries(progress) if not line.broken and wanted.head(line)]
        found = 0
        for start in range(0, len(heads), _BATCH):
            batch = heads[start : start + _BATCH]
            rows = self._rows(batch, wanted) if wanted.about_steps else {}
            for line in batch:
                steps = wanted.select(line, rows.get(line.id, []))
                if steps is None:
                    continue
                yield Hit(line, tuple(row.number for row in steps))
                found += 1
                if limit is not None and found >= limit:
                    return

    def kinds(self) -> set[str]:
        """The kinds of effects that there are."""
        return {str(kind) for (kind,) in self._fresh().execute("SELECT DISTINCT kind FROM steps")}

    def known(self) -> list[tuple[str, str]]:
        """Ids and names as far as they are indexed, for a shell that completes a word and cannot wait."""
        with contextlib.suppress(sqlite3.Error, OSError):
            rows = (
                self._open()
                .execute("SELECT id, name FROM recordings ORDER BY written DESC LIMIT 500")
                .fetchall()
            )
            if rows:
                return [(str(id), str(name)) for id, name in rows]
        return [(id, "") for id in self.store.ids()[:500]]

    def close(self) -> None:
        """Close the file. Harmless when closed."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _rows(self, batch: list[Summary], wanted: Filter) -> dict[str, list[_Row]]:
        where, values = condition(wanted.candidates) or ("1", [])
        columns = _COLUMNS["steps"].split()
        marks = ", ".join("?" * len(batch))
        query = f"SELECT recording, {', '.join(columns)} FROM steps WHERE recording IN ({marks}) AND {where}"  # noqa: S608
        lines = {line.id: line for line in batch}
        found: dict[str, list[_Row]] = {}
        opened: dict[str, list[StepFacts]] = {}
        for row in self._open().execute(query + " ORDER BY recording, number", [*lines, *values]):
            found.setdefault(row[0], []).append(
                _Row(lines[row[0]], dict(zip(columns, row[1:], strict=True)), opened)
            )
        return found

    # -- keeping up ------------------------------------------------------------------------------------------

    def refresh(self, progress: Progress | None = None) -> int:
        """Read again what changed; returns how many recordings that were."""
        database = self._open()
        known = {row[0]: row[1] for row in database.execute("SELECT folder, signature FROM recordings")}
        changed: list[tuple[str, str, int]] = []
        there = set()
        for folder, path in self._folders():
            there.add(folder)
            signature = _signature(path, known.get(folder, ""))
            if signature is not None and signature[0] != known.get(folder):
                changed.append((folder, *signature))
        gone = known.keys() - there
        if not changed and not gone:
            return 0
        with self._writing() as writable:
            for folder in gone:
                _delete(writable, folder)
            for number, (folder, signature_now, written) in enumerate(changed):
                if progress is not None:
                    progress(number, len(changed))
                self._read(writable, folder, signature_now, written)
                if number % _BATCH == _BATCH - 1:
                    writable.commit()
        if progress is not None:
            progress(len(changed), len(changed))
        return len(changed) + len(gone)

    def _folders(self) -> list[tuple[str, str]]:
        try:
            with os.scandir(self.store.recordings) as entries:
                return [(entry.name, entry.path) for entry in entries]
        except FileNotFoundError:
            return []

    def _read(self, database: sqlite3.Connection, folder: str, signature: str, written: int) -> None:
        path = self.store.folder(folder)
        try:
            line, steps = summarise(RecordingFacts(load(path)), path=str(path), written=written)
        except Exception as error:
            # A folder that cannot be read is listed as such; it must not keep the others from being listed.
            text = str(error) if isinstance(error, ReenactError) else f"{type(error).__name__}: {error}"
            line, steps = Summary(id=folder, path=str(path), written=written, broken=text), []
        _delete(database, folder)
        values = [_packed(getattr(line, name)) for name in _COLUMNS["recordings"].split()]
        # The folder's name is what commands take, also where somebody renamed it or copied a recording.
        values[0] = folder
        marks = ", ".join("?" * (len(values) + 2))
        database.execute(f"INSERT INTO recordings VALUES ({marks})", [folder, signature, *values])  # noqa: S608
        names = _COLUMNS["steps"].split()
        rows = [[folder, *(_packed(getattr(step, name)) for name in names)] for step in steps]
        marks = ", ".join("?" * (len(names) + 1))
        database.executemany(f"INSERT INTO steps VALUES ({marks})", rows)  # noqa: S608

    def _fresh(self, progress: Progress | None = None) -> sqlite3.Connection:
        try:
            self.refresh(progress)
        except sqlite3.DatabaseError:
            # Damaged, or it cannot be written (a read-only folder, a full disk): without it, in memory.
            self.close()
            with contextlib.suppress(OSError):
                self._file.unlink(missing_ok=True)
            self._database = _created(sqlite3.connect(":memory:"))
            self.refresh(progress)
        return self._open()

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = self._connect()
        return self._database

    def _connect(self) -> sqlite3.Connection:
        if not self.store.root.is_dir():
            return _created(sqlite3.connect(":memory:"))
        try:
            database = sqlite3.connect(self._file, timeout=20)
            if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                database.close()
                self._file.unlink(missing_ok=True)
                database = _created(sqlite3.connect(self._file, timeout=20))
                self._file.chmod(0o600)
        except (sqlite3.Error, OSError):
            return _created(sqlite3.connect(":memory:"))
        return database

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The database with the lock held: SQLite of some versions is hurt by two writers at once."""
        database = self._open()
        with _locked(self.store.root / "index.lock"), database:
            yield database


class _Row:
    """A step's row, for a filter. What the row leaves out is looked up in the recording."""

    __slots__ = ("_line", "_opened", "_row")

    def __init__(self, line: Summary, row: dict[str, Any], opened: dict[str, list[StepFacts]]) -> None:
        self._line = line
        self._row = row
        self._opened = opened

    @property
    def number(self) -> int:
        return int(self._row["number"])

    def get(self, field: str) -> Any:
        row = self._row
        root, _, path = field.partition(".")
        if root in ("args", "output"):
            if row[root] is None:
                first = FIRST.match(path)
                if root == "args" and first is not None and first[0] not in orjson.loads(row["keys"]):
                    return None
                return self._whole().get(field)
            return lookup(orjson.loads(row[root]), path) if path else row[root]
        if field == "text":
            if not row["whole"]:
                return self._whole().get("text")
            return row["text"] if row["text"] is not None else self._joined()
        if field == "label":
            label = f"{row['kind']}:{row['name']}"
            return label if row["model"] is None else [label, f"model:{row['model']}"]
        if field == "tokens":
            return None if row["input_tokens"] is None else row["input_tokens"] + row["output_tokens"]
        if field == "calls":
            return orjson.loads(row["calls"])
        if field in ("id", "name", "tag", "status"):
            return self._line.get(field)
        return row["number"] if field == "step" else row.get(field)

    def _joined(self) -> str:
        return joined(
            orjson.loads(self._row["args"]), orjson.loads(self._row["output"]), self._row["error"] or ""
        )

    def _whole(self) -> StepFacts:
        steps = self._opened.get(self._line.id)
        if steps is None:
            # One recording at a time: rows come in their order.
            self._opened.clear()
            steps = self._opened[self._line.id] = RecordingFacts(load(Path(self._line.path))).steps
        return steps[self.number - 1]


def _signature(path: str, known: str) -> tuple[str, int] | None:
    """The state of a recording's files, and when its first one was last written; None for a folder that is none."""
    try:
        state = os.stat(f"{path}{os.sep}{EVENTS}")  # noqa: PTH116 - a Path each costs more than the look
        folder = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    parts = known.split("|")
    if parts[0] == str(folder.st_mtime_ns):
        others = [part.partition("=")[0] for part in parts[2:]]
    else:
        names = os.listdir(path)  # noqa: PTH208
        others = sorted(
            name
            for name in names
            if name.startswith("events.") and name.endswith(".jsonl") and name != EVENTS
        )
    marks = [str(folder.st_mtime_ns), _mark(state)]
    with contextlib.suppress(OSError):
        marks += [f"{name}={_mark(Path(path, name).stat())}" for name in others]
    return "|".join(marks), state.st_mtime_ns


def _mark(state: os.stat_result) -> str:
    return f"{state.st_mtime_ns}:{state.st_size}"


@contextmanager
def _locked(path: os.PathLike[str]) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _created(database: sqlite3.Connection) -> sqlite3.Connection:
    recordings, steps = (_COLUMNS[table].replace(" ", ", ") for table in ("recordings", "steps"))
    database.executescript(
        f"""
        CREATE TABLE recordings (folder TEXT PRIMARY KEY, signature, {recordings}) WITHOUT ROWID;
        CREATE TABLE steps (recording TEXT, {steps}, PRIMARY KEY (recording, number)) WITHOUT ROWID;
        PRAGMA user_version = {VERSION};
        """
    )
    return database


def _delete(database: sqlite3.Connection, folder: str) -> None:
    database.execute("DELETE FROM recordings WHERE folder = ?", [folder])
    database.execute("DELETE FROM steps WHERE recording = ?", [folder])


def _packed(value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, tuple) else value


def _summary(row: tuple[Any, ...]) -> Summary:
    fields = dict(zip(_COLUMNS["recordings"].split(), row, strict=True))
    fields["models"], fields["tags"] = (tuple(orjson.loads(fields[name])) for name in ("models", "tags"))
    return Summary(**fields)
