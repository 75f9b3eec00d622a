"""Recordings between a home and a team's store, and what is known of them there."""

from __future__ import annotations

import re
import shutil
from contextlib import closing
from dataclasses import replace

import orjson
import pytest
from sqlalchemy import func, select

import reenact
from reenact.cli import main
from reenact.core.query.filter import Filter
from reenact.core.query.recorded_run import Labels
from reenact.core.store.base import Piece
from reenact.core.store.intake import LocalIntake
from reenact.core.store.labels import give
from reenact.core.store.local import LocalStore
from reenact.errors import RecordingNotFound
from reenact.team.index import TeamIndex
from reenact.team.objects import ObjectBlobs
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore
from reenact.team.tables import CHUNKS, RECORDINGS, STEPS

LARGE = bytes(range(256)) * 300


@reenact.tool
def look(order):
    if order == "none":
        raise LookupError("no such order")
    return {"order": order, "picture": LARGE}


@pytest.fixture
def home(tmp_path):
    return LocalStore(tmp_path / "home")


@pytest.fixture
def exchange(home, team):
    exchange = TeamExchange(home, team)
    yield exchange
    exchange.close()


def recorded(home, name, *orders, tags=()):
    with reenact.record(name, home=home.root, tags=list(tags)) as run:
        for order in orders:
            try:
                look(order)
            except LookupError:
                continue
    return run.id


def tree(folder):
    beside = {"received", "team", "endorsed.json"}
    kept = (path for path in folder.rglob("*") if path.is_file() and path.name not in beside)
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def filled(home):
    return [recorded(home, "one", "A-1", "none"), recorded(home, "two", "A-2", tags=["staging"])]


def test_what_is_pushed_and_pulled_elsewhere_is_the_same_and_replays(home, team, exchange, tmp_path):
    ids = filled(home)
    assert exchange.push(ids).ids == ids
    other = LocalStore(tmp_path / "other")
    there = TeamExchange(other, team)
    assert sorted(there.pull(team.ids()).ids) == sorted(ids)
    for id in ids:
        assert tree(other.folder(id)) == tree(home.folder(id)) == tree(team.find(id))
    with reenact.replay(ids[0], home=other.root) as replay:
        assert look("A-1")["picture"] == LARGE
        with pytest.raises(LookupError):
            look("none")
    assert replay.verdict.faithful
    # And nothing twice.
    assert (exchange.push(ids).ids, there.pull(ids).ids) == ([], [])
    with team.database.begin() as connection:
        (chunks,) = connection.execute(select(func.count()).select_from(CHUNKS)).one()
    assert chunks == 2
    there.close()


@pytest.mark.thorough
def test_labels_are_pushed_and_pulled_after_the_recording_and_found_there(home, team, exchange, tmp_path):
    (id, _) = ids = filled(home)
    exchange.push(ids)
    index = TeamIndex(team)
    assert [hit.summary.id for hit in index.search(Filter("tag:bad"))] == []
    with closing(LocalIntake(home)) as intake:
        give(intake, id, Labels(("bad",), "Refunded twice"))
    assert exchange.push(ids).ids == [id]
    assert [hit.summary.id for hit in index.search(Filter("tag:bad"))] == [id]
    (hit,) = index.search(Filter('note ~ "TWICE"'))
    assert (hit.summary.note, hit.summary.tags) == ("Refunded twice", ("bad",))
    assert [one.summary.id for one in index.search(Filter('not note ~ "twice"'))] == [ids[1]]
    other = LocalStore(tmp_path / "other")
    there = TeamExchange(other, team)
    there.pull(ids)
    assert other.load(id).labels.note == "Refunded twice"
    # Another one labels it there; both have it after an exchange.
    with closing(LocalIntake(other)) as intake:
        give(intake, id, Labels(("known",), ""))
    there.push(ids)
    exchange.pull(ids)
    assert home.load(id).labels == Labels(("known",), "")
    there.close()


def test_a_recording_that_grows_goes_on_where_it_was(home, team, exchange):
    id = recorded(home, "one", "A-1", "A-2")
    events = home.folder(id) / "events.jsonl"
    whole = events.read_bytes()
    # A line is torn, and the process that wrote it is gone.
    events.write_bytes(whole[:-40])
    exchange.push([id])
    assert (team.find(id) / "events.jsonl").read_bytes() == whole[: whole.rindex(b"\n", 0, -40) + 1]
    assert TeamIndex(team).summaries()[0].status == "unsealed"
    events.write_bytes(whole)
    assert exchange.push([id]).ids == [id]
    assert (team.find(id) / "events.jsonl").read_bytes() == whole
    assert TeamIndex(team).summaries()[0].status == "ok"


def test_a_fork_is_whole_there_and_stays_a_fork_here(home, team, exchange, tmp_path):
    parent = recorded(home, "one", "A-1", "A-2")
    with reenact.fork(parent, at=2, edit={"output.order": "edited"}, home=home.root) as fork:
        look("A-1")
        look("A-2")
    child = fork.id
    assert b'"event":"same"' in (home.folder(child) / "events.jsonl").read_bytes()
    exchange.push([child])
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    assert team.load(child).step(2).output["order"] == "edited"
    assert team.load(child).step(1).output["picture"] == LARGE
    assert team.origins(team.ids()) == home.origins([child])
    before = tree(home.folder(child))
    assert exchange.pull([child]).ids == []
    assert exchange.push([child]).ids == []
    assert tree(home.folder(child)) == before


