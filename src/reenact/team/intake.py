"""Uploads to the team's store, in pieces: each is committed before it is acknowledged.

A request is one transaction. It locks the rows of its recordings, so that a second sender of the same recording waits,
and then finds it complete. Lines are inserted by COPY; a piece's bytes, its file's length and its recording's version
are committed together. Blobs are put into the object store before that, without a lock: a lease prevents their deletion
until a recording names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from time import monotonic

from sqlalchemy import Connection, bindparam, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from reenact.core.dataclass import dataclass
from reenact.core.model.header import ID
from reenact.core.store import chain
from reenact.core.store.base import FILE, BlobStore, Damaged, Piece, PieceTaken
from reenact.core.store.intake import no_header, unfit, unfit_blob
from reenact.core.store.local import EVENTS
from reenact.core.store.quotas import IntakeLimits
from reenact.errors import StoreAway, StoreFull
from reenact.team.database import Database, copied
from reenact.team.deleting import tombstones
from reenact.team.limits import Room
from reenact.team.tables import BLOBS, CHUNKS, CLOCK, FILES, LEASES, RECORDINGS, VERSIONS

_AT_ONCE = 16
_ENOUGH = 5.0
"""Seconds after which no more blobs are tried once one could not be stored."""

_CHUNK = "recording", "name", "at", "data"


@dataclass(slots=True)
class _Known:
    """A recording in a request: its key, its files' lengths in this transaction, and its bytes."""

    key: int
    bytes: int
    lengths: dict[str, int] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    more: int = 0


class _Full(PieceTaken):
    """A refusal because the project has reached its limit."""


