"""What so many runs want: the calculation, and that the documentation says what it gives."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from benchmarks.machines import MEASURED, STAGES, Costs, Load, large, main, plan

PAGE = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text()
RUNS = (10_000, 100_000, 1_000_000, 10_000_000)


def table():
    """The table of docs/fleet.md."""
    yield "| runs a month | kept | events a second, at peak | server | Postgres | enough |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for runs in RUNS:
        found = plan(Load(runs))
        yield (
            f"| {runs:,} | {found.kept:,} | {found.events:,.1f}, {found.peak:,.0f} | {found.server_cores} cores, "
            f"{large(found.memory)}, {large(found.disk)} of disk | {found.postgres_cores} cores, "
            f"{large(found.database)} of disk | {found.stage} |"
        ).replace(" 1 cores", " 1 core")


def test_the_page_says_what_the_calculation_gives(capsys):
    assert "\n".join(table()) in PAGE
    main(re.search(r"\$ python -m benchmarks.machines (.*)\n", PAGE)[1].split())
    assert capsys.readouterr().out in PAGE


def test_every_figure_that_is_reckoned_with_is_on_the_page():
    told = re.findall(r"^\| `(\w+)` \| ([\d.]+) ", PAGE, re.MULTILINE)
    units = {"server": 1e-6, "span": 1e-6, "postgres": 1e-6, "line": 1e3, "start": 1e6, "replay": 1e-3}
    assert {name: pytest.approx(float(said) * units.get(name, 1)) for name, said in told} == {
        one.name: getattr(MEASURED, one.name) for one in fields(Costs)
    }


def test_twice_the_runs_want_twice_the_disk_and_no_less_of_anything():
    one, two = plan(Load(runs=30_000_000)), plan(Load(runs=60_000_000))
    assert two.database == pytest.approx(2 * one.database)
    assert two.disk == pytest.approx(2 * one.disk)
    assert two.server_cores > one.server_cores
    assert (
        plan(Load(runs=30_000_000), replace(MEASURED, server=MEASURED.server / 2)).server_cores
        < one.server_cores
    )


def test_each_stage_has_its_sign():
    stages = [
        plan(Load(runs=100)),
        plan(Load(runs=10_000)),
        plan(Load(runs=40_000)),
        plan(Load(runs=40_000, replays=100_000, work=1)),
    ]
    assert tuple(found.stage for found in stages) == STAGES
    assert plan(Load(runs=10_000, blobs=10_000_000)).stage == "team"
