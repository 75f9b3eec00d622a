"""A team's recordings: each is downloaded into a folder on request, and read from there.

The folder is kept, and the next request fetches only new data. Replay, debugger and console read it like any other
recording's folder; nothing is written into it but data of the team's store.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from sqlalchemy import delete, func, select

from reenact.core import private
from reenact.core.model.header import ID
from reenact.core.store import shared
from reenact.core.store.base import Intake, Piece
from reenact.core.store.deleted import Tombstone
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import EVENTS, LocalStore, back_from_last
from reenact.core.store.quotas import IntakeLimits
from reenact.errors import CorruptRecording, NotARecording, RecordingError, RecordingNotFound
from reenact.team.columns import fit
from reenact.team.database import PATIENCE, Database
from reenact.team.deleting import (
    HeldRecordings,
    Hold,
    erase,
    hold,
    holds,
    note,
    readmit,
    receipts,
    release,
    tombstones,
    whoever,
)
from reenact.team.intake import TeamIntake, names_of
from reenact.team.location import TeamPlace
from reenact.team.objects import ObjectBlobs
from reenact.team.pieces import StoredPieces, append
from reenact.team.project_key import adopt, public_key
from reenact.team.receipts import Receipt, problem
from reenact.team.tables import BLOBS, CHUNKS, CLOCK, FILES, LEASES, RECORDINGS

_AT_ONCE = 8
_SWEPT = 100
_MANY = 1000
_LEASED = 86_400 * 1_000_000_000
"""Nanoseconds for which a new blob without a recording is kept."""

_HEADER = 1 << 16
_MARK = "team"
"""The name of the file with the version of a downloaded recording."""


class TeamStore(LocalStore):
    """The recordings of one project of a team's store.

    Args:
        place: The addresses of the store.
        patience: Seconds to wait for the Postgres.

    Raises:
        UsageError: The addresses are not valid. The first request shows if a server answers.
    """

    def __init__(self, place: TeamPlace, patience: int = PATIENCE) -> None:
        super().__init__(place.cache)
        self.database = Database(place, patience)
        self.blobs = ObjectBlobs(place.objects, place.project)
        self.intake: Intake = TeamIntake(self.database, self.blobs)
        self._cache = LocalIntake(
            LocalStore(self.root), IntakeLimits(recording=1 << 62, blob=1 << 62), checked=False
        )

    @property
    def place(self) -> str:
        """Its name for messages."""
        return self.database.place.name

    def close(self) -> None:
        """End its connections."""
        self.intake.close()
        self._cache.close()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- as every store --------------------------------------------------------------------------------------

    def ids(self) -> list[str]:
        """Return the ids of all recordings, the last written first. Raises StoreAway."""
        asked = self.database.recordings(RECORDINGS.c.id).where(RECORDINGS.c.version > 0)
        with self.database.begin() as connection:
            return list(connection.execute(asked.order_by(RECORDINGS.c.version.desc())).scalars())

    def beginning(self, text: str, most: int) -> list[str]:
        """Return the ids with a prefix, the last written first. Raises StoreAway.

        Args:
            text: Letters, digits, `-` and `_`.
            most: The most ids to return.
        """
        asked = self.database.recordings(RECORDINGS.c.id).where(
            RECORDINGS.c.version > 0, RECORDINGS.c.id.like(text.replace("_", r"\_") + "%")
        )
        # An equal id comes first, however many have the prefix.
        exact = (RECORDINGS.c.id == text).desc()
        with self.database.begin() as connection:
            return list(
                connection.execute(asked.order_by(exact, RECORDINGS.c.version.desc()).limit(most)).scalars()
            )

    def remove(
        self, ref: str | os.PathLike[str], *, detached: bool = False, why: str = "removed", who: str = ""
    ) -> str:
        """Delete a recording, its blobs and its local copy; return its id. Raises StoreAway."""
        id = self.named(ref)
        self.erase([id], why=why, who=who)
        return id

    def erase(self, ids: Sequence[str], *, why: str, who: str = "") -> list[Receipt]:
        """Delete recordings for good, with their local copies; return a receipt for each.

        Args:
            ids: Their whole ids.
            why: The reason, for the receipts.
            who: The person who requests it; by default the user of this process.

        Raises:
            RecordingHeld: A hold matches one of them; then none is deleted.
            StoreAway: A server does not answer.
        """
        while True:
            held = HeldRecordings(self, ids)
            for id in ids:
                held.check(id)
            with self.database.begin() as connection:
                if not held.still(connection, self.database.project):
                    continue
                asked = self.database.recordings(RECORDINGS.c.key).where(
                    RECORDINGS.c.id == func.any(list(ids))
                )
                keys = list(connection.execute(asked.order_by(RECORDINGS.c.id).with_for_update()).scalars())
                made, addresses = erase(connection, self, keys, why=why, who=who or whoever())
            break
        note(self, made, self.sweep(addresses))
        for id in ids:
            self.forget(id)
        return made

    def replace(self, id: str) -> None:
        """Delete a recording that will be sent again, without a tombstone. Raises StoreAway."""
        with self.database.begin() as connection:
            key = connection.execute(
                self.database.recordings(RECORDINGS.c.key).where(RECORDINGS.c.id == id).with_for_update()
            ).scalar()
            had = select(BLOBS.c.address).where(BLOBS.c.recording == key)
            addresses = set(connection.execute(had).scalars())
            connection.execute(delete(RECORDINGS).where(RECORDINGS.c.key == key))
        self.sweep(addresses)
        self.forget(id)

    def deleted(self, ids: Iterable[str] | None = None, *, since: int = 0) -> dict[str, Tombstone]:
        """Return the tombstones of some recordings, or all. Raises StoreAway.

        Args:
            ids: The recordings, or None for all.
            since: Only deletions since then, in nanoseconds since 1970 by the database's clock.
        """
        with self.database.begin() as connection:
            return tombstones(connection, self.database.project, ids, since=since)

    def distrusted(self, found: Sequence[Receipt]) -> dict[str, str]:
        """Return, by recording, the reasons not to trust receipts; trusted ones are left out.

        Raises StoreAway.
        """
        key = public_key(self.database)
        return {receipt["id"]: why for receipt in found if (why := problem(receipt, key))}

    def receipts(self, ids: Sequence[str] | None = None) -> list[Receipt]:
        """Return the receipts of some recordings, or all, the oldest first. Raises StoreAway."""
        with self.database.begin() as connection:
            return receipts(connection, self.database.project, ids)

    def readmit(self, id: str) -> bool:
        """Remove a recording's tombstone; return True if it had one. Raises StoreAway."""
        self.blobs.drop_receipt(id)
        with self.database.begin() as connection:
            return readmit(connection, self.database.project, id)

    def hold(self, filter: str, why: str, who: str = "") -> None:
        """Hold all recordings that match a filter. Raises FilterError, StoreAway."""
        with self.database.begin() as connection:
            hold(connection, self.database.project, filter, why, who or whoever())

    def release(self, filter: str) -> bool:
        """Remove a hold; return True if there was one. Raises StoreAway."""
        with self.database.begin() as connection:
            return release(connection, self.database.project, filter)

    def holds(self) -> list[Hold]:
        """Return the holds, the oldest first. Raises StoreAway."""
        with self.database.begin() as connection:
            return holds(connection, self.database.project)

    def forget_deleted(self) -> list[str]:
        """Delete local copies of deleted recordings; return their ids. Raises StoreAway."""
        here = LocalStore(self.root).ids()
        gone = [id for at in range(0, len(here), _MANY) for id in self.deleted(here[at : at + _MANY])]
        for id in gone:
            self.forget(id)
        return gone

    def forget(self, id: str) -> None:
        """Delete the local copy of a recording."""
        shutil.rmtree(self.folder(id), ignore_errors=True)

    def sweep(self, addresses: Iterable[str], *, dry: bool = False) -> set[str]:
        """Delete, or only list, the blobs that no recording of the project names. Raises StoreAway."""
        wanted = list(addresses)
        found: set[str] = set()
        named = select(BLOBS.c.address).join_from(RECORDINGS, BLOBS)
        named = named.where(RECORDINGS.c.project == self.database.project)
        leased = select(LEASES.c.address).where(
            LEASES.c.project == self.database.project, LEASES.c.at > CLOCK - _LEASED
        )
        for at in range(0, len(wanted), _SWEPT):
            some = wanted[at : at + _SWEPT]
            with self.database.begin() as connection:
                # No upload may rely on a blob that is being deleted.
                self.database.blobs_held(connection, alone=True)
                kept = set(connection.execute(named.where(BLOBS.c.address == func.any(some))).scalars())
                kept |= set(connection.execute(leased.where(LEASES.c.address == func.any(some))).scalars())
                gone = set(some) - kept
                found |= gone
                if gone and not dry:
                    with ThreadPoolExecutor(_AT_ONCE) as pool:
                        list(pool.map(self.blobs.remove, gone))
        return found

    def origins(self, ids: Iterable[str]) -> dict[str, shared.Parentage]:
        """Return the parents of those recordings that have one. Raises StoreAway."""
        first = func.substring(CHUNKS.c.data, 1, _HEADER)
        asked = self.database.recordings(RECORDINGS.c.id, first).join_from(RECORDINGS, CHUNKS)
        asked = asked.where(RECORDINGS.c.id == func.any(list(ids)), CHUNKS.c.name == EVENTS, CHUNKS.c.at == 0)
        with self.database.begin() as connection:
            rows = connection.execute(asked).all()
        found = {id: shared.origin_of(bytes(header).partition(b"\n")[0]) for id, header in rows}
        return {id: said for id, said in found.items() if said is not None}

    def versions(self) -> dict[str, int]:
        """Return the version of each recording, a number that grows with it. Raises StoreAway."""
        asked = self.database.recordings(RECORDINGS.c.id, RECORDINGS.c.version)
        with self.database.begin() as connection:
            rows = connection.execute(asked.where(RECORDINGS.c.version > 0))
            return {row.id: row.version for row in rows}

    def named(self, ref: str | os.PathLike[str]) -> str:
        """Return the full id. Raises RecordingNotFound, AmbiguousRecording, StoreAway."""
        path = Path(ref)
        # A path that `find` returned is accepted, too.
        id = path.name if path.parent == self.recordings else str(ref)
        if self._has(id):
            return id
        back = back_from_last(id)
        if back is not None and len(ids := self.ids()) > back:
            return ids[back]
        matches = self.beginning(id, 2) if ID.fullmatch(id) else []
        return matches[0] if len(matches) == 1 else self.find(id).name

    # -- downloading -----------------------------------------------------------------------------------------

    def bring(self, id: str, intake: Intake, *, on: bool = False) -> None:
        """Append the missing data of a recording to another store.

        Args:
            id: Its whole id.
            intake: The intake of the other store.
            on: True to trust the data that the store has, because it came from here; else it is compared.

        Raises:
            RecordingError: It does not exist, or the other store has another recording of that id.
            StoreAway: A server does not answer.
        """
        there = intake.lengths([id]).get(id, {}) if on else {}
        key, files = self._files(id)
        pieces = StoredPieces(self.database, self.place)
        for address in pieces.blobs(key):
            if not intake.has(id, address):
                # Readers of the recording report a missing blob.
                with contextlib.suppress(CorruptRecording):
                    append(intake, Piece(id, address, 0, self.blobs.get(address)))
        for name in names_of(files):
            if there.get(name, 0) > files[name]:
                raise RecordingError(
                    f"{id}: {name} is longer than in {self.place}, which has an older version"
                )
            for piece in pieces.of_file(id, key, name, there.get(name, 0)):
                append(intake, piece)

    def adopt(self, ids: Iterable[str], home: Path) -> None:
        """Store endorsements with local copies, and the project's key in a home."""
        adopt(self.database, home, {id: self.folder(id) for id in ids})

    def _has(self, id: str) -> bool:
        if not ID.fullmatch(id):
            return False
        asked = self.database.recordings(RECORDINGS.c.key).where(
            RECORDINGS.c.id == id, RECORDINGS.c.version > 0
        )
        with self.database.begin() as connection:
            return connection.execute(asked).first() is not None

    def _at_hand(self, id: str) -> Path:
        if not ID.fullmatch(id):
            raise NotARecording(f"{id[:80]!r} is no recording's id")
        folder, (key, _) = self.folder(id), self._files(id)
        try:
            mine = (folder / _MARK).read_text() == str(key)
        except OSError:
            mine = False
        if not mine:
            # The copy is of another recording of that id, which was deleted from the team's store.
            shutil.rmtree(folder, ignore_errors=True)
            private.folder(folder)
            private.write(folder / _MARK, str(key))
        try:
            self.bring(id, self._cache, on=True)
        except RecordingError:
            if not mine:
                raise
            shutil.rmtree(folder, ignore_errors=True)
            return self._at_hand(id)
        return folder

    def _called(self, name: str, ids: list[str]) -> str | None:
        asked = self.database.recordings(RECORDINGS.c.id).where(RECORDINGS.c.name == fit(name))
        with self.database.begin() as connection:
            found = connection.execute(asked.order_by(RECORDINGS.c.version.desc()).limit(1)).scalar()
        return str(found) if found is not None else None

    def _files(self, id: str) -> tuple[int, dict[str, int]]:
        asked = self.database.recordings(RECORDINGS.c.key, FILES.c.name, FILES.c.length)
        asked = asked.join_from(RECORDINGS, FILES).where(RECORDINGS.c.id == id)
        with self.database.begin() as connection:
            rows = connection.execute(asked).all()
        if not rows:
            # The copy of a deleted recording must not be read any longer.
            self.forget(id)
            raise RecordingNotFound(
                f"no recording '{id[:64]}' in {self.place}; it may have been deleted just now"
            )
        return rows[0].key, {row.name: row.length for row in rows}