class TeamIntake:
    """Accepts pieces for one project. Any thread may call it.

    Args:
        database: The database, for lines.
        blobs: The object store, for blobs.
        limits: The limits of a recording; `project` and `free` are not used here.
    """

    def __init__(self, database: Database, blobs: BlobStore, limits: IntakeLimits | None = None) -> None:
        self._database = database
        self._blobs = blobs
        self._limits = limits or IntakeLimits()
        self._room = Room()
        self._pool = ThreadPoolExecutor(_AT_ONCE, "reenact-blobs")

    def close(self) -> None:
        """End its threads."""
        self._pool.shutdown()

    def lengths(self, ids: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the length of each known file of these recordings. Raises StoreAway."""
        wanted = [id for id in ids if ID.fullmatch(id)]
        found: dict[str, dict[str, int]] = {}
        with self._database.begin() as connection:
            asked = self._database.recordings(RECORDINGS.c.id, FILES.c.name, FILES.c.length)
            asked = asked.join_from(RECORDINGS, FILES).where(RECORDINGS.c.id == func.any(wanted))
            for id, name, length in connection.execute(asked):
                found.setdefault(id, {})[name] = length
        return found

    def has(self, id: str, address: str) -> bool:
        """Return True if a recording's blob exists. Raises StoreAway."""
        with self._database.begin() as connection:
            asked = self._database.recordings(BLOBS.c.size).join_from(RECORDINGS, BLOBS)
            asked = asked.where(RECORDINGS.c.id == id, BLOBS.c.address == address)
            return connection.execute(asked).first() is not None

    def heard(self, ids: Iterable[str]) -> None:
        """Do nothing: a recording that is being written shows it by growing."""

    def take(self, pieces: Sequence[Piece]) -> list[PieceTaken]:
        """Append pieces; all that are answered with ok have been committed.

        Raises:
            StoreAway: The store does not answer; try again.
            StoreFull: The project has reached its limit, and all pieces would exceed it. If only some would, these are
                refused in their answers.
        """
        answers: dict[int, PieceTaken] = {}
        blobs: dict[int, Piece] = {}
        lines: dict[int, Piece] = {}
        for at, piece in enumerate(pieces):
            blob = piece.name.startswith("sha256:")
            if problem := unfit_blob(piece, self._limits.blob) if blob else unfit(piece):
                answers[at] = PieceTaken("refused", detail=problem)
            else:
                (blobs if blob else lines)[at] = piece
        if blobs:
            # The object store may be slow, so no transaction is open while it is written to.
            blobs, leases, failed = self._keep(blobs, answers)
        else:
            leases, failed = [], []
        # Stored blobs are noted even if others failed, or they would be sent again and again. Lines are not taken then,
        # because they may name a blob that is missing.
        lines = {} if failed else lines
        with self._database.begin() as connection:
            self._room.look(connection, self._database.project)
            if leases:
                self._database.blobs_held(connection)
            known, refused = self._held(connection, [*lines.values(), *blobs.values()])
            new: list[tuple[int, str, int, bytes]] = []
            for at, piece in lines.items():
                answers[at] = refused.get(piece.recording) or self._append(connection, piece, known, new)
            if new:
                copied(connection, CHUNKS, _CHUNK, new, ("int8", "text", "int8", "bytea"))
            self._note(connection, known)
            for at, one in blobs.items():
                # The recording may have been deleted in the meantime.
                here = (
                    PieceTaken("ok", len(one.data))
                    if one.recording in known
                    else PieceTaken("gap", detail="it was deleted")
                )
                answers[at] = refused.get(one.recording) or here
            _note_blobs(connection, [one for one in blobs.values() if one.recording not in refused], known)
            if leases:
                connection.execute(delete(LEASES).where(LEASES.c.key == func.any(leases)))
            if not failed and answers and all(isinstance(one, _Full) for one in answers.values()):
                raise StoreFull(f"{self._database.place.name}: {answers[0].detail}")
        if failed:
            raise failed[0][1]
        return [answers[at] for at in range(len(pieces))]

    # -- blobs -----------------------------------------------------------------------------------------------

    def _keep(
        self, blobs: dict[int, Piece], answers: dict[int, PieceTaken]
    ) -> tuple[dict[int, Piece], list[int], list[tuple[int, StoreAway]]]:
        """Store the blobs that their recordings do not have yet; answer those that are refused.

        Returns:
            The blobs that are stored now; the leases that prevent the deletion of new ones until a recording names
            them; and the blobs that could not be stored, with the errors.
        """
        project = self._database.project
        with self._database.begin() as connection:
            self._room.look(connection, project)
            gone = tombstones(connection, project, {one.recording for one in blobs.values()})
            had = select(RECORDINGS.c.id, BLOBS.c.address).join_from(RECORDINGS, BLOBS)
            had = had.where(
                RECORDINGS.c.project == project,
                RECORDINGS.c.id == func.any([one.recording for one in blobs.values()]),
                BLOBS.c.address == func.any([one.name for one in blobs.values()]),
            )
            noted = {(row.id, row.address) for row in connection.execute(had)}
            new: dict[int, Piece] = {}
            for at, one in blobs.items():
                if (stone := gone.get(one.recording)) is not None:
                    answers[at] = PieceTaken("gone", detail=stone.told)
                elif (one.recording, one.name) not in noted:
                    if problem := self._room.problem(size=len(one.data)):
                        answers[at] = _Full("refused", detail=problem)
                    else:
                        new[at] = one
            leases: list[int] = []
            if new:
                # No blobs are being deleted at this moment, and from now on the leases protect these.
                self._database.blobs_held(connection)
                rows = [
                    {"project": project, "address": name, "at": CLOCK}
                    for name in sorted({one.name for one in new.values()})
                ]
                wanted = insert(LEASES).values(rows).returning(LEASES.c.key)
                leases = list(connection.execute(wanted).scalars())
        failed = self._put(new)
        lost = dict(failed)
        return {at: one for at, one in blobs.items() if at not in answers and at not in lost}, leases, failed

    def _put(self, blobs: Mapping[int, Piece]) -> list[tuple[int, StoreAway]]:
        """Store blobs; return those that could not be stored, with the errors."""
        failed: list[tuple[int, StoreAway]] = []
        began = monotonic()

        def put(at: int) -> None:
            if failed and monotonic() - began > _ENOUGH:
                failed.append((at, failed[0][1]))
                return
            try:
                self._blobs.put(blobs[at].data)
            except StoreAway as error:
                failed.append((at, error))

        list(self._pool.map(put, blobs))
        return failed

    # -- lines -----------------------------------------------------------------------------------------------

    def _held(
        self, connection: Connection, pieces: Sequence[Piece]
    ) -> tuple[dict[str, _Known], dict[str, PieceTaken]]:
        """Return the recordings of a request, locked until its end, and the refusals.

        New recordings are created. Deleted ones, and those that exceed the limits, are refused.
        """
        project = self._database.project
        # Blobs come before the lines that name them, so possibly before the recording's first line.
        begun = {
            one.recording
            for one in pieces
            if one.name.startswith("sha256:")
            or (one.name == EVENTS and not one.offset and not no_header(one))
        }
        refused: dict[str, PieceTaken] = {}
        if begun:
            there = self._database.recordings(RECORDINGS.c.id).where(
                RECORDINGS.c.id == func.any(sorted(begun))
            )
            for id in sorted(begun.difference(connection.execute(there).scalars())):
                if problem := self._room.problem(recordings=1):
                    refused[id] = _Full("refused", detail=problem)
        if begun := begun.difference(refused):
            rows = [{"project": project, "id": id, "version": 0, "written": CLOCK} for id in sorted(begun)]
            connection.execute(insert(RECORDINGS).values(rows).on_conflict_do_nothing())
        ids = sorted({one.recording for one in pieces})
        asked = self._database.recordings(RECORDINGS.c.id, RECORDINGS.c.key, RECORDINGS.c.bytes)
        asked = asked.where(RECORDINGS.c.id == func.any(ids)).order_by(RECORDINGS.c.id).with_for_update()
        known = {id: _Known(key, size) for id, key, size in connection.execute(asked)}
        # Search under the lock: a deletion of one of them has been committed, or waits for this transaction.
        for id, stone in tombstones(connection, project, ids).items():
            refused[id] = PieceTaken("gone", detail=stone.told)
            if (held := known.pop(id, None)) is not None:
                connection.execute(
                    delete(RECORDINGS).where(RECORDINGS.c.key == held.key, RECORDINGS.c.version == 0)
                )
        by_key = {one.key: one for one in known.values()}
        lengths = select(FILES.c.recording, FILES.c.name, FILES.c.length)
        for key, name, length in connection.execute(
            lengths.where(FILES.c.recording == func.any(list(by_key)))
        ):
            by_key[key].lengths[name] = length
        return known, refused

    def _append(
        self,
        connection: Connection,
        piece: Piece,
        known: Mapping[str, _Known],
        new: list[tuple[int, str, int, bytes]],
    ) -> PieceTaken:
        held = known.get(piece.recording)
        size = held.lengths.get(piece.name) if held is not None else None
        if size is None:
            if piece.offset:
                return PieceTaken("gap", detail="no part of it is here yet")
            if piece.name == EVENTS:
                if problem := no_header(piece):
                    return PieceTaken("refused", detail=problem)
            elif held is None or EVENTS not in held.lengths:
                return PieceTaken("gap", detail=f"its {EVENTS} comes first")
            size = 0
        if held is None:
            return PieceTaken("gap", detail=f"its {EVENTS} comes first")
        if piece.offset > size:
            return PieceTaken("gap", size, f"{size} bytes are here")
        there = min(size - piece.offset, len(piece.data))
        if there and _bytes(connection, held.key, piece, there, new) != piece.data[:there]:
            detail = "other bytes are stored here already, and are never overwritten"
            return PieceTaken("differs", size, detail)
        rest = piece.data[there:]
        if rest and (problem := _fault(connection, held, piece, rest, new)):
            return Damaged("refused", size, problem)
        if held.bytes + held.more + len(rest) > self._limits.recording:
            return PieceTaken(
                "refused", size, f"a recording may have at most {self._limits.recording} bytes here"
            )
        if rest and (problem := self._room.problem(size=len(rest))):
            return _Full("refused", size, problem)
        if rest:
            new.append((held.key, piece.name, size, rest))
            held.lengths[piece.name] = size + len(rest)
            held.changed.add(piece.name)
            held.more += len(rest)
        return PieceTaken("ok", max(size, piece.offset + len(piece.data)))

    def _note(self, connection: Connection, known: Mapping[str, _Known]) -> None:
        """Set a new length, time and version for recordings that have grown."""
        grown = [one for one in known.values() if one.changed]
        if not grown:
            return
        lengths = [
            {"recording": one.key, "name": name, "length": one.lengths[name]}
            for one in grown
            for name in sorted(one.changed)
        ]
        wanted = insert(FILES)
        connection.execute(
            wanted.on_conflict_do_update(
                index_elements=[FILES.c.recording, FILES.c.name], set_={"length": wanted.excluded.length}
            ),
            lengths,
        )
        connection.execute(
            update(RECORDINGS)
            .where(RECORDINGS.c.key == bindparam("held"))
            .values(
                version=VERSIONS.next_value(),
                written=CLOCK,
                bytes=RECORDINGS.c.bytes + bindparam("more"),
                # The endorsement was for the shorter recording.
                endorser="",
                endorsement="",
            ),
            [{"held": one.key, "more": one.more} for one in grown],
        )


def _bytes(
    connection: Connection, key: int, piece: Piece, count: int, new: Iterable[tuple[int, str, int, bytes]]
) -> bytes:
    """Return bytes of a file from a piece's offset on, committed or from this request."""
    end = piece.offset + count
    asked = select(CHUNKS.c.at, CHUNKS.c.data).where(
        CHUNKS.c.recording == key,
        CHUNKS.c.name == piece.name,
        CHUNKS.c.at < end,
        CHUNKS.c.at + func.length(CHUNKS.c.data) > piece.offset,
    )
    found: list[tuple[int, bytes]] = [(at, bytes(data)) for at, data in connection.execute(asked)]
    found += [(at, data) for held, name, at, data in new if (held, name) == (key, piece.name)]
    parts = [data[max(0, piece.offset - at) : max(0, end - at)] for at, data in sorted(found)]
    return b"".join(parts)


def _fault(
    connection: Connection,
    held: _Known,
    piece: Piece,
    rest: bytes,
    new: Iterable[tuple[int, str, int, bytes]],
) -> str:
    """Return the error in the sums of the lines that continue a file, or ""."""
    size = held.lengths.get(piece.name, 0)
    count = min(size, chain.LENGTH + 1)
    tail = Piece(piece.recording, piece.name, size - count, b"")
    last = _bytes(connection, held.key, tail, count, new) if count else b""
    return chain.fault(piece.name, rest, size, last)


def _note_blobs(connection: Connection, blobs: Iterable[Piece], known: Mapping[str, _Known]) -> None:
    rows = [
        {"recording": known[one.recording].key, "address": one.name, "size": len(one.data)}
        for one in blobs
        if one.recording in known
    ]
    if rows:
        connection.execute(insert(BLOBS).on_conflict_do_nothing(), rows)


def names_of(names: Iterable[str]) -> list[str]:
    """Return the names of a recording's files in the order of reading: the events first."""
    return sorted((name for name in names if FILE.fullmatch(name)), key=lambda name: (name != EVENTS, name))
