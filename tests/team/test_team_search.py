"""Postgres finds what the embedded index finds, to the last step, and fetches no more than is asked for."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Text, cast, delete, event, func, select, update
from sqlalchemy import text as sql

from reenact.analysis.interchange.importers import Happened, ImportedRun, keep
from reenact.core.query.filter import Filter
from reenact.core.store import base
from reenact.core.store.base import Piece
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import SearchEnded
from reenact.team.index import TeamIndex
from reenact.team.ship.exchange import TeamExchange
from reenact.team.tables import FACTS, RECORDINGS, TEXTS
from tests.core.store.test_index import FILTERS as PLAIN
from tests.core.store.test_index import filled


def pushed(home, team):
    with closing(TeamExchange(home, team)) as exchange:
        assert not exchange.push(home.ids()).problems


def found(where, text, limit=None):
    return [(hit.summary.id, hit.steps) for hit in where.search(Filter(text), limit=limit)]


def many(home, count):
    """Recordings, each with a step; each began a second after the one before."""
    for number in range(count):
        began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
        args, error = {"order": f"ORD-{number}"}, "gone" if number % 7 == 3 else None
        keep(
            home, ImportedRun(f"run {number}", [Happened("tool", "look", args, "found", error, began=began)])
        )
    return home


@pytest.fixture
def home(tmp_path):
    return LocalStore(tmp_path / "home")


def test_all_filters_find_what_the_embedded_store_finds(home, team):
    pushed(filled(home), team)
    index, there = Index(home), TeamIndex(team)
    assert [replace(line, path="", written=0, here=False, endorser="") for line in there.summaries()] == [
        replace(line, path="", written=0, here=False, endorser="") for line in index.summaries()
    ]
    words = itertools.cycle(["and", "or", "and not", "or not"])
    pairs = zip(PLAIN[1:], PLAIN[:0:-1], strict=True)
    joined = [f"({one}) {next(words)} ({other})" for one, other in pairs]
    for text in [*PLAIN, *joined]:
        assert found(there, text) == found(index, text), text
    assert there.kinds() == index.kinds()
    gone = home.ids()[0]
    team.remove(gone)
    assert gone not in {line.id for line in there.summaries()}


@pytest.mark.thorough
def test_beyond_the_newest_it_is_found_page_by_page_in_the_same_order(home, team, monkeypatch):
    pushed(many(home, 40), team)
    monkeypatch.setattr("reenact.team.index._NEWEST", 4)
    monkeypatch.setattr("reenact.team.index._FIRST", 3)
    index, there = Index(home), TeamIndex(team)
    for text in (
        "",
        "error",
        "not error",
        'text ~ "ORD-1"',
        "name:run*",
        'args.order == "ORD-2"',
        "duration >= 0",
    ):
        assert found(there, text) == found(index, text), text
        assert found(there, text, 2) == found(index, text, 2), text


@pytest.mark.thorough
def test_a_list_fetches_what_it_shows_and_a_word_only_the_recordings_that_have_it(home, team):
    pushed(many(home, 300), team)
    rows = []
    there = TeamIndex(team)
    assert there.count() == 300
    engine = team.database._engine

    @event.listens_for(engine, "after_cursor_execute")
    def note(_connection, cursor, statement, *_):
        if "SELECT" in statement:
            rows.append((cursor.rowcount, "details" in statement))

    listed = there.listed(Filter(""), limit=5)
    assert ([hit.summary.name for hit in listed.hits], listed.matching) == (
        [f"run {n}" for n in range(299, 294, -1)],
        None,
    )
    assert {hit.summary.id for hit in listed.hits} < set(listed.ids)
    assert sum(count for count, _ in rows) < 100
    rows.clear()
    assert [hit.summary.name for hit in there.search(Filter('text ~ "ORD-17"'))][-1] == "run 17"
    # The newest are looked at as they come; of the others only those in which it stands.
    assert sum(count for count, details in rows if details) < 150
    listed = there.listed(Filter("error"), tags=["none"], limit=5)
    assert (listed.hits, listed.matching) == ([], 0)


@pytest.mark.thorough
def test_where_texts_are_not_written_yet_all_is_found_and_they_are_written(home, team, monkeypatch):
    pushed(many(home, 4), team)
    monkeypatch.setattr("reenact.team.index._NEWEST", 1)
    there = TeamIndex(team)
    with team.database.begin() as connection:
        connection.execute(delete(TEXTS))
        connection.execute(update(RECORDINGS).values(worded=0))
    assert len(found(there, 'text ~ "ORD-"')) == 4
    with team.database.begin() as connection:
        assert connection.execute(select(func.count()).select_from(TEXTS)).scalar() == 12
        # What they say counts from now on, but for the newest, which is looked into.
        connection.execute(update(TEXTS).values(body="nothing"))
    assert len(found(there, 'text ~ "ORD-"')) == 1


@pytest.mark.thorough
def test_one_that_grew_is_read_anew_and_found_by_what_is_new(home, team):
    (id,) = many(home, 1).ids()
    lines = (home.folder(id) / "events.jsonl").read_bytes().splitlines(keepends=True)
    team.intake.take([Piece(id, "events.jsonl", 0, lines[0])])
    there = TeamIndex(team)
    assert (found(there, ""), found(there, "tool:look")) == ([(id, ())], [])
    team.intake.take([Piece(id, "events.jsonl", len(lines[0]), b"".join(lines[1:]))])
    assert found(there, 'tool:look and text ~ "ORD-0"') == [(id, (1,))]


@pytest.mark.thorough
def test_a_search_that_takes_too_long_is_ended_and_says_what_to_try(home, team, monkeypatch):
    pushed(filled(home), team)
    index = TeamIndex(team)
    assert found(index, 'text:"a"') is not None
    monkeypatch.setattr("reenact.team.database.LONGEST", 0.05)
    monkeypatch.setattr("reenact.team.index._after", lambda _: cast(func.pg_sleep(60), Text) == "")
    with pytest.raises(SearchEnded, match=r"has ended the search, which took too long: say more .*tag, name"):
        found(index, 'text:"a"')
    monkeypatch.undo()
    assert found(index, 'text:"a"') is not None


def test_lines_of_an_earlier_version_get_prompt_and_outcome_when_they_are_listed(home, team):
    run = ImportedRun(
        "run", [Happened("model", "m", {"messages": [{"role": "user", "content": "hello"}]}, "hi")]
    )
    keep(home, run)
    pushed(home, team)
    there = TeamIndex(team)
    assert [(line.prompt, line.outcome) for line in there.summaries()] == [("hello", "hi")]
    with team.database.begin() as connection:
        connection.execute(update(RECORDINGS).values(prompt=None, outcome=None, script=None))
        asked = team.database.recordings(RECORDINGS.c.outcome)
        assert connection.execute(asked).scalars().all() == [None]
    assert [(line.prompt, line.outcome) for line in there.summaries()] == [("hello", "hi")]


def test_a_server_writes_the_lines_of_an_earlier_version_again_from_its_copies(home, team, monkeypatch):
    monkeypatch.setattr("reenact.team.lines._QUIET", -(10**12))
    run = ImportedRun(
        "run", [Happened("model", "m", {"messages": [{"role": "user", "content": "hello"}]}, "hi")]
    )
    keep(home, run)
    pushed(home, team)
    there = TeamIndex(team)
    there.renew()
    with team.database.begin() as connection:
        connection.execute(update(RECORDINGS).values(prompt=None, outcome=None, script=None))
    there.settle_some(home, 8)
    with team.database.begin() as connection:
        assert connection.execute(team.database.recordings(RECORDINGS.c.outcome)).scalars().all() == ["hi"]


@pytest.mark.thorough
def test_a_value_is_looked_for_only_where_a_fact_says_that_it_may_be(home, team):
    pushed(many(home, 40), team)
    for wanted, count in (
        ('args.order == "ORD-2"', 1),
        ('output == "found"', 34),
        ('args.order == "none"', 0),
    ):
        listed = TeamIndex(team).listed(Filter(wanted))
        assert len(listed.hits) == count
        assert listed.looked.index == (base.TEXTS if wanted.startswith("output") else base.FACTS)
        if listed.looked.index == base.FACTS:
            assert listed.looked.recordings == count


def test_facts_that_an_earlier_version_did_not_make_are_made_by_a_search(home, team):
    pushed(many(home, 40), team)
    with team.database.begin() as connection:
        connection.execute(delete(FACTS))
        connection.execute(update(RECORDINGS).values(facted=0))
    wanted = 'args.order == "ORD-2"'
    assert found(TeamIndex(team), wanted) == found(Index(home), wanted) != []
    with team.database.begin() as connection:
        assert connection.execute(select(func.count()).select_from(FACTS)).scalar_one() == 40
    assert TeamIndex(team).listed(Filter(wanted)).looked.recordings == 1


@pytest.mark.thorough
def test_the_planner_has_statistics_after_a_push_of_many(home, team):
    pushed(many(home, 120), team)
    with team.database.begin() as connection:
        asked = "SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name)"
        for name in ("reenact.steps", "reenact.facts", "reenact.texts"):
            assert connection.execute(sql(asked), {"name": name}).scalar_one() >= 100, name
