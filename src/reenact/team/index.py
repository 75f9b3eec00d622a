"""A team's index of recordings in Postgres, with columns for the most used filters.

Recordings without a summary are read first, and their summaries are stored for all users. Only the shown page is
fetched, the newest first. The `path` of a line exists once `TeamStore.find` has downloaded the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import and_, cast, func, or_, select, text, true
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text

from reenact.core.model.storable import storable
from reenact.core.query.filter import Filter
from reenact.core.query.summary import Summary
from reenact.core.store.base import COLUMNS, FACTS, TEXTS, Hit, Listed, Looked, Progress
from reenact.core.store.blocks import Blocks
from reenact.core.store.details import PARTS, Details
from reenact.core.store.writer import warn
from reenact.errors import RecordingError
from reenact.team.columns import fit, unfit
from reenact.team.conditions import Condition
from reenact.team.lines import LATER, LINE, TeamLines
from reenact.team.plan import SearchPlan, Step
from reenact.team.tables import DETAILS, META, RECORDINGS, STEPS

_NEWEST = 128
"""Recordings that are searched in the order of the list before indexes are used."""

_FIRST = 64
_MOST = 1024
_SOME = 2000
_AT_ONCE = 500
_WORDED = 1000
_ORDER = RECORDINGS.c.moment.desc(), RECORDINGS.c.written.desc(), RECORDINGS.c.id.collate("C")

_KINDS = text(f"""
    WITH RECURSIVE each AS (
        (SELECT kind FROM {META.schema}.steps ORDER BY kind LIMIT 1)
        UNION ALL
        SELECT (SELECT kind FROM {META.schema}.steps WHERE kind > each.kind ORDER BY kind LIMIT 1)
        FROM each WHERE each.kind IS NOT NULL
    )
    SELECT kind FROM each WHERE kind IS NOT NULL
""")  # noqa: S608 - one lookup in the index for each kind

_NEIGHBOURS = text(f"""
    SELECT unnest(ARRAY[
        (SELECT max(id COLLATE "C") FROM {META.schema}.recordings
         WHERE project = :project AND id COLLATE "C" < shown.id AND version > 0),
        (SELECT min(id COLLATE "C") FROM {META.schema}.recordings
         WHERE project = :project AND id COLLATE "C" > shown.id AND version > 0)
    ]) FROM unnest(CAST(:ids AS text[])) AS shown (id)
