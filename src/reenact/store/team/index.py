"""A team's recordings on their lines, and searched: the index here, filled from the database and not from files.

The database has a recording's line, its steps and the rest that filters ask of them as one of us made them. What has
grown since is brought here, read, and written back for the others. A search asks the index here, by the same plan as
everywhere, after it has fetched what is new: the first one fetches all. Where a line says that a recording lies
(`path`) it lies once it was asked for by `TeamStore.find`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from sqlalchemy import delete, insert, select, update

from reenact.errors import RecordingNotFound
from reenact.model.summary import Summary
from reenact.store.index import STEP, Index, Known, Progress, Stale, Summarised, summarised
from reenact.store.local import LocalStore
from reenact.store.team.store import TeamStore
from reenact.store.team.tables import DETAILS, FILES, RECORDINGS, STEPS

_AT_ONCE = 200
_LINE = [field.name for field in fields(Summary) if field.name != "path"]
_MOST = 2**63 - 1
_QUIET = 3_000_000_000
"""Nanoseconds without a new byte, before others are spared the reading of a recording."""


class TeamIndex(Index):
    """The index of one project of a team's store.

    Args:
        store: The recordings.
    """

    store: TeamStore

    def __init__(self, store: TeamStore) -> None:
        super().__init__(store)
        # The name of the file is another: who serves the same folder as a home has an index of its own there.
        self._file = store.root / "team.sqlite"
        store.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._fetched: dict[str, Summarised] = {}

    def outdated(self, known: Any, names: Any = None) -> tuple[list[Stale], list[str]]:
        """What is to be fetched again, those first that were appended to last, and what is gone. Raises StoreAway."""
        there = self.store.versions()
        asked = there.keys() if names is None else there.keys() & set(names)
        stale = [Stale(id, str(there[id]), there[id]) for id in asked if known.get(id) != str(there[id])]
        gone = [id for id in (known if names is None else known.keys() & set(names)) if id not in there]
        return sorted(stale, key=lambda one: one.written, reverse=True), gone

    def renew(
        self,
        stale: Sequence[Stale],
        gone: Sequence[str] = (),
        *,
        until: float = float("inf"),
        progress: Progress | None = None,
    ) -> list[Known]:
        """Fetch those again, and forget what is gone; returns those that were fetched."""
        found: list[Known] = []
        for at in range(0, max(len(stale), 1), _AT_ONCE):
            some = stale[at : at + _AT_ONCE]
            self._fetched = self._fetch([one.folder for one in some])
            part: Progress | None = None
            if progress is not None:
                part = _within(progress, at, len(stale))
            found += super().renew(some, gone if not at else (), until=until, progress=part)
        self._fetched = {}
        return found

    def settle(self, id: str, folder: Path, lengths: Mapping[str, int]) -> None:
        """Write down what a recording says on its line, where it is at hand elsewhere. Raises StoreAway.

        Args:
            id: The recording's.
            folder: Where it is.
            lengths: How much of each file the team's store has of it: if it has more by now, nothing is done.
        """
        columns = RECORDINGS.c.key, RECORDINGS.c.version, RECORDINGS.c.written, FILES.c.name, FILES.c.length
        asked = self.store.database.recordings(*columns).join_from(RECORDINGS, FILES)
        with self.store.database.begin() as connection:
            rows = connection.execute(asked.where(RECORDINGS.c.id == id)).all()
        if rows and {row.name: row.length for row in rows} == dict(lengths):
            self._write(rows[0].key, rows[0].version, summarised(folder, rows[0].written))

    def settle_some(self, copy: LocalStore, most: int) -> None:
        """Write down the lines of some recordings that nobody has read yet, and that are whole in a copy. Raises
        StoreAway.
        """
        # One that still grows is not read anew with each line.
        quiet = time.time_ns() - _QUIET
        asked = self.store.database.recordings(RECORDINGS.c.id).where(
            RECORDINGS.c.known < RECORDINGS.c.version, RECORDINGS.c.written < quiet
        )
        with self.store.database.begin() as connection:
            ids = list(connection.execute(asked.order_by(RECORDINGS.c.version.desc()).limit(most)).scalars())
        lengths = self.store.intake.lengths(ids)
        for id in ids:
            folder = copy.folder(id)
            here = {
                name: path.stat().st_size for name in lengths.get(id, {}) if (path := folder / name).is_file()
            }
            if here == lengths.get(id):
                self.settle(id, folder, here)

    def folder_of(self, line: Summary) -> Path:
        """Where a recording lies, once it is brought here. Raises RecordingNotFound, StoreAway."""
        return self.store.find(line.id)

    # -- within ----------------------------------------------------------------------------------------------

    def _summarised(self, stale: Stale) -> Summarised:
        found = self._fetched.pop(stale.folder, None)
        return found if found is not None else self._made(stale.folder)

    def _made(self, id: str) -> Summarised:
        """A recording's line and steps, read here, and written down for the others."""
        asked = self.store.database.recordings(
            RECORDINGS.c.key, RECORDINGS.c.version, RECORDINGS.c.written
        ).where(RECORDINGS.c.id == id)
        with self.store.database.begin() as connection:
            row = connection.execute(asked).first()
        if row is None:
            return Summary(id, "", broken="it was deleted just now"), [], []
        try:
            path = self.store.find(id)
        except RecordingNotFound:
            return Summary(id, "", broken="it was deleted just now"), [], []
        # It is at least of that version; where it has grown meanwhile, somebody makes it anew.
        line, steps, blocks = summarised(path, row.written)
        self._write(row.key, row.version, (line, steps, blocks))
        return line, steps, blocks

    def _write(self, key: int, version: int, made: Summarised) -> None:
        line, steps, blocks = made
        values = {name: _fit(getattr(line, name)) for name in _LINE if name not in ("id", "written")}
        with self.store.database.begin() as connection:
            held = (
                update(RECORDINGS)
                .where(RECORDINGS.c.key == key, RECORDINGS.c.known < version)
                .values(known=version, **values)
            )
            if not connection.execute(held).rowcount:
                return
            for table in (STEPS, DETAILS):
                connection.execute(delete(table).where(table.c.recording == key))
            if steps:
                rows = [{"recording": key, **dict(zip(STEP, map(_fit, step), strict=True))} for step in steps]
                connection.execute(insert(STEPS), rows)
            if blocks:
                packed = [{"recording": key, "part": part, "data": data} for part, data in enumerate(blocks)]
                connection.execute(insert(DETAILS), packed)

    def _fetch(self, ids: Sequence[str]) -> dict[str, Summarised]:
        """What the database knows of those recordings that it knows all of."""
        if not ids:
            return {}
        columns = [RECORDINGS.c.key, RECORDINGS.c.id, *(RECORDINGS.c[name] for name in _LINE if name != "id")]
        asked = self.store.database.recordings(*columns)
        asked = asked.where(RECORDINGS.c.id.in_(ids), RECORDINGS.c.known == RECORDINGS.c.version)
        steps: dict[int, list[list[Any]]] = {}
        blocks: dict[int, list[bytes]] = {}
        with self.store.database.begin() as connection:
            rows = connection.execute(asked).all()
            keys = [row.key for row in rows]
            wanted = select(STEPS.c.recording, *(STEPS.c[name] for name in STEP)).where(
                STEPS.c.recording.in_(keys)
            )
            for key, *step in connection.execute(wanted.order_by(STEPS.c.recording, STEPS.c.number)):
                steps.setdefault(key, []).append(step)
            packed = select(DETAILS.c.recording, DETAILS.c.data).where(DETAILS.c.recording.in_(keys))
            for key, data in connection.execute(packed.order_by(DETAILS.c.recording, DETAILS.c.part)):
                blocks.setdefault(key, []).append(bytes(data))
        return {row.id: (self._line(row), steps.get(row.key, []), blocks.get(row.key, [])) for row in rows}

    def _line(self, row: Any) -> Summary:
        said = {name: getattr(row, name) for name in _LINE}
        said |= {name: tuple(said[name]) for name in ("models", "tags")}
        return Summary(path=str(self.store.folder(row.id)), **said)


def _within(progress: Progress, before: int, total: int) -> Callable[[int, int], None]:
    return lambda done, _: progress(before + done, total)


def _fit(value: Any) -> Any:
    """A value as a column takes it: Postgres has no room for NUL in a text, nor for more than 63 bits."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode(errors="replace").decode()
    if isinstance(value, tuple):
        return [_fit(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, -_MOST), _MOST)
    return value