def test_other_bytes_under_one_id_are_said_and_neither_is_changed(home, team, exchange, tmp_path):
    id = recorded(home, "one", "A-1")
    exchange.push([id])
    events = home.folder(id) / "events.jsonl"
    head, _, rest = events.read_bytes().partition(b"\n")
    events.write_bytes(head.replace(b'"name":"one"', b'"name":"two"') + b"\n" + rest + rest)
    longer = events.read_bytes()
    for move, mine in ((exchange.pull, longer[: len(head) + 1]), (exchange.push, longer)):
        events.write_bytes(mine)
        moved = move([id])
        assert (moved.ids, list(moved.problems)) == ([], [id])
        assert re.search("differs|other bytes", moved.problems[id])
        assert events.read_bytes() == mine
    assert team.load(id).name == "one"


def test_what_nobody_has_read_is_read_once_and_written_down(home, team, exchange):
    id = recorded(home, "one", "A-1", "none")
    # As a server takes it: lines, and no word on what they say.
    data = (home.folder(id) / "events.jsonl").read_bytes()
    team.intake.take(
        [Piece(id, f"sha256:{path.name}", 0, path.read_bytes()) for path in home.folder(id).glob("blobs/*/*")]
    )
    team.intake.take([Piece(id, "events.jsonl", 0, data)])
    counted = select(func.count()).select_from(STEPS)
    with team.database.begin() as connection:
        assert connection.execute(counted).scalar() == 0
    (line,) = TeamIndex(team).summaries()
    assert (line.name, line.steps, line.failed) == ("one", 2, 1)
    with team.database.begin() as connection:
        assert connection.execute(counted).scalar() == 2
        row = connection.execute(select(RECORDINGS.c.name, RECORDINGS.c.known == RECORDINGS.c.version)).one()
    assert tuple(row) == ("one", True)


def test_a_deleted_recording_takes_its_blobs_along_but_not_those_of_others(home, team, exchange):
    first, second = recorded(home, "one", "A-1"), recorded(home, "two", "A-2")
    exchange.push([first, second])
    (blob,) = home.folder(first).glob("blobs/*/*")
    address = f"sha256:{blob.name}"
    team.remove(first)
    assert team.blobs.has(address)
    team.remove(second)
    assert not team.blobs.has(address)
    with pytest.raises(RecordingNotFound):
        team.find(first)


def test_projects_do_not_see_each_other(home, team, exchange, place, tmp_path):
    id = recorded(home, "one", "A-1")
    exchange.push([id])
    with TeamStore(replace(place, project="other", cache=tmp_path / "cache2")) as other:
        assert other.ids() == []
        assert other.intake.lengths([id]) == {}
        (blob,) = home.folder(id).glob("blobs/*/*")
        assert not ObjectBlobs(place.objects, "other").has(f"sha256:{blob.name}")


def run(*words, capsys):
    status = main(list(words))
    said = capsys.readouterr()
    return status, said.out + said.err


@pytest.mark.thorough
def test_the_commands(home, place, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)
    monkeypatch.setenv("REENACT_CACHE", str(tmp_path / "caches"))
    ids = filled(home)
    status, said = run("push", "last", "--home", str(home.root), capsys=capsys)
    assert (status, "1 recording pushed to postgresql://" in said) == (0, True), said
    other = tmp_path / "other"
    mine = recorded(LocalStore(other), "three", "A-3")
    status, said = run("sync", "--home", str(other), "--json", capsys=capsys)
    assert status == 0, said
    assert f'"{mine}"' in said.partition("pulled")[0]
    assert ids[1] in said.partition("pulled")[2]
    status, said = run("pull", mine[:5], "--home", str(home.root), capsys=capsys)
    assert (status, "1 recording pulled from" in said) == (0, True), said
    assert LocalStore(home.root).load(mine).name == "three"
    assert run("push", "--all", "--home", str(home.root), capsys=capsys)[0] == 0
    status, said = run("list", "--team", "--json", "error", capsys=capsys)
    assert (status, [line["id"] for line in orjson.loads(said)]) == (0, ids[:1])
    assert "no such order" in run("show", ids[0], "2", "--team", capsys=capsys)[1]
    assert run("list", "--team", "--home", str(other), capsys=capsys)[0] == 2


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "which team's store? Set REENACT_STORE=postgresql://"),
        ({"REENACT_STORE": "mysql://x"}, "and not 'mysql'"),
        ({"REENACT_STORE": "postgresql://x/y"}, "needs REENACT_OBJECTS too"),
        ({"REENACT_STORE": "postgresql://x/y", "REENACT_OBJECTS": "/srv"}, "'/srv' is no address"),
        ({"REENACT_STORE": "postgresql://x/y", "REENACT_OBJECTS": "ftp://a/b"}, "is no object store"),
        ({"REENACT_STORE": "postgresql://u:SECRET@127.0.0.1:9/y", "REENACT_OBJECTS": "file:///tmp/none"},
         "postgresql://127.0.0.1:9/y (default) does not answer"),
    ],
)  # fmt: skip
def test_what_is_no_store_is_said_on_one_line_without_the_password(environ, said, home, monkeypatch, capsys):
    for name in ("REENACT_STORE", "REENACT_OBJECTS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    recorded(home, "one", "A-1")
    status, text = run("push", "last", "--home", str(home.root), capsys=capsys)
    assert status == 2
    assert said in text
    assert "SECRET" not in text
    assert text.count("\n") == 1
