"""The summaries of recordings: made from their lines at the first read, and stored for all.

A summary consists of a recording's line in lists, its steps, the details that filters need, and the texts in which
Postgres finds words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, text, update

from reenact.core.query.summary import Summary
from reenact.core.store.base import Progress
from reenact.core.store.details import facts_in, words_in
from reenact.core.store.local import LocalStore
from reenact.core.store.summarised import STEP, Summarised, summarised, unsummarised
from reenact.errors import RecordingError, RecordingNotFound
from reenact.team.columns import fit
from reenact.team.database import copied
from reenact.team.store import TeamStore
from reenact.team.tables import ANALYZE, CLOCK, DETAILS, FACTS, FILES, RECORDINGS, STEPS, TEXTS
from reenact.team.unavailable import UNFIT

LINE = [field.name for field in fields(Summary) if field.name not in ("path", "here")]
"""The columns of a recording's line."""

_SAID = [name for name in LINE if name not in ("id", "written", "endorser")]
"""The columns that are made from the recording's lines."""

LATER = ("script", "prompt", "outcome")
"""Columns that are null in lines that an earlier version wrote."""

_AT_ONCE = 100
_AGAIN = 30
"""Most recordings that one list summarises again, for columns of later versions."""

_MANY = 100
"""New summaries after which the planner's statistics are refreshed."""

_NOT_WORDED = -1
_QUIET = 3_000_000_000
"""Nanoseconds without a new byte after which a recording is summarised for all."""


