"""A team's store beside the embedded one: `python -m benchmarks.team postgresql://… file:///folder [RECORDINGS]`.

The recordings are those of `benchmarks.search`. What is sent is 20 lines of each recording at a time, ten recordings in
a request, as a shipper sends what many agents write; a request is acknowledged when it is committed (here: on the
disk).
Each figure is of one round: both stores have the same rest of the machine's work beside them, and no more is said.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter as now

from sqlalchemy import text

from benchmarks.search import fill
from reenact.model.filter import Filter
from reenact.ship.exchange import Exchange
from reenact.store.base import Intake, Library, Piece, Store
from reenact.store.index import Index
from reenact.store.intake import LocalIntake
from reenact.store.local import EVENTS, LocalStore
from reenact.store.team.index import TeamIndex
from reenact.store.team.place import Place
from reenact.store.team.store import TeamStore

_LINES = 20
_TOGETHER = 10
_FILTERS = ("error", "tool:cancel_order and error", 'text ~ "refund"')


def main(database: str, objects: str, recordings: int = 200) -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as name:
        folder = Path(name)
        source = LocalStore(folder / "source")
        fill(source, recordings)
        ids = source.ids()
        data = {id: (source.folder(id) / EVENTS).read_bytes() for id in ids}
        events = sum(lines.count(b"\n") for lines in data.values())
        size = sum(map(len, data.values()))
        print(f"{recordings} recordings, {events} events, {size / 1e6:.0f} MB of lines")
        here = LocalStore(folder / "here")
        with closing(LocalIntake(here)) as intake:
            _row("taken in, folder", events / _taken(intake, data), "events a second")
        with closing(Index(here)) as index:
            _searches("folder", index)
        _opened("folder", here, ids)
        place = Place(database, objects, f"benchmark-{folder.name[-8:]}", folder / "cache")
        with TeamStore(place) as team:
            _row("taken in, team", events / _taken(team.intake, data), "events a second")
            _opened("team", team, ids)
            with closing(Exchange(source, team)) as exchange:
                for id in ids:
                    team.remove(id)
                began = now()
                exchange.push(ids)
                _row("pushed, and its lines made", events / (now() - began), "events a second")
            with closing(TeamIndex(team)) as there:
                _searches("team", there)
            with team.database.begin() as connection:
                asked = (
                    "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
                    " WHERE relkind = 'r' AND relnamespace = 'reenact'::regnamespace"
                )
                used = int(connection.execute(text(asked)).scalar_one())
            _row("tables and their indexes", used / size, "times the lines")
            for id in ids:
                team.remove(id)


def _row(what: str, figure: float, unit: str) -> None:
    print(f"{what:45} {figure:12,.1f} {unit}", flush=True)


def _taken(intake: Intake, data: dict[str, bytes]) -> float:
    """The seconds that it takes to take all in."""
    all_ = list(requests(data))
    began = now()
    for pieces in all_:
        assert all(one.status == "ok" for one in intake.take(pieces))
    return now() - began


def requests(data: dict[str, bytes]) -> Iterator[Sequence[Piece]]:
    ids = list(data)
    for at in range(0, len(ids), _TOGETHER):
        parts = {id: data[id].splitlines(keepends=True) for id in ids[at : at + _TOGETHER]}
        offsets = dict.fromkeys(parts, 0)
        for start in range(0, max(map(len, parts.values())), _LINES):
            pieces = []
            for id, lines in parts.items():
                piece = b"".join(lines[start : start + _LINES])
                if piece:
                    pieces.append(Piece(id, EVENTS, offsets[id], piece))
                    offsets[id] += len(piece)
            yield pieces


def _searches(name: str, index: Library) -> None:
    began = now()
    index.summaries()
    _row(f"first list, {name}", (now() - began) * 1000, "ms")
    for filter in ("", *_FILTERS):
        began = now()
        found = len(list(index.search(Filter(filter)))) if filter else len(index.summaries())
        _row(f"{filter or 'list'} ({found}), {name}", (now() - began) * 1000, "ms")


def _opened(name: str, store: Store, ids: Sequence[str]) -> None:
    for time in ("first", "second"):
        some = ids[:20]
        began = now()
        for id in some:
            store.load(id)
        _row(f"opened, the {time} time, {name}", (now() - began) * 1000 / len(some), "ms")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:4]))
