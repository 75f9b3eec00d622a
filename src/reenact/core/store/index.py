"""An index of a folder of recordings: one SQLite file, rebuilt if missing.

The files are the truth. Before a query, the index is brought up to date: it compares each recording's files (size
and time of last change), and reads those that changed again. It has one writer at a time, behind a lock file; if it
cannot be written it is built in memory.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from time import monotonic, sleep

from reenact.core.query.filter import Filter
from reenact.core.query.summary import Summary
from reenact.core.store.base import Hit, Listed, Progress
from reenact.core.store.details import facts_in
from reenact.core.store.index_search import NEWEST_FIRST, IndexSearch, lines_of
from reenact.core.store.local import LocalStore, nameable
from reenact.core.store.lock import locked
from reenact.core.store.signature import IndexedRecording, Stale, signature_of
from reenact.core.store.summarised import STEP, Summarised, summarised, unsummarised
from reenact.core.store.tables import (
    RECORDING,
    VERSION,
    Columns,
    Words,
    cell,
    created,
    delete,
    line_of,
    place_of,
    savepoint,
)
from reenact.core.trust import Identity

_BATCH = 256
_OFTEN = 20_000  # instructions of SQLite between two checks if it must stop
_STAMPS = ("user_version", "application_id")


class Index:
    """The index of one store.

    Args:
        store: The recordings.
        summarise: Reads one of them; by default `summarised`.
    """

    def __init__(
        self, store: LocalStore, summarise: Callable[[Path, int, Path], Summarised] = summarised
    ) -> None:
        self.store = store
        self._summarise = summarise
        self._file = store.root / "index.sqlite"
        self._database: sqlite3.Connection | None = None

    # -- asking ----------------------------------------------------------------------------------------------

    def summaries(self, progress: Progress | None = None) -> list[Summary]:
        """Return all recordings, newest first."""
        return [line for _, line in lines_of(self._fresh(progress))]

    def known_lines(self, limit: int = -1) -> list[IndexedRecording]:
        """Return the indexed recordings, the latest first, without a look at the files."""
        with contextlib.suppress(sqlite3.Error), self._writing() as writable:
            writable.execute(
                "CREATE INDEX IF NOT EXISTS newest ON recordings (moment DESC, written DESC, id)"
            )
        rows = self._open().execute(
            f"SELECT key, folder, signature, {', '.join(RECORDING)} FROM recordings"  # noqa: S608
            " ORDER BY moment DESC, written DESC, id LIMIT ?",
            [limit],
        )
        found = []
        while batch := rows.fetchmany(_BATCH):
            found += [
                IndexedRecording(key, folder, signature, line_of(row))
                for key, folder, signature, *row in batch
            ]
            # A thread that answers another request gets its turn.
            sleep(0)
        return found

    def known_line(self, folder: str) -> IndexedRecording | None:
        """Return one indexed recording, or None."""
        row = (
            self._open()
            .execute(
                f"SELECT key, folder, signature, {', '.join(RECORDING)} FROM recordings WHERE folder = ?",  # noqa: S608
                [folder],
            )
            .fetchone()
        )
        return IndexedRecording(row[0], row[1], row[2], line_of(list(row[3:]))) if row is not None else None

    def among(self, lines: Iterator[tuple[int, Summary]], wanted: Filter) -> Iterator[Hit]:
        """Return the lines, given with their keys, that a filter matches. Reads no files."""
        meant = ((key, line) for key, line in lines if not line.broken)
        if not wanted.about_steps:
            return (Hit(line) for _, line in meant)
        return IndexSearch(self._open(), self.folder_of).among(meant, wanted)

    @property
    def in_memory(self) -> bool:
        """True if the index could not be kept in a file, so that no other process can use it."""
        return not self._open().execute("PRAGMA database_list").fetchone()[2]

    def search(
        self, wanted: Filter, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[Hit]:
        """Return the recordings that a filter matches, newest first."""
        return islice(IndexSearch(self._fresh(progress), self.folder_of).found(wanted)[0], limit)

    def listed(
        self,
        wanted: Filter,
        *,
        status: str = "",
        tags: Sequence[str] = (),
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Listed:
        """Return the matching recordings with that status and these tags.

        An empty filter also returns the broken ones.
        """

        def is_meant(line: Summary) -> bool:
            known = "broken" if line.broken else line.status
            return status in ("", known) and set(tags) <= set(line.tags)

        if not wanted.text.strip():
            lines = self.summaries(progress)
            hits = [Hit(line) for line in lines if is_meant(line)]
            return Listed(hits[:limit], len(hits), [line.id for line in lines])
        database = self._fresh(progress)
        found, looked = IndexSearch(database, self.folder_of).found(wanted)
        # A caller that wants the first few does not wait for a search of all.
        more = limit + 1 if limit is not None and wanted.about_steps else None
        hits = list(islice((hit for hit in found if is_meant(hit.summary)), more))
        ids = [id for (id,) in database.execute(f"SELECT id FROM recordings {NEWEST_FIRST}")]  # noqa: S608
        return Listed(hits[:limit], None if len(hits) == more else len(hits), ids, looked)

    def count(self) -> int:
        """Return the number of indexed recordings."""
        return int(self._open().execute("SELECT count(*) FROM recordings").fetchone()[0])

    def kinds(self) -> set[str]:
        """Return the kinds of effects in all recordings."""
        return {word for _, word in Columns(self._fresh()).words("kind")}

    def known(self) -> list[tuple[str, str]]:
        """Return the indexed ids and names, for shell completion, which cannot wait."""
        with contextlib.suppress(sqlite3.Error, OSError):
            rows = (
                self._open()
                .execute("SELECT id, name FROM recordings ORDER BY moment DESC, id LIMIT 500")
                .fetchall()
            )
            if rows:
                return [(str(id), str(name)) for id, name in rows]
        return [(id, "") for id in self.store.ids()[:500]]

    def folder_of(self, line: Summary) -> Path:
        """Return the folder of a recording, to read it."""
        return Path(line.path)

    def stop_when(self, ended: Callable[[], bool]) -> None:
        """Interrupt later queries (with `sqlite3.OperationalError`) as soon as `ended` returns True."""
        self._open().set_progress_handler(lambda: int(ended()), _OFTEN)

    def discard(self) -> None:
        """Delete the file, as it is damaged; a new one is made on use."""
        self.close()
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file. Harmless when closed."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def __del__(self) -> None:
        # Python 3.13 warns of a database that is not closed. SQLite refuses to close one in another thread.
        with suppress(AttributeError, sqlite3.Error):
            self.close()

    # -- keeping up ------------------------------------------------------------------------------------------

    def refresh(self, progress: Progress | None = None) -> int:
        """Read the changed recordings again; return their number."""
        rows = self._open().execute("SELECT folder, signature FROM recordings")
        stale, gone = self.outdated(dict(rows))
        self.renew(stale, gone, progress=progress)
        return len(stale) + len(gone)

    def lost(self) -> list[str]:
        """Return the indexed folders that are gone. Raises sqlite3.Error if the index is damaged.

        A missing recording is no fault: the next reader adds it.
        """
        database = self._open()
        if self.in_memory:
            raise sqlite3.DatabaseError("it cannot be opened")
        for (said,) in database.execute("PRAGMA quick_check(1)"):
            if said != "ok":
                raise sqlite3.DatabaseError(said)
        return self.outdated(dict(database.execute("SELECT folder, signature FROM recordings")))[1]

    def outdated(
        self, known: Mapping[str, str], names: Iterable[str] | None = None
    ) -> tuple[list[Stale], list[str]]:
        """Return the recordings to read again, the last written first, and the names of those gone.

        Args:
            known: The known signatures, by folder.
            names: Look at these folders only; otherwise at all.
        """
        folders = (
            self._folders() if names is None else [(name, str(self.store.folder(name))) for name in names]
        )
        changed: list[Stale] = []
        there = set()
        for folder, path in folders:
            signature = signature_of(path, known.get(folder, ""))
            if signature is None:
                continue
            there.add(folder)
            if signature[0] != known.get(folder):
                changed.append(Stale(folder, *signature))
        asked = known.keys() if names is None else known.keys() & {name for name, _ in folders}
        changed.sort(key=lambda stale: stale.written, reverse=True)
        return changed, [folder for folder in asked if folder not in there]

    def renew(
        self,
        stale: Sequence[Stale],
        gone: Sequence[str] = (),
        *,
        until: float = float("inf"),
        progress: Progress | None = None,
    ) -> list[IndexedRecording]:
        """Read those recordings again, and forget those gone.

        Return the read ones once they are committed.

        After `until`, by `time.monotonic`, no further one is begun.
        """
        found: list[IndexedRecording] = []
        if not stale and not gone:
            return found
        with self._writing() as writable:
            for folder in gone:
                delete(writable, folder)
            for number, one in enumerate(stale):
                if progress is not None:
                    progress(number, len(stale))
                found.append(self._read(writable, one))
                if number % _BATCH == _BATCH - 1:
                    writable.commit()
                if monotonic() > until:
                    break
        if progress is not None:
            progress(len(stale), len(stale))
        return found

    def _folders(self) -> list[tuple[str, str]]:
        try:
            with os.scandir(self.store.recordings) as entries:
                return [(entry.name, entry.path) for entry in entries if nameable(entry.name)]
        except FileNotFoundError:
            return []

    def _read(self, database: sqlite3.Connection, stale: Stale) -> IndexedRecording:
        begun = monotonic()
        made = self._summarised(stale)
        try:
            with savepoint(database):
                key, line = self._put(database, stale, made)
        except (
            sqlite3.InterfaceError,
            sqlite3.ProgrammingError,
            sqlite3.DataError,
            ValueError,
            OverflowError,
        ) as error:
            # A value that SQLite does not keep: this recording is broken, and the others are not.
            path = self.store.folder(stale.folder)
            made = unsummarised(path, stale.written, f"the index cannot keep its content ({error})")
            key, line = self._put(database, stale, made)
        return IndexedRecording(key, stale.folder, stale.signature, line, monotonic() - begun)

    def _put(self, database: sqlite3.Connection, stale: Stale, made: Summarised) -> tuple[int, Summary]:
        """Write the index rows of a recording; return its key and its summary."""
        folder, signature = stale.folder, stale.signature
        line, steps, blocks = made
        if line.id != folder:
            line = replace(line, id=folder)
        delete(database, folder)
        # Commands take the folder's name, also after the folder was renamed or copied.
        values = [folder, signature, folder, *(cell(getattr(line, name)) for name in RECORDING[1:])]
        marks = ", ".join("?" * len(values))
        key = database.execute(f"INSERT INTO recordings VALUES (NULL, {marks})", values).lastrowid  # noqa: S608
        words = Words(database)
        marks = ", ".join("?" * (len(STEP) + 1))
        database.executemany(
            f"INSERT INTO steps VALUES ({marks})",  # noqa: S608
            [
                [key, *(words.number(name, value) for name, value in zip(STEP, step, strict=True))]
                for step in steps
            ],
        )
        placed = [(place_of(int(key or 0), place), block) for place, block in enumerate(blocks)]
        database.executemany("INSERT INTO details VALUES (?, ?)", placed)
        database.executemany("INSERT INTO facts VALUES (?, ?)", [(fact, key) for fact in facts_in(blocks)])
        return int(key or 0), line

    def _summarised(self, stale: Stale) -> Summarised:
        """Read a recording, and return its index rows."""
        return self._summarise(self.store.folder(stale.folder), stale.written, self.store.root)

    def _fresh(self, progress: Progress | None = None) -> sqlite3.Connection:
        try:
            self.refresh(progress)
        except sqlite3.DatabaseError:
            # It is damaged, or cannot be written (a read-only folder, a full disk): use one in memory.
            self.discard()
            self._database = created(sqlite3.connect(":memory:"))
            self.refresh(progress)
        return self._open()

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = self._connect()
        return self._database

    def _connect(self) -> sqlite3.Connection:
        if not self.store.root.is_dir():
            return created(sqlite3.connect(":memory:"))
        database = None
        try:
            database = sqlite3.connect(self._file, timeout=20)
            stamp = self._stamp()
            if [database.execute(f"PRAGMA {name}").fetchone()[0] for name in _STAMPS] != [VERSION, stamp]:
                database.close()
                self._file.unlink(missing_ok=True)
                database = created(sqlite3.connect(self._file, timeout=20))
                database.execute(f"PRAGMA application_id = {stamp}")
                self._file.chmod(0o600)
        except (sqlite3.Error, OSError):
            if database is not None:
                database.close()
            return created(sqlite3.connect(":memory:"))
        return database

    def _stamp(self) -> int:
        """Return a number that only this home's user can write into an index; 0 without a key."""
        identity = Identity.of(self.store.root)
        return 0 if identity is None else identity.stamp("index 1")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the database with the lock held: some versions of SQLite fail with two writers."""
        database = self._open()
        with locked(self.store.root / "index.lock"), database:
            yield database
