"""A fleet here and on a Ray cluster of one node, side by side: `python -m benchmarks.fleet [RUNS] [ROUNDS] [MANY]`.

Both engines replay the same recordings in the same number of processes, in turns, so that both have the same rest of
the machine's work beside them; of each the best round counts. The rate is that of the replays once the first has come;
how long the first took is said apart, for it is paid once, whatever comes after it.

    replays of nothing, and of 50 ms of CPU     replays a second and core, and the CPU for one
    many recordings                             the memory of the two processes that know of all of them
    what goes along with a task                 packing one recording; with a team's store, fetching one

Ray starts some dozen processes, and binds ports: `python -m tests.verbs.verify.apart python -m benchmarks.fleet` runs
it in a network and a process table of its own. Only there the CPU can be told, and it says more than the clock where
others are at work on the machine.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import perf_counter as now
from time import process_time

from benchmarks.workers import Broken
from reenact.core.store.local import LocalStore
from reenact.team.location import TeamPlace
from reenact.verbs.verify import Outcome, verification, verify
from reenact.verbs.verify.actor import packed
from reenact.verbs.verify.cluster import Cluster
from reenact.verbs.verify.engine import Engine, Local

_CORES = len(os.sched_getaffinity(0))
_PROGRAM = """
import reenact

@reenact.tool
def look(number):
    return {{"number": number, "found": "x" * 200}}

@reenact.recorded
def agent(start):
    found = sum(look(start + number)["number"] for number in range(10))
    sum(range({work}))
    return found
"""


@dataclass(slots=True)
class Measured:
    """One fleet.

    Attributes:
        first: Seconds until the first outcome.
        rate: Replays a second from then on.
        cpu: Seconds of CPU for each of them, all processes of the engine together; 0 where that cannot be told.
        memory: MB at most of this process, and of the one that speaks with Ray.
    """

    first: float
    rate: float
    cpu: float
    memory: dict[str, float] = field(default_factory=dict)


def main(runs: int = 400, rounds: int = 3, many: int = 10_000) -> None:
    """Measure, and print."""
    print(f"{_CORES} cores, load {os.getloadavg()[0]:.1f}, Ray {version('ray')}, best of {rounds} rounds")
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as name:
        os.chdir(name)
        for milliseconds in (50, 0):
            home = _recorded(Path(name), milliseconds, runs)
            _compared(home, milliseconds, runs, rounds)
        _much(home, many)
        _carried(home)


def _compared(home: Path, milliseconds: int, runs: int, rounds: int) -> None:
    found: dict[str, list[Measured]] = {"local": [], "Ray": []}
    for _ in range(rounds):
        found["local"].append(_measured(home, Local(_CORES)))
        found["Ray"].append(_measured(home, Cluster(workers=_CORES)))
    best = {engine: max(one.rate for one in all_) for engine, all_ in found.items()}
    print(f"\n{runs} replays of {milliseconds} ms, load {os.getloadavg()[0]:.1f}")
    for engine, all_ in found.items():
        rates = ", ".join(f"{one.rate / _CORES:.1f}" for one in all_)
        first = min(one.first for one in all_)
        cpu = min(one.cpu for one in all_) * 1000
        print(
            f"  {engine:6} {best[engine] / _CORES:7.1f} a second and core ({rates}), {cpu:.1f} ms of CPU each; "
            f"the first after {first:.1f} s"
        )
    print(f"  by the clock the local engine is {best['local'] / best['Ray']:.2f} times as fast")
    if ours := min(one.cpu for one in found["local"]):
        print(
            f"  by the CPU Ray's replay costs {min(one.cpu for one in found['Ray']) / ours:.2f} times as much"
        )


def _measured(home: Path, engine: Engine) -> Measured:
    came: list[float] = []
    used: list[float] = []

    def one_more(_: Outcome) -> None:
        came.append(now())
        if len(came) in {1, len(ids)}:
            used.append(_cpu())

    memory: dict[str, float] = {}
    store = LocalStore(home)
    ids = store.ids()
    over = threading.Event()
    watching = threading.Thread(target=_watch, args=(memory, over))
    watching.start()
    began = now()
    try:
        outcomes = verify(ids, entry="program:agent", home=home, engine=engine, progress=one_more)
    finally:
        over.set()
        watching.join()
    if not verification(outcomes).passed:
        raise Broken(f"{next(one for one in outcomes if one.detail).detail}")
    later = len(came) - 1
    return Measured(came[0] - began, later / (came[-1] - came[0]), (used[-1] - used[0]) / later, memory)


def _cpu() -> float:
    """Seconds of CPU of all processes here, where they are all of this program's making."""
    if os.getpid() != 1:
        return 0.0
    ticks = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                ticks += sum(map(int, (entry / "stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _watch(memory: dict[str, float], over: threading.Event) -> None:
    """The most that either process has had, in MB."""
    while not over.wait(0.2):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and (entry.name == str(os.getpid()) or _speaks(entry)):
                name = "this process" if entry.name == str(os.getpid()) else "the driver"
                memory[name] = max(memory.get(name, 0.0), _used(entry))


def _speaks(entry: Path) -> bool:
    try:
        return b"reenact.verbs.verify.dispatch" in (entry / "cmdline").read_bytes()
    except OSError:
        return False


def _used(entry: Path) -> float:
    try:
        lines = (entry / "status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def _recorded(folder: Path, milliseconds: int, runs: int) -> Path:
    """A home with so many recordings of a program that works for so long."""
    began = process_time()
    sum(range(10_000_000))
    work = int(10_000_000 * milliseconds / 1000 / (process_time() - began))
    (folder / "program.py").write_text(_PROGRAM.format(work=work), encoding="utf-8")
    home = folder / f"home-{milliseconds}"
    code = f"import program\nfor number in range({runs}): program.agent(number)\n"
    status = os.spawnle(
        os.P_WAIT, sys.executable, sys.executable, "-c", code, {**os.environ, "REENACT_HOME": str(home)}
    )
    if status:
        raise Broken(f"the program ended with {status}")
    return home


def _much(home: Path, many: int) -> None:
    """The same with very many recordings: copies of one, each a recording of its own to all that reads them."""
    store = LocalStore(home)
    source = store.folder(store.ids()[0])
    there = home.with_name("many")
    for number in range(many):
        shutil.copytree(source, there / "recordings" / f"copy{number:06}")
    found = _measured(there, Cluster(workers=_CORES))
    size = sum(file.stat().st_size for file in source.rglob("*") if file.is_file()) * many / 1e6
    told = ", ".join(f"{name} {used:.0f} MB" for name, used in sorted(found.memory.items()))
    print(
        f"\n{many} recordings ({size:.0f} MB), load {os.getloadavg()[0]:.1f}: {found.rate:.0f} a second; {told}"
    )


def _carried(home: Path) -> None:
    """What one recording costs the process that speaks with Ray, for it has one core."""
    store = LocalStore(home)
    ids = store.ids()[:100]
    began = now()
    size = sum(len(packed(store.folder(id))) for id in ids)
    print(f"\npacking one of {size / len(ids) / 1000:.1f} kB: {(now() - began) / len(ids) * 1000:.2f} ms")
    place = TeamPlace.of(os.environ)
    if place is None:
        return
    from reenact.team.ship.exchange import TeamExchange
    from reenact.team.store import TeamStore

    with TeamStore(place) as team:
        exchange = TeamExchange(store, team)
        exchange.push(ids)
        exchange.close()
        began = now()
        for id in ids:
            team.find(id)
        print(f"fetching one of a team's store: {(now() - began) / len(ids) * 1000:.2f} ms")
        for id in ids:
            team.remove(id)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