class TeamLines:
    """The summaries of the recordings in one project of a team's store.

    Args:
        store: The recordings.
    """

    def __init__(self, store: TeamStore) -> None:
        self.store = store
        self._written = 0
        self._due = _MANY

    def settle(self, known: Mapping[str, tuple[Path, Mapping[str, int]]]) -> None:
        """Store the summaries of recordings that have local copies. Raises StoreAway.

        Args:
            known: By id, the folder of the copy, and the length of each file in the store. A recording with other
                lengths in the store is skipped.
        """
        columns = RECORDINGS.c.id, RECORDINGS.c.key, RECORDINGS.c.version, RECORDINGS.c.written
        asked = self.store.database.recordings(*columns, FILES.c.name, FILES.c.length)
        asked = asked.join_from(RECORDINGS, FILES).where(RECORDINGS.c.id == func.any(list(known)))
        found: dict[tuple[str, int, int, int], dict[str, int]] = {}
        with self.store.database.begin() as connection:
            for *recording, name, length in connection.execute(asked):
                found.setdefault(tuple(recording), {})[name] = length
        self._write(
            (key, version, summarised(known[id][0], written))
            for (id, key, version, written), lengths in found.items()
            if lengths == known[id][1]
        )

    def settle_some(self, copy: LocalStore, most: int) -> None:
        """Store the summaries of unread recordings of which a copy is complete. Raises StoreAway.

        If there are none, summaries by an earlier version are stored again, with the columns that it did not have.
        """
        # A recording that still grows is not read again after each line.
        quiet = RECORDINGS.c.written < CLOCK - _QUIET
        ids = self._unread(quiet, most=most) or self._newest(quiet, RECORDINGS.c.outcome.is_(None), most=most)
        lengths = self.store.intake.lengths(ids)
        whole: dict[str, tuple[Path, Mapping[str, int]]] = {}
        for id in ids:
            folder = copy.folder(id)
            here = {
                name: path.stat().st_size for name in lengths.get(id, {}) if (path := folder / name).is_file()
            }
            if here == lengths.get(id):
                whole[id] = folder, here
        if whole:
            self.settle(whole)
        self.word_some(most)
        self.fact_some(most)

    def renew(self, progress: Progress | None = None) -> None:
        """Read the unread recordings, and store their summaries. Raises StoreAway.

        Some of the newest that an earlier version has summarised are read again, too.
        """
        unread = self._unread()
        unread += self._newest(
            RECORDINGS.c.known == RECORDINGS.c.version, RECORDINGS.c.outcome.is_(None), most=_AGAIN
        )
        for number, id in enumerate(unread):
            if progress is not None:
                progress(number, len(unread))
            self._make(id)
        if progress is not None and unread:
            progress(len(unread), len(unread))

    def word_some(self, most: int) -> None:
        """Store the texts of recordings whose summaries an earlier version wrote.

        Raises StoreAway.
        """
        columns = RECORDINGS.c.key, RECORDINGS.c.known
        # A recording that cannot be read is marked, and not tried again.
        asked = self.store.database.recordings(*columns).where(
            RECORDINGS.c.worded != RECORDINGS.c.known, RECORDINGS.c.worded >= 0, RECORDINGS.c.known > 0
        )
        with self.store.database.begin() as connection:
            left = list(connection.execute(asked.limit(most)).all())
        for at in range(0, len(left), _AT_ONCE):
            some = {row.key: row.known for row in left[at : at + _AT_ONCE]}
            with self.store.database.begin() as connection:
                packed = _packed(connection, list(some))
                # A process that writes a summary meanwhile writes its texts, too.
                held = select(RECORDINGS.c.key, RECORDINGS.c.known).where(
                    RECORDINGS.c.key == func.any(list(some))
                )
                rows = connection.execute(held.order_by(RECORDINGS.c.id).with_for_update()).all()
                same = [row.key for row in rows if row.known == some[row.key]]
                words = {key: words_in(packed.get(key, [])) for key in same}
                worded = update(RECORDINGS).where(RECORDINGS.c.key == bindparam("held"))
                values = [
                    {"held": key, "texts": _NOT_WORDED if words[key] is None else some[key]} for key in same
                ]
                if values:
                    connection.execute(worded.values(worded=bindparam("texts")), values)
                _texts(connection, words)

    def fact_some(self, most: int) -> None:
        """Store the facts of recordings whose summaries an earlier version wrote. Raises StoreAway."""
        asked = self.store.database.recordings(RECORDINGS.c.key).where(
            RECORDINGS.c.facted != RECORDINGS.c.known, RECORDINGS.c.known > 0
        )
        with self.store.database.begin() as connection:
            left = list(connection.execute(asked.limit(most)).scalars())
        for at in range(0, len(left), _AT_ONCE):
            some = left[at : at + _AT_ONCE]
            with self.store.database.begin() as connection:
                # A process that writes a summary meanwhile writes its facts, too.
                held = select(RECORDINGS.c.key, RECORDINGS.c.known).where(RECORDINGS.c.key == func.any(some))
                rows = connection.execute(held.order_by(RECORDINGS.c.id).with_for_update()).all()
                packed = _packed(connection, some)
                values = [{"held": row.key, "facts": row.known} for row in rows]
                if values:
                    facted = update(RECORDINGS).where(RECORDINGS.c.key == bindparam("held"))
                    connection.execute(facted.values(facted=bindparam("facts")), values)
                _facts(connection, {row.key: facts_in(packed.get(row.key, [])) for row in rows})

    # -- within ----------------------------------------------------------------------------------------------

    def _unread(self, *conditions: Any, most: int | None = None) -> list[str]:
        return self._newest(RECORDINGS.c.known < RECORDINGS.c.version, *conditions, most=most)

    def _newest(self, *conditions: Any, most: int | None = None) -> list[str]:
        asked = self.store.database.recordings(RECORDINGS.c.id).where(*conditions)
        with self.store.database.begin() as connection:
            newest = asked.order_by(RECORDINGS.c.version.desc()).limit(most)
            return list(connection.execute(newest).scalars())

    def _make(self, id: str) -> None:
        """Read a recording here, and store its summary."""
        asked = self.store.database.recordings(
            RECORDINGS.c.key, RECORDINGS.c.version, RECORDINGS.c.written
        ).where(RECORDINGS.c.id == id)
        with self.store.database.begin() as connection:
            row = connection.execute(asked).first()
        if row is None:
            return
        try:
            made = summarised(self.store.find(id), row.written)
        except RecordingNotFound:
            # It has just been deleted.
            return
        except RecordingError as error:
            made = unsummarised(self.store.folder(id), row.written, str(error).removeprefix(f"{id}: "))
        self._write([(row.key, row.version, made)])

    def _write(self, made: Iterable[tuple[int, int, Summarised]]) -> None:
        """Store lines, steps and texts of recordings, given by key and version."""
        left = iter(made)
        while some := {key: (version, said) for key, version, said in islice(left, _AT_ONCE)}:
            try:
                self._write_some(some)
            except UNFIT:
                # The database refuses a value of one of them; store the others one by one.
                for key, one in some.items():
                    self._write_one(key, *one)
            self._written_more(len(some))

    def _written_more(self, count: int) -> None:
        """Refresh the planner's statistics after `_MANY` new summaries, then after twice as many."""
        self._written += count
        if self._written >= self._due:
            self._due = 2 * self._written
            with self.store.database.begin() as connection:
                connection.execute(text(ANALYZE))

    def _write_one(self, key: int, version: int, made: Summarised) -> None:
        """Store one recording's summary; store it as broken if the database refuses a value."""
        try:
            self._write_some({key: (version, made)})
        except UNFIT as error:
            line, why = made[0], getattr(error, "orig", error)
            text = f"the team's store cannot keep its content ({why})"
            self._write_some({key: (version, unsummarised(Path(line.path), line.written, text))})

    def _write_some(self, some: Mapping[int, tuple[int, Summarised]]) -> None:
        words = {key: words_in(blocks) for key, (_, (_, _, blocks)) in some.items()}
        facts = {key: facts_in(blocks) for key, (_, (_, _, blocks)) in some.items()}
        with self.store.database.begin() as connection:
            known = select(RECORDINGS.c.key, RECORDINGS.c.known, RECORDINGS.c.outcome).where(
                RECORDINGS.c.key == func.any(list(some))
            )
            # Lock in the order that intakes use, so that no deadlock is possible.
            rows = connection.execute(known.order_by(RECORDINGS.c.id).with_for_update()).all()
            due = [
                row.key
                for row in rows
                if row.known < some[row.key][0] or (row.known == some[row.key][0] and row.outcome is None)
            ]
            if due:
                _lines(connection, [_line(key, some[key][0], some[key][1][0], words[key]) for key in due])
                _rest(connection, {key: some[key][1][1:] for key in due})
                _texts(connection, {key: words[key] for key in due})
                _facts(connection, {key: facts[key] for key in due})


