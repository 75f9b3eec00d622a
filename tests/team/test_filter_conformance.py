"""A filter means the same wherever it is evaluated: by reading, by a folder's SQLite index, and by a team's Postgres."""

from __future__ import annotations

import itertools
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reenact.analysis.interchange.importers import keep
from reenact.core.query.filter import Filter
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.team.index import TeamIndex
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore
from tests.core.store.test_index import FILTERS as WRITTEN
from tests.core.store.test_index import filled
from tests.core.store.test_search import FILTERS, RUNS, read_all

PROJECTS = itertools.count()


def answers(home, team, text):
    """The matching steps of each recording, as each of the three evaluations finds them."""
    index = Index(home)
    with closing(index):
        by_index = {hit.summary.id: hit.steps for hit in index.search(Filter(text))}
    by_postgres = {hit.summary.id: hit.steps for hit in TeamIndex(team).search(Filter(text))}
    return read_all(home, text), by_index, by_postgres


def pushed(home, team):
    with closing(TeamExchange(home, team)) as exchange:
        assert not exchange.push(home.ids()).problems


def agree(home, team, texts):
    for text in texts:
        read, by_index, by_postgres = answers(home, team, text)
        assert by_index == read, ("SQLite", text)
        assert by_postgres == read, ("Postgres", text)


def test_written_filters_alone_and_joined(tmp_path, team):
    home = filled(LocalStore(tmp_path / "home"))
    pushed(home, team)
    words = itertools.cycle(["and", "or", "and not", "or not"])
    pairs = zip(WRITTEN[1:], WRITTEN[:0:-1], strict=True)
    agree(home, team, [*WRITTEN, *(f"({one}) {next(words)} ({other})" for one, other in pairs)])


@pytest.mark.thorough
@settings(max_examples=12, deadline=None, suppress_health_check=[*HealthCheck])
@given(runs=RUNS, texts=st.lists(FILTERS, min_size=4, max_size=8))
def test_generated_filters_on_generated_recordings(place, runs, texts):
    with tempfile.TemporaryDirectory() as folder:
        home = LocalStore(Path(folder, "home"))
        for run in runs:
            keep(home, run)
        here = replace(place, project=f"f{next(PROJECTS)}", cache=Path(folder, "cache"))
        with TeamStore(here) as team:
            pushed(home, team)
            agree(home, team, texts)
