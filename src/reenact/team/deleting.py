"""Delete recordings of a team's store for good, with receipts and respect for holds.

A deletion is one transaction: it locks the recordings, checks that no hold matches them, writes a tombstone with a
receipt for each, and deletes them. Their blobs are deleted afterwards, unless another recording names them. A
tombstone prevents a new upload of the recording. All times are the database's.
"""

from __future__ import annotations

import getpass
import hashlib
import shlex
import socket
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Protocol

import orjson
from sqlalchemy import Connection, Text, cast, delete, func, literal_column, select, update
from sqlalchemy.dialects.postgresql import BYTEA, aggregate_order_by, insert

from reenact.core.dataclass import dataclass
from reenact.core.model.storable import storable
from reenact.core.query.filter import Filter
from reenact.core.store.deleted import LASTS, Tombstone
from reenact.errors import RecordingHeld
from reenact.team.columns import fit
from reenact.team.database import Database
from reenact.team.objects import ObjectBlobs
from reenact.team.project_key import private_key
from reenact.team.receipts import Receipt, sign
from reenact.team.tables import BLOBS, CHUNKS, CLOCK, FILES, HOLDS, RECORDINGS, TOMBSTONES

_SECOND = 1_000_000_000
_AT_ONCE = 64 << 20
"""Bytes of the largest file that the database hashes.

A larger one is hashed here, piece by piece.
"""

_LONGEST = 1000
"""Most characters of a reason."""

_LOCK = 0x686F6C64
"""The number of the lock for setting holds, and for checking them before a deletion."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold: recordings that match the filter are not deleted.

    `at` is in nanoseconds since 1970.
    """

    key: int
    filter: str
    why: str
    who: str
    at: int


def whoever() -> str:
    """Return the user and the machine of this process."""
    try:
        return f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError, ImportError):
        return socket.gethostname()


# -- tombstones ------------------------------------------------------------------------------------------------------


def tombstones(
    connection: Connection, project: int, ids: Iterable[str] | None = None, *, since: int = 0
) -> dict[str, Tombstone]:
    """Return the tombstones in force, by recording id.

    `ids` limits the recordings, `since` the time of deletion.
    """
    columns = TOMBSTONES.c.id, TOMBSTONES.c.at, TOMBSTONES.c.until, TOMBSTONES.c.why, TOMBSTONES.c.who
    asked = select(*columns).where(TOMBSTONES.c.project == project, TOMBSTONES.c.until > CLOCK)
    if ids is not None:
        asked = asked.where(TOMBSTONES.c.id == func.any(list(ids)))
    if since:
        asked = asked.where(TOMBSTONES.c.at >= since)
    return {row.id: Tombstone(*row) for row in connection.execute(asked.order_by(TOMBSTONES.c.at))}


def receipts(connection: Connection, project: int, ids: Iterable[str] | None = None) -> list[Receipt]:
    """Return the stored receipts of these recordings, or all, the oldest first."""
    asked = select(TOMBSTONES.c.receipt).where(TOMBSTONES.c.project == project)
    if ids is not None:
        asked = asked.where(TOMBSTONES.c.id == func.any(list(ids)))
    return [orjson.loads(text) for text in connection.execute(asked.order_by(TOMBSTONES.c.at)).scalars()]


def readmit(connection: Connection, project: int, id: str) -> bool:
    """Remove a tombstone, so that a recording of that id is accepted again.

    Returns True if there was one.
    """
    gone = delete(TOMBSTONES).where(TOMBSTONES.c.project == project, TOMBSTONES.c.id == id)
    return bool(connection.execute(gone).rowcount)


# -- holds -----------------------------------------------------------------------------------------------------------


def holds(connection: Connection, project: int) -> list[Hold]:
    """Return the holds of a project, the oldest first."""
    columns = HOLDS.c.key, HOLDS.c.filter, HOLDS.c.why, HOLDS.c.who, HOLDS.c.at
    return [
        Hold(*row)
        for row in connection.execute(
            select(*columns).where(HOLDS.c.project == project).order_by(HOLDS.c.key)
        )
    ]


