"""What recordings say of themselves, made from their lines by whoever reads one first, and written down for all.

A recording's line, its steps, what filters ask besides, and the texts in which Postgres finds words.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from reenact.errors import RecordingNotFound
from reenact.model.summary import Summary
from reenact.store.details import words_in
from reenact.store.index import STEP, Progress, Summarised, summarised
from reenact.store.local import LocalStore
from reenact.store.team.store import TeamStore
from reenact.store.team.tables import DETAILS, FILES, RECORDINGS, STEPS, TEXTS

LINE = [field.name for field in fields(Summary) if field.name != "path"]
"""The columns of a recording's line."""

_WORDED_AT_ONCE = 100
_NOT_WORDED = -1
_MOST = 2**63 - 1
_QUIET = 3_000_000_000
"""Nanoseconds without a new byte, before others are spared the reading of a recording."""


class Lines:
    """What the recordings of one project of a team's store say.

    Args:
        store: The recordings.
    """

    def __init__(self, store: TeamStore) -> None:
        self.store = store

    def settle(self, id: str, folder: Path, lengths: dict[str, int]) -> None:
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
        if rows and {row.name: row.length for row in rows} == lengths:
            self._write(rows[0].key, rows[0].version, summarised(folder, rows[0].written))

    def settle_some(self, copy: LocalStore, most: int) -> None:
        """Write down the lines of some recordings that nobody has read yet, and that are whole in a copy. Raises
        StoreAway.
        """
        # One that still grows is not read anew with each line.
        ids = self._unread(RECORDINGS.c.written < time.time_ns() - _QUIET, most=most)
        lengths = self.store.intake.lengths(ids)
        for id in ids:
            folder = copy.folder(id)
            here = {
                name: path.stat().st_size for name in lengths.get(id, {}) if (path := folder / name).is_file()
            }
            if here == lengths.get(id):
                self.settle(id, folder, here)
        self.word_some(most)

    def renew(self, progress: Progress | None = None) -> None:
        """Read what nobody has read yet, and write it down. Raises StoreAway."""
        unread = self._unread()
        for number, id in enumerate(unread):
            if progress is not None:
                progress(number, len(unread))
            self._make(id)
        if progress is not None and unread:
            progress(len(unread), len(unread))

    def word_some(self, most: int) -> None:
        """Write the texts of some recordings whose lines an earlier Reenact has written. Raises StoreAway."""
        columns = RECORDINGS.c.key, RECORDINGS.c.known
        # One that cannot be is marked so, and asked no more.
        asked = self.store.database.recordings(*columns).where(
            RECORDINGS.c.worded != RECORDINGS.c.known, RECORDINGS.c.worded >= 0, RECORDINGS.c.known > 0
        )
        with self.store.database.begin() as connection:
            left = list(connection.execute(asked.limit(most)).all())
        for at in range(0, len(left), _WORDED_AT_ONCE):
            some = {row.key: row.known for row in left[at : at + _WORDED_AT_ONCE]}
            with self.store.database.begin() as connection:
                packed: dict[int, list[bytes]] = {}
                wanted = select(DETAILS.c.recording, DETAILS.c.data).where(
                    DETAILS.c.recording == func.any(list(some))
                )
                for key, data in connection.execute(wanted.order_by(DETAILS.c.recording, DETAILS.c.part)):
                    packed.setdefault(key, []).append(bytes(data))
                for key, version in sorted(some.items()):
                    _word(connection, key, version, packed.get(key, []))

    # -- within ----------------------------------------------------------------------------------------------

    def _unread(self, *conditions: Any, most: int | None = None) -> list[str]:
        asked = self.store.database.recordings(RECORDINGS.c.id).where(
            RECORDINGS.c.known < RECORDINGS.c.version, *conditions
        )
        with self.store.database.begin() as connection:
            newest = asked.order_by(RECORDINGS.c.version.desc()).limit(most)
            return list(connection.execute(newest).scalars())

    def _make(self, id: str) -> None:
        """Read a recording here, and write down what it says."""
        asked = self.store.database.recordings(
            RECORDINGS.c.key, RECORDINGS.c.version, RECORDINGS.c.written
        ).where(RECORDINGS.c.id == id)
        with self.store.database.begin() as connection:
            row = connection.execute(asked).first()
        if row is None:
            return
        try:
            path = self.store.find(id)
        except RecordingNotFound:
            # It was deleted just now.
            return
        # It is at least of that version; where it has grown meanwhile, somebody makes it anew.
        self._write(row.key, row.version, summarised(path, row.written))

    def _write(self, key: int, version: int, made: Summarised) -> None:
        line, steps, blocks = made
        values = {name: _fit(getattr(line, name)) for name in LINE if name not in ("id", "written")}
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
            _word(connection, key, version, blocks)


def _word(connection: Connection, key: int, version: int, blocks: Sequence[bytes]) -> None:
    """Write a recording's texts, for the version that its line is of."""
    bodies = words_in(blocks)
    held = (
        update(RECORDINGS)
        .where(RECORDINGS.c.key == key, RECORDINGS.c.known == version)
        .values(worded=version if bodies is not None else _NOT_WORDED)
    )
    if not connection.execute(held).rowcount:
        return
    connection.execute(delete(TEXTS).where(TEXTS.c.recording == key))
    if bodies:
        rows = [{"recording": key, "part": part, "body": body} for part, body in enumerate(bodies)]
        connection.execute(insert(TEXTS), rows)


def _fit(value: Any) -> Any:
    """A value as a column takes it: Postgres has no room for NUL in a text, nor for more than 63 bits."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode(errors="replace").decode()
    if isinstance(value, tuple):
        return [_fit(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, -_MOST), _MOST)
    return value