""")  # noqa: S608

Row = Any


class TeamIndex(TeamLines):
    """Finds the recordings of one project of a team's store, and their summaries."""

    def close(self) -> None:
        """Do nothing: no resource is open."""

    def summaries(self, progress: Progress | None = None) -> list[Summary]:
        """Return all recordings, the newest first. Raises StoreAway."""
        return [hit.summary for hit in self._listed(Filter(""), true(), progress)]

    def search(
        self, wanted: Filter, *, limit: int | None = None, progress: Progress | None = None
    ) -> Iterator[Hit]:
        """Yield the recordings that match a filter, the newest first. Raises StoreAway."""
        return islice(self._listed(wanted, RECORDINGS.c.broken == "", progress), limit)

    def listed(
        self,
        wanted: Filter,
        *,
        status: str = "",
        tags: Sequence[str] = (),
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Listed:
        """Return the recordings of a filter, a status and tags; no filter includes broken ones.

        Raises StoreAway.
        """
        meant: list[Condition] = [true()]
        if wanted.text.strip() or status not in ("", "broken"):
            meant.append(RECORDINGS.c.broken == "")
        if status:
            meant.append(RECORDINGS.c.broken != "" if status == "broken" else RECORDINGS.c.status == status)
        if tags:
            meant.append(RECORDINGS.c.tags.contains(cast(fit(tuple(tags)), ARRAY(Text))))
        more = None if limit is None else limit + 1
        looked = Looked(COLUMNS) if wanted.about_steps else None
        hits = list(islice(self._listed(wanted, and_(*meant), progress, looked), more))
        shown = hits[:limit]
        return Listed(shown, len(hits) if len(hits) == len(shown) else None, self._told_apart(shown), looked)

    def meant(self, wanted: Filter, ids: Sequence[str]) -> set[str]:
        """Return those of some recordings that match a filter, and those that are broken.

        Raises:
            StoreAway: The store does not answer.
        """
        found: set[str] = set()
        for at in range(0, len(ids), _AT_ONCE):
            some = list(ids[at : at + _AT_ONCE])
            among = RECORDINGS.c.id == func.any(some)
            broken = self.store.database.recordings(RECORDINGS.c.id).where(among, RECORDINGS.c.broken != "")
            found |= {
                hit.summary.id for hit in self._listed(wanted, and_(among, RECORDINGS.c.broken == ""), None)
            }
            with self.store.database.begin() as connection:
                found |= set(connection.execute(broken).scalars())
        return found

    def count(self) -> int:
        """Return the number of recordings. Raises StoreAway."""
        asked = self.store.database.recordings(func.count()).where(RECORDINGS.c.version > 0)
        with self.store.database.begin() as connection:
            return int(connection.execute(asked).scalar_one())

    def kinds(self) -> set[str]:
        """Return all kinds of effects, of any project. Raises StoreAway."""
        with self.store.database.begin() as connection:
            return set(connection.execute(_KINDS).scalars())

    def folder_of(self, line: Summary) -> Path:
        """Download a recording; return its folder. Raises RecordingNotFound, StoreAway."""
        return self.store.find(line.id)

    # -- within ----------------------------------------------------------------------------------------------

    def _listed(
        self, wanted: Filter, meant: Condition, progress: Progress | None, looked: Looked | None = None
    ) -> Iterator[Hit]:
        self.renew(progress)
        plan = SearchPlan(wanted, self.store.database.project)
        if plan.by_facts:
            self.fact_some(_WORDED)
        elif plan.parts:
            self.word_some(_WORDED)
        if looked is not None:
            looked.index = FACTS if plan.by_facts else TEXTS if plan.parts else COLUMNS
        last: Row | None = None
        size = _FIRST
        if wanted.about_steps and not plan.by_facts:
            # Frequent values are soon found among the newest, and no index knows how frequent a word is.
            rows, hits = self._page(plan, and_(meant, plan.heads), last, _NEWEST, looked)
            yield from hits
            if len(rows) == _NEWEST:
                yield from self._beyond(plan, and_(meant, plan.recordings), rows[-1], looked)
            return
        while True:
            rows, hits = self._page(plan, and_(meant, plan.recordings), last, size, looked)
            yield from hits
            if len(rows) < size:
                return
            last, size = rows[-1], min(2 * size, _MOST)

    def _beyond(
        self, plan: SearchPlan, meant: Condition, last: Row | None, looked: Looked | None
    ) -> Iterator[Hit]:
        """Yield the recordings after a line that match a condition, all from one query."""
        size: int | None = _SOME
        while True:
            keys = RECORDINGS.c.key, RECORDINGS.c.moment, RECORDINGS.c.written, RECORDINGS.c.id
            asked = self.store.database.recordings(*keys).where(RECORDINGS.c.known > 0, meant, _after(last))
            with self.store.database.snapshot() as connection:
                found = connection.execute(asked.order_by(*_ORDER).limit(size)).all()
            for at in range(0, len(found), _AT_ONCE):
                some = [row.key for row in found[at : at + _AT_ONCE]]
                yield from self._page(plan, RECORDINGS.c.key == func.any(some), None, _AT_ONCE, looked)[1]
            if size is None or len(found) < size:
                return
            last, size = found[-1], None

    def _page(
        self, plan: SearchPlan, meant: Condition, last: Row | None, size: int, looked: Looked | None = None
    ) -> tuple[Sequence[Row], list[Hit]]:
        """Return the next lines for which a condition holds, and the hits among them."""
        columns = [RECORDINGS.c.key, *(RECORDINGS.c[name] for name in LINE)]
        asked = self.store.database.recordings(*columns).where(RECORDINGS.c.known > 0, meant, _after(last))
        steps: dict[int, list[Step]] = {}
        blocks: dict[tuple[int, str], bytes] = {}
        with self.store.database.snapshot() as connection:
            rows = connection.execute(asked.order_by(*_ORDER).limit(size)).all()
            keys = [row.key for row in rows]
            if plan.about_steps:
                wanted = select(STEPS.c.recording, *(STEPS.c[name] for name in plan.columns))
                wanted = wanted.where(STEPS.c.recording == func.any(keys), plan.steps)
                for key, *step in connection.execute(wanted):
                    said = dict(zip(plan.columns, map(unfit, step), strict=True))
                    steps.setdefault(key, []).append(said)
            if plan.parts and steps:
                parts = [PARTS.index(name) for name in plan.parts]
                packed = select(DETAILS.c.recording, DETAILS.c.part, DETAILS.c.data).where(
                    DETAILS.c.recording == func.any(list(steps)), DETAILS.c.part.in_(parts)
                )
                for key, part, data in connection.execute(packed):
                    blocks[key, PARTS[part]] = bytes(data)
        if looked is not None:
            looked.add(len(rows), sum(map(len, steps.values())))
        return rows, list(self._meant(plan, rows, steps, blocks))

    def _meant(
        self,
        plan: SearchPlan,
        rows: Sequence[Row],
        steps: Mapping[int, list[Step]],
        blocks: Mapping[tuple[int, str], bytes],
    ) -> Iterator[Hit]:
        with Blocks(lambda key, name: blocks[key, name]) as ahead:
            ahead.expect(plan.parts[0] if plan.parts else None, steps)
            for row in rows:
                line = self._line(row)
                details = Details(partial(self.folder_of, line), partial(ahead.block, row.key))
                try:
                    found = plan.meant(line, steps.get(row.key, ()), details)
                except RecordingError as error:
                    warn(f"{line.id} is left out: {error}")
                    continue
                if found is not None:
                    yield Hit(line, found)

    def _line(self, row: Row) -> Summary:
        said = {name: _readable(getattr(row, name)) for name in LINE}
        for name in LATER:
            # An earlier version has written the line.
            said[name] = said[name] or ""
        return Summary(path=str(self.store.folder(row.id)), **said)

    def _told_apart(self, hits: Sequence[Hit]) -> list[str]:
        """Return the ids of hits, with the next smaller and greater id of each."""
        ids = [hit.summary.id for hit in hits]
        with self.store.database.begin() as connection:
            near = connection.execute(
                _NEIGHBOURS, {"project": self.store.database.project, "ids": ids}
            ).scalars()
            return [*dict.fromkeys([*ids, *(id for id in near if id is not None)])]


def _readable(value: Any) -> Any:
    """Return a column's value, without the unprintable characters of earlier versions."""
    if isinstance(value, list):
        return tuple(map(_readable, value))
    return storable(unfit(value)) if isinstance(value, str) else value


def _after(last: Row | None) -> Condition:
    """Return the condition for all lines after that one, in the order of lists."""
    if last is None:
        return true()
    moment, written, id = RECORDINGS.c.moment, RECORDINGS.c.written, RECORDINGS.c.id.collate("C")
    same = or_(written < last.written, and_(written == last.written, id > last.id))
    return and_(moment <= last.moment, or_(moment < last.moment, same))