def hold(connection: Connection, project: int, text: str, why: str, who: str) -> None:
    """Hold all recordings that match a filter, now and later. Raises FilterError if invalid."""
    Filter(text)
    _locked(connection, project, alone=True)
    values = {"why": fit(storable(why, _LONGEST)), "who": fit(storable(who, _LONGEST)), "at": CLOCK}
    wanted = insert(HOLDS).values(project=project, filter=text, **values)
    connection.execute(
        wanted.on_conflict_do_update(index_elements=[HOLDS.c.project, HOLDS.c.filter], set_=values)
    )


def release(connection: Connection, project: int, text: str) -> bool:
    """Remove a hold, by its filter. Returns True if there was one."""
    _locked(connection, project, alone=True)
    gone = delete(HOLDS).where(HOLDS.c.project == project, HOLDS.c.filter == text)
    return bool(connection.execute(gone).rowcount)


class DeletingStore(Protocol):
    """The part of a project's store that deleting needs."""

    database: Database
    blobs: ObjectBlobs

    @property
    def place(self) -> str:
        """The name of the store, for receipts."""


class HeldRecordings:
    """The holds that match some recordings.

    A broken recording is held by every hold, because its filter cannot be evaluated.

    Args:
        store: The project.
        ids: The recordings.
    """

    def __init__(self, store: DeletingStore, ids: Sequence[str]) -> None:
        with store.database.begin() as connection:
            self._holds = holds(connection, store.database.project)
        self._place = store.database.place
        self._by: dict[str, Hold] = {}
        if self._holds:
            # The search imports the store, which imports this module.
            index = import_module("reenact.team.index").TeamIndex(store)
            for one in self._holds:
                for id in index.meant(Filter(one.filter), ids):
                    self._by.setdefault(id, one)

    @property
    def ids(self) -> set[str]:
        """The held recordings."""
        return set(self._by)

    def still(self, connection: Connection, project: int) -> bool:
        """Return True if the holds are unchanged since the check.

        None can be added until the transaction ends.
        """
        _locked(connection, project)
        return [one.key for one in holds(connection, project)] == [one.key for one in self._holds]

    def check(self, id: str) -> None:
        """Raise RecordingHeld if a hold matches the recording."""
        found = self._by.get(id)
        if found is not None:
            raise RecordingHeld(
                f"{id} is held by '{found.filter}' ({found.why}, by {found.who}): "
                f"`reenact team hold remove {shlex.quote(found.filter)}{self._place.options()}` removes the hold"
            )


def _locked(connection: Connection, project: int, *, alone: bool = False) -> None:
    take = func.pg_advisory_xact_lock if alone else func.pg_advisory_xact_lock_shared
    connection.execute(select(take(_LOCK, project)))


# -- deleting --------------------------------------------------------------------------------------------------------


def erase(
    connection: Connection, store: DeletingStore, keys: Sequence[int], *, why: str, who: str
) -> tuple[list[Receipt], set[str]]:
    """Delete recordings locked by this transaction; write a tombstone and receipt for each.

    Args:
        connection: The connection, in its transaction.
        store: The project.
        keys: The recordings' keys.
        why: The reason.
        who: The person or key that requests it.

    Returns:
        The receipts, and the addresses of the blobs that the recordings named. The caller deletes those that no other
        recording names.
    """
    seed = private_key(store.database)
    rows = connection.execute(
        select(
            RECORDINGS.c.key, RECORDINGS.c.id, RECORDINGS.c.name, RECORDINGS.c.started, CLOCK.label("now")
        ).where(
            RECORDINGS.c.key == func.any(list(keys)),
            # A recording that has no line yet gets no tombstone, because its sender may go on.
            RECORDINGS.c.version > 0,
        )
    ).all()
    files = _digests(connection, keys)
    blobs: dict[int, dict[str, int]] = {}
    named = select(BLOBS.c.recording, BLOBS.c.address, BLOBS.c.size)
    for key, address, size in connection.execute(named.where(BLOBS.c.recording == func.any(list(keys)))):
        blobs.setdefault(key, {})[address] = size
    made: list[Receipt] = []
    for row in rows:
        had = blobs.get(row.key, {})
        receipt = {
            "receipt": 1, "store": store.place, "project": store.database.place.project, "id": row.id,
            "name": row.name, "started": row.started,
            "deleted": datetime.fromtimestamp(row.now / _SECOND, UTC).isoformat(timespec="milliseconds"),
            "at": row.now, "until": row.now + LASTS * _SECOND,
            "why": storable(why, _LONGEST), "who": storable(who, _LONGEST), "files": files.get(row.key, {}),
            "blobs": {"named": len(had), "bytes": sum(had.values()), "addresses": sorted(had)},
        }  # fmt: skip
        made.append(sign(receipt, seed) if seed is not None else receipt)
    _write_tombstones(connection, store.database.project, made)
    connection.execute(delete(RECORDINGS).where(RECORDINGS.c.key == func.any(list(keys))))
    return made, {address for had in blobs.values() for address in had}


