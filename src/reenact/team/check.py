"""Check a project of a team's store, and repair it: `reenact fsck --team`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import orjson
from sqlalchemy import delete, func, select, update

from reenact.core.store.base import Progress
from reenact.core.store.check import StoreChecked, StoreFault
from reenact.errors import CorruptRecording
from reenact.team.deleting import receipts, tombstones
from reenact.team.lines import TeamLines
from reenact.team.store import TeamStore
from reenact.team.tables import BLOBS, CHUNKS, CLOCK, FILES, LEASES, RECORDINGS, STEPS, TOMBSTONES

_DAY = 86_400
_NANO = 1_000_000_000
_AT_ONCE = 8


class TeamCheck:
    """Checks one project of a team's store.

    Args:
        store: The project.
        repair: Repair the findings where possible.
    """

    def __init__(self, store: TeamStore, *, repair: bool = False) -> None:
        self._store = store
        self._repair = repair
        self._found = StoreChecked()

    def run(self, progress: Progress | None = None) -> StoreChecked:
        """Check the whole project. Raises StoreAway."""
        TeamLines(self._store).renew(progress)
        self._found.recordings = len(self._store.ids())
        self._lengths()
        self._broken()
        self._stuck()
        self._deleted()
        self._blobs()
        return self._found

    # -- the database ----------------------------------------------------------------------------------------

    def _lengths(self) -> None:
        """Find files with missing lines."""
        size = func.coalesce(func.sum(func.length(CHUNKS.c.data)), 0)
        asked = (
            self._store.database.recordings(RECORDINGS.c.id, FILES.c.name, FILES.c.length, size)
            .join_from(RECORDINGS, FILES)
            .outerjoin(CHUNKS, (CHUNKS.c.recording == FILES.c.recording) & (CHUNKS.c.name == FILES.c.name))
            .group_by(RECORDINGS.c.id, FILES.c.name, FILES.c.length)
            .having(size != FILES.c.length)
        )
        with self._store.database.begin() as connection:
            rows = connection.execute(asked).all()
        for id, name, length, there in rows:
            self._say(
                "missing lines", f"{id}/{name}", f"it has {there} of {length} bytes; restore it from a backup"
            )

    def _broken(self) -> None:
        """Find recordings that cannot be summarised.

        They are read again, because another version of Reenact may succeed.
        """
        columns = RECORDINGS.c.key, RECORDINGS.c.id, RECORDINGS.c.broken
        asked = self._store.database.recordings(*columns).where(RECORDINGS.c.broken != "")
        with self._store.database.begin() as connection:
            rows = connection.execute(asked.order_by(RECORDINGS.c.id)).all()
        for key, id, why in rows:
            self._say("broken", id, why, partial(self._read_again, key, id))
        steps = select(func.count()).where(STEPS.c.recording == RECORDINGS.c.key).scalar_subquery()
        odd = self._store.database.recordings(RECORDINGS.c.key, RECORDINGS.c.id).where(
            RECORDINGS.c.broken == "", RECORDINGS.c.known > 0, RECORDINGS.c.steps != steps
        )
        with self._store.database.begin() as connection:
            rows = connection.execute(odd).all()
        for key, id in rows:
            why = "its entry and its steps do not match"
            self._say("wrong index", id, why, partial(self._read_again, key, id))

    def _read_again(self, key: int, id: str) -> str:
        with self._store.database.begin() as connection:
            connection.execute(update(RECORDINGS).where(RECORDINGS.c.key == key).values(known=0))
        self._store.forget(id)
        TeamLines(self._store).renew()
        asked = select(RECORDINGS.c.broken).where(RECORDINGS.c.key == key)
        with self._store.database.begin() as connection:
            still = connection.execute(asked).scalar()
        return "read again: it is still broken, and is listed as broken" if still else "read again"

    def _stuck(self) -> None:
        """Find uploads without progress for a day."""
        old = CLOCK - _DAY * _NANO
        begun = (RECORDINGS.c.version == 0) & (RECORDINGS.c.written < old)
        with self._store.database.begin() as connection:
            rows = connection.execute(
                self._store.database.recordings(RECORDINGS.c.key, RECORDINGS.c.id).where(begun)
            ).all()
            leased = select(LEASES.c.key, LEASES.c.address).where(
                LEASES.c.project == self._store.database.project, LEASES.c.at < old
            )
            leases = connection.execute(leased).all()
        for key, id in rows:
            gone = delete(RECORDINGS).where(RECORDINGS.c.key == key, RECORDINGS.c.version == 0)
            self._say(
                "stuck upload", id, "a blob was received, and no line for a day", partial(self._run, gone)
            )
        for key, address in leases:
            gone = delete(LEASES).where(LEASES.c.key == key)
            why = "its upload has not ended for a day"
            self._say("stuck upload", f"{address[:19]}…", why, partial(self._run, gone))

    def _deleted(self) -> None:
        """Find recordings that have a tombstone, and receipts that are missing beside the blobs."""
        project = self._store.database.project
        both = self._store.database.recordings(RECORDINGS.c.key, RECORDINGS.c.id).where(
            RECORDINGS.c.id.in_(
                select(TOMBSTONES.c.id).where(TOMBSTONES.c.project == project, TOMBSTONES.c.until > CLOCK)
            )
        )
        with self._store.database.begin() as connection:
            rows = connection.execute(both).all()
            stones = tombstones(connection, project)
            made = {receipt["id"]: receipt for receipt in receipts(connection, project, stones)}
        for key, id in rows:
            gone = delete(RECORDINGS).where(RECORDINGS.c.key == key)
            self._say("deleted", id, stones[id].told, partial(self._run, gone))
        there = {receipt["id"] for receipt in self._store.blobs.receipts()}
        for id in sorted(made.keys() - there):
            data = orjson.dumps(made[id], option=orjson.OPT_INDENT_2)
            why = "it is missing in the object store: a restored backup would bring the recording back"
            self._say("missing receipt", id, why, partial(self._keep, id, data))

    # -- the object store ------------------------------------------------------------------------------------

    def _blobs(self) -> None:
        asked = self._store.database.recordings(BLOBS.c.address, func.min(RECORDINGS.c.id))
        asked = asked.join_from(RECORDINGS, BLOBS).group_by(BLOBS.c.address)
        with self._store.database.begin() as connection:
            named = {row[0]: row[1] for row in connection.execute(asked)}
        there: dict[str, float] = {}
        for page in self._store.blobs.pages():
            there.update(page)
        for address in sorted(named.keys() - there.keys()):
            self._say("missing blob", f"{named[address]}/{address[:19]}…", "restore it in the object store")
        self._found.blobs = len(there)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for address, why in pool.map(self._read, sorted(there)):
                if why:
                    self._say("damaged blob", f"{named.get(address, '-')}/{address[:19]}…", why)
        old = self._store.database.now() / _NANO - _DAY
        loose = [one for one, moment in there.items() if one not in named and moment < old]
        for address in sorted(self._store.sweep(loose, dry=True)):
            why = "no recording names it"
            self._say("unneeded blob", f"{address[:19]}…", why, partial(self._swept, [address]))

    def _read(self, address: str) -> tuple[str, str]:
        try:
            self._store.blobs.get(address)
        except CorruptRecording as error:
            return address, str(error)
        return address, ""

    # -- within ----------------------------------------------------------------------------------------------

    def _run(self, statement: object) -> str:
        with self._store.database.begin() as connection:
            connection.execute(statement)  # type: ignore[call-overload]
        return "removed"

    def _keep(self, id: str, data: bytes) -> str:
        self._store.blobs.keep_receipt(id, data)
        return "written"

    def _swept(self, addresses: Iterable[str]) -> str:
        self._store.sweep(addresses)
        return "removed"

    def _say(self, kind: str, what: str, detail: str, repair: Callable[[], str] | None = None) -> None:
        done = repair() if self._repair and repair is not None else ""
        self._found.findings.append(StoreFault(kind, what, detail, done))