def _line(key: int, version: int, line: Summary, words: Sequence[str] | None) -> dict[str, Any]:
    values = {name: fit(getattr(line, name)) for name in _SAID}
    worded = {"worded": _NOT_WORDED if words is None else version}
    return {"held": key, "known": version, "facted": version, **worded, **values}


def _lines(connection: Connection, rows: list[dict[str, Any]]) -> None:
    names = ("known", "facted", "worded", *_SAID)
    held = update(RECORDINGS).where(RECORDINGS.c.key == bindparam("held"))
    connection.execute(held.values({name: bindparam(name) for name in names}), rows)


def _rest(
    connection: Connection, made: Mapping[int, tuple[Sequence[Sequence[Any]], Sequence[bytes]]]
) -> None:
    """Replace the stored steps and details of recordings."""
    for table in (STEPS, DETAILS):
        connection.execute(delete(table).where(table.c.recording == func.any(list(made))))
    steps = [(key, *map(fit, step)) for key, (steps, _) in made.items() for step in steps]
    copied(connection, STEPS, ("recording", *STEP), steps)
    blocks = [(key, part, data) for key, (_, blocks) in made.items() for part, data in enumerate(blocks)]
    copied(connection, DETAILS, ("recording", "part", "data"), blocks, ("int8", "int2", "bytea"))


def _texts(connection: Connection, words: Mapping[int, Sequence[str] | None]) -> None:
    connection.execute(delete(TEXTS).where(TEXTS.c.recording == func.any(list(words))))
    rows = [(key, part, body) for key, bodies in words.items() for part, body in enumerate(bodies or ())]
    copied(connection, TEXTS, ("recording", "part", "body"), rows, ("int8", "int2", "text"))


def _facts(connection: Connection, facts: Mapping[int, list[int]]) -> None:
    connection.execute(delete(FACTS).where(FACTS.c.recording == func.any(list(facts))))
    copied(connection, FACTS, ("recording", "facts"), list(facts.items()), ("int8", "int8[]"))


def _packed(connection: Connection, keys: list[int]) -> dict[int, list[bytes]]:
    """Return the details of recordings, by their keys."""
    found: dict[int, list[bytes]] = {}
    wanted = select(DETAILS.c.recording, DETAILS.c.data).where(DETAILS.c.recording == func.any(keys))
    for key, data in connection.execute(wanted.order_by(DETAILS.c.recording, DETAILS.c.part)):
        found.setdefault(key, []).append(bytes(data))
    return found