def _write_tombstones(connection: Connection, project: int, made: Sequence[Receipt]) -> None:
    if not made:
        return
    stones = [
        {
            "project": project, "id": receipt["id"], "at": receipt["at"], "until": receipt["until"],
            "why": fit(receipt["why"]), "who": fit(receipt["who"]), "receipt": orjson.dumps(receipt).decode(),
        }
        for receipt in made
    ]  # fmt: skip
    wanted = insert(TOMBSTONES)
    new = {name: wanted.excluded[name] for name in ("at", "until", "why", "who", "receipt")}
    connection.execute(
        wanted.on_conflict_do_update(index_elements=[TOMBSTONES.c.project, TOMBSTONES.c.id], set_=new), stones
    )


def note(store: DeletingStore, made: Sequence[Receipt], gone: set[str]) -> None:
    """Complete receipts with the number of named blobs that were deleted.

    The receipts are stored beside the blobs, too, so that a restored backup does not undo later deletions.
    """
    seed = private_key(store.database) if made else None
    for receipt in made:
        receipt["blobs"]["deleted"] = len(gone.intersection(receipt["blobs"]["addresses"]))
        if seed is not None:
            receipt.update(sign(receipt, seed))
    with store.database.begin() as connection:
        for receipt in made:
            connection.execute(
                update(TOMBSTONES)
                .where(TOMBSTONES.c.project == store.database.project, TOMBSTONES.c.id == receipt["id"])
                .values(receipt=orjson.dumps(receipt).decode())
            )
    for receipt in made:
        store.blobs.keep_receipt(receipt["id"], orjson.dumps(receipt, option=orjson.OPT_INDENT_2))


def _digests(connection: Connection, keys: Sequence[int]) -> dict[int, dict[str, dict[str, Any]]]:
    """Return the length and the sha256 of each file of some recordings."""
    found: dict[int, dict[str, dict[str, Any]]] = {}
    lengths = select(FILES.c.recording, FILES.c.name, FILES.c.length).where(
        FILES.c.recording == func.any(list(keys))
    )
    known = {(row.recording, row.name): row.length for row in connection.execute(lengths)}
    short = [key for key in keys if all(size <= _AT_ONCE for (one, _), size in known.items() if one == key)]
    whole = func.string_agg(CHUNKS.c.data, aggregate_order_by(cast(literal_column("''"), BYTEA), CHUNKS.c.at))
    asked = select(CHUNKS.c.recording, CHUNKS.c.name, cast(func.encode(func.sha256(whole), "hex"), Text))
    asked = asked.where(CHUNKS.c.recording == func.any(short)).group_by(CHUNKS.c.recording, CHUNKS.c.name)
    digests = {(key, name): digest for key, name, digest in connection.execute(asked)}
    for (key, name), length in known.items():
        digest = digests.get((key, name)) or _digest(connection, key, name)
        found.setdefault(key, {})[name] = {"bytes": length, "sha256": digest}
    return found


def _digest(connection: Connection, key: int, name: str) -> str:
    digest, at = hashlib.sha256(), -1
    asked = select(CHUNKS.c.at, CHUNKS.c.data).where(CHUNKS.c.recording == key, CHUNKS.c.name == name)
    while row := connection.execute(asked.where(CHUNKS.c.at > at).order_by(CHUNKS.c.at).limit(1)).first():
        at = row.at
        digest.update(bytes(row.data))
    return digest.hexdigest()
