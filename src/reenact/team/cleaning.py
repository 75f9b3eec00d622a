"""Delete the expired recordings of a project, and blobs without a recording, during use.

A recording is deleted with its derived data, unless it is tagged `keep` or is being written. A blob is deleted if no
recording of the project names it; `Database.blobs_held` prevents new names meanwhile. A blob in the object store that
no recording names may belong to a current upload, so it stays until it is old.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, func, not_, or_
from sqlalchemy.dialects.postgresql import ARRAY

from reenact.core.dataclass import dataclass
from reenact.core.store.base import Progress
from reenact.team.deleting import HeldRecordings, erase, note, whoever
from reenact.team.lines import TeamLines
from reenact.team.receipts import Receipt
from reenact.team.store import TeamStore
from reenact.team.tables import RECORDINGS

KEEP = "keep"
"""The tag of recordings that are not deleted."""

_AT_ONCE = 50
_DAY = 86_400
_SECOND = 1_000_000_000


@dataclass(slots=True)
class Cleaned:
    """The deletions of a run, done or planned.

    Attributes:
        ids: Deleted recordings.
        bytes: The size of their lines.
        kept: The number of expired recordings that stay because of a tag.
        held: The number of expired recordings that stay because of a hold.
        receipts: The receipt of each of `ids` (docs/team.md); none in a dry run.
        blobs: Deleted blobs of the object store that belonged to no recording, also not to one of `ids`.
    """

    ids: list[str] = field(default_factory=list)
    bytes: int = 0
    kept: int = 0
    held: int = 0
    receipts: list[Receipt] = field(default_factory=list)
    blobs: list[str] = field(default_factory=list)


class Cleaner:
    """Cleans one project.

    Args:
        store: The project.
        now: A clock, in nanoseconds since 1970; by default the database's.
    """

    def __init__(self, store: TeamStore, now: Callable[[], int] | None = None) -> None:
        self._store = store
        self._now = now or store.database.now

    def clean(
        self, keep: int | None, *, dry: bool = False, who: str = "", progress: Progress | None = None
    ) -> Cleaned:
        """Delete recordings whose last line is older than `keep`, and blobs without a recording.

        Args:
            keep: Seconds; None for ever.
            dry: Only return the planned deletions.
            who: The person who requests it; by default the user of this process.
            progress: Called with the number of deleted recordings and their total.

        Raises:
            StoreAway: A server does not answer. Earlier deletions are not undone.
        """
        # The tags are in the summaries, which may have to be made first.
        TeamLines(self._store).renew()
        cleaned = Cleaned()
        old = self._old(keep)
        found = self._found(old)
        cleaned.kept = self._count(keep)
        held = HeldRecordings(self._store, [id for _, id, _ in found]).ids
        cleaned.held = len(held)
        found = [one for one in found if one[1] not in held]
        if dry:
            cleaned.ids, cleaned.bytes = [id for _, id, _ in found], sum(size for *_, size in found)
        why = "kept for no longer" if keep is None else f"kept for {keep / _DAY:g} days"
        for at in range(0, 0 if dry else len(found), _AT_ONCE):
            some = [key for key, _, _ in found[at : at + _AT_ONCE]]
            for id, size, receipt in self._delete(some, old, why, who or whoever()):
                cleaned.ids.append(id)
                cleaned.bytes += size
                cleaned.receipts += receipt
            if progress is not None:
                progress(min(at + _AT_ONCE, len(found)), len(found))
        cleaned.blobs = list(self._unnamed(dry=dry))
        return cleaned

    # -- within ----------------------------------------------------------------------------------------------

    def _old(self, keep: int | None) -> ColumnElement[bool]:
        now = self._now()
        # A blob was received, but no line after it: the sender has given up.
        begun = and_(
            RECORDINGS.c.version == 0, RECORDINGS.c.written > 0, RECORDINGS.c.written < now - _DAY * _SECOND
        )
        if keep is None:
            return begun
        past = and_(RECORDINGS.c.version > 0, RECORDINGS.c.written < now - keep * _SECOND)
        return or_(begun, and_(past, not_(_tagged())))

    def _count(self, keep: int | None) -> int:
        if keep is None:
            return 0
        past = RECORDINGS.c.written < self._now() - keep * _SECOND
        asked = self._store.database.recordings(func.count()).where(RECORDINGS.c.version > 0, past, _tagged())
        with self._store.database.begin() as connection:
            return int(connection.execute(asked).scalar_one())

    def _found(self, old: ColumnElement[bool]) -> list[tuple[int, str, int]]:
        columns = RECORDINGS.c.key, RECORDINGS.c.id, RECORDINGS.c.bytes
        asked = self._store.database.recordings(*columns).where(old).order_by(RECORDINGS.c.written)
        with self._store.database.begin() as connection:
            return [(row.key, row.id, row.bytes) for row in connection.execute(asked)]

    def _delete(
        self, keys: list[int], old: ColumnElement[bool], why: str = "", who: str = ""
    ) -> list[tuple[str, int, list[Receipt]]]:
        """Delete the recordings that are still expired at this moment.

        Recordings that were written to, locked or held in the meantime stay.
        """
        columns = RECORDINGS.c.key, RECORDINGS.c.id, RECORDINGS.c.bytes
        asked = self._store.database.recordings(*columns).where(RECORDINGS.c.key == func.any(keys), old)
        with self._store.database.begin() as connection:
            ids = [row.id for row in connection.execute(asked)]
        held = HeldRecordings(self._store, ids)
        asked = asked.where(RECORDINGS.c.id.not_in(held.ids))
        with self._store.database.begin() as connection:
            if not held.still(connection, self._store.database.project):
                return []
            rows = connection.execute(asked.with_for_update(skip_locked=True)).all()
            made, addresses = erase(connection, self._store, [row.key for row in rows], why=why, who=who)
        note(self._store, made, self._store.sweep(addresses))
        for row in rows:
            self._store.forget(row.id)
        return [(row.id, row.bytes, [one for one in made if one["id"] == row.id]) for row in rows]

    def _unnamed(self, *, dry: bool) -> Iterator[str]:
        """Delete old blobs of the object store without a recording, page by page; yield them."""
        young = datetime.fromtimestamp(self._now() / _SECOND, UTC).timestamp() - _DAY
        for page in self._store.blobs.pages():
            old = [address for address, moment in page if moment < young]
            unnamed = self._store.sweep(old, dry=dry)
            yield from sorted(unnamed)


def _tagged() -> Any:
    return RECORDINGS.c.tags.contains(cast([KEEP], ARRAY(Text)))
