"""Estimate the machines and disks for a number of runs, from measured figures.

    python -m benchmarks.machines --runs 1000000 --replays 10000

The estimate uses averages and one peak, and no more: it tells whether one machine is enough, not the milliseconds
of a wait. docs/fleet.md gives the source of each figure; `python -m benchmarks.sizing` measures them anew.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

_MONTH = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Costs:
    """The measured costs: CPU seconds of a core, and bytes.

    Attributes:
        server: Of a server, for each event that it acknowledges and lists.
        span: Of a server, for each span that it acknowledges and makes a recording of.
        postgres: Of Postgres, for each event.
        rows: Bytes in Postgres, all tables and indexes, for each byte of lines.
        line: Bytes of a server's memory for each recording in its list.
        start: Bytes of memory of a server that has none.
        replay: Of a replay beside the program's own work: what isolates it.
        busy: The part of a core that is planned for; the rest is for bursts.
    """

    server: float = 420e-6
    span: float = 830e-6
    postgres: float = 100e-6
    rows: float = 3.0
    line: float = 2_000
    start: float = 200e6
    replay: float = 10e-3
    busy: float = 0.5


MEASURED = Costs()


@dataclass(frozen=True, slots=True)
class Load:
    """The expected load.

    Attributes:
        runs: Recorded in a month.
        events: Of a run.
        size: Bytes of an event.
        blobs: Bytes of a run's large values: screenshots, documents.
        spans: The part of the runs that comes as traces, from 0 to 1.
        months: The number of months that they are kept.
        peak: The factor of the busiest minute over the average.
        replays: In one check before a release.
        work: CPU seconds of the program's own in a replay.
        minutes: The minutes in which such a check must finish.
    """

    runs: int = 10_000
    events: int = 100
    size: int = 540
    blobs: int = 0
    spans: float = 0.0
    months: int = 3
    peak: float = 10.0
    replays: int = 200
    work: float = 0.2
    minutes: float = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The needs of a load.

    Attributes:
        events: A second, on average.
        peak: A second, in the busiest minute.
        server_cores: For the server, in that minute.
        postgres_cores: For Postgres, in that minute.
        database: Bytes of Postgres, at the end of the months.
        objects: Bytes of the object store, then.
        kept: Recordings, then.
        memory: Bytes of the server's memory, then.
        disk: Bytes of the server's own disk, then: a copy of all.
        replay_cores: For a check of a release in its minutes.
        bytes: A second in the busiest minute, as they are sent.
        stage: The smallest of `STAGES` that is enough.
    """

    events: float
    peak: float
    server_cores: int
    postgres_cores: int
    database: float
    objects: float
    kept: int
    memory: float
    disk: float
    replay_cores: int
    bytes: float
    stage: str = ""


STAGES = ("laptop", "server", "team", "fleet")
"""A folder on one machine; a server with a folder; a server with a team's store; a fleet.

A fleet runs replays on a cluster.
"""

_ONE_DISK = 200e9
_ONE_HOME = 100_000
_ONE_MACHINE = 8
_ALONE = 5_000


def plan(load: Load, costs: Costs = MEASURED) -> Plan:
    """Estimate the needs of a load.

    Args:
        load: The expected load.
        costs: The costs of each part.
    """
    average = load.runs * load.events / _MONTH
    peak = average * load.peak
    each = costs.server + load.spans * costs.span
    kept = load.runs * load.months
    lines, blobs = kept * load.events * load.size, kept * load.blobs
    replaying = load.replays * (load.work + costs.replay) / (load.minutes * 60)
    found = Plan(
        events=average,
        peak=peak,
        server_cores=_cores(peak * each, costs),
        postgres_cores=_cores(peak * costs.postgres, costs),
        database=lines * costs.rows,
        objects=blobs,
        kept=kept,
        memory=costs.start + kept * costs.line,
        disk=lines + blobs,
        replay_cores=max(1, math.ceil(replaying)),
        bytes=peak * load.size,
    )
    return replace(found, stage=_stage(load, found))


def _cores(busy: float, costs: Costs) -> int:
    return max(1, math.ceil(busy / costs.busy))


def _stage(load: Load, found: Plan) -> str:
    if found.replay_cores > _ONE_MACHINE:
        return "fleet"
    if found.disk > _ONE_DISK or found.kept > _ONE_HOME or found.server_cores > 1:
        return "team"
    return "server" if load.runs > _ALONE else "laptop"


def rows(load: Load, found: Plan) -> list[tuple[str, str]]:
    """Return the lines of a plan: a name and a text each."""
    server = f"{_counted(found.server_cores, 'core')}, {large(found.memory)} of memory"
    replay = _counted(found.replay_cores, "core")
    return [
        ("kept", f"{found.kept:,} recordings, after {_counted(load.months, 'month')}"),
        ("events", f"{found.events:,.1f} a second, {found.peak:,.0f} in the busiest minute"),
        ("uploads", f"{large(found.bytes)} a second in the busiest minute"),
        ("server", f"{server}, {large(found.disk)} of disk"),
        ("Postgres", f"{_counted(found.postgres_cores, 'core')}, {large(found.database)} of disk"),
        ("object store", large(found.objects)),
        ("replays", f"{replay} for {load.replays:,} in {load.minutes:g} minutes"),
        ("enough", found.stage),
    ]


def large(size: float) -> str:
    """Return a number of bytes as text, in units up to TB."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:,.3g} {unit}"
    return f"{size / 1e3:,.3g} kB"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def main(words: Sequence[str]) -> None:
    """Print the plan for the load that the options describe: one for each field of `Load`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.machines", description=Load.__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    for each in fields(Load):
        parser.add_argument(f"--{each.name}", type=type(each.default), default=each.default)
    load = Load(**vars(parser.parse_args(words)))
    for what, said in rows(load, plan(load)):
        print(f"{what:<12}  {said}")


if __name__ == "__main__":
    main(sys.argv[1:])
