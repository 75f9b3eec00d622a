"""Every command finds by its id what lies in the team's store only; what is here is found without it."""

from __future__ import annotations

import shutil
import sys
from contextlib import closing

import orjson
import pytest

import reenact
from reenact.cli import main
from reenact.core.store.chain import chained
from reenact.core.store.local import LocalStore
from reenact.errors import AmbiguousRecording, RecordingNotFound
from reenact.team.open import Reaching
from reenact.team.ship.exchange import TeamExchange

PROGRAM = """
import reenact

@reenact.tool
def look(order):
    return {"order": order, "large": "x" * 100_000}

for order in ("A-1", "A-2"):
    print(look(order)["order"])
"""


@reenact.tool
def look(order):
    if order == "none":
        raise LookupError("no such order")
    return {"order": order}


def recorded(home, *orders):
    with reenact.record("orders", home=home.root) as run:
        for order in orders:
            try:
                look(order)
            except LookupError:
                continue
    return run.id


@pytest.fixture
def home(tmp_path):
    """An empty home beside a team's store that the environment names."""
    return LocalStore(tmp_path / "home")


@pytest.fixture
def others(tmp_path):
    return LocalStore(tmp_path / "others")


@pytest.fixture
def push(place, team, others, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)
    monkeypatch.setenv("REENACT_CACHE", str(tmp_path / "caches"))
    monkeypatch.delenv("REENACT_PROJECT", raising=False)
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))

    def pushed(*ids):
        with closing(TeamExchange(others, team)) as exchange:
            assert not exchange.push(ids).problems

    return pushed


def renamed(store, id, new):
    """A recording under another id."""
    shutil.copytree(store.folder(id), store.folder(new))
    events = store.folder(new) / "events.jsonl"
    events.write_bytes(chained(events.read_bytes().replace(id.encode(), new.encode()).splitlines()))
    return new


def run(capsys, *words):
    status = main(list(words))
    said = capsys.readouterr()
    return status, said.out, said.err


def test_what_is_in_the_teams_store_only_is_brought_and_stays_out_of_the_home(
    push, home, others, team, capsys
):
    id = recorded(others, "A-1", "none")
    push(id)
    mine = recorded(home, "A-7")
    path = Reaching().find(id[:6])
    assert capsys.readouterr().err.startswith(f"reenact: {id} is in {team.place}: brought here (")
    assert (path / "events.jsonl").read_bytes() == (others.folder(id) / "events.jsonl").read_bytes()
    assert Reaching().find(id) == path
    assert capsys.readouterr().err == ""
    assert home.ids() == Reaching().ids() == [mine]
    assert Reaching().find("last").name == mine
    with reenact.replay(id) as replay:
        look("A-1")
        with pytest.raises(LookupError):
            look("none")
    assert replay.verdict.faithful


VERBS = [
    (["show", "ID", "2"], 0, "no such order"),
    (["diff", "ID", "MINE"], 1, "output.order"),
    (["diagnose", "ID"], 0, "orders"),
    (["export", "ID", "file.reenact"], 0, "exported to"),
    (["keep", "ID", "--as", "test_file.py"], 0, "kept ID as"),
    (["report", "ID", "-o", "page.html"], 0, "page.html"),
    (["list", "--team", "error", "--json"], 0, '"id": "ID"'),
    (["diagnose", "last", "--team", "--baseline", "error"], 0, "ID"),
    (["heals", "--team"], 0, "no step needed help"),
    (["rm", "ID", "--yes"], 2, "no recording 'ID' in"),
]


def test_every_command_finds_it(push, home, others, capsys):
    id, mine = recorded(others, "A-1", "none"), recorded(home, "A-7", "none")
    push(id)
    names = {"ID": id, "MINE": mine}
    for words, status, said in VERBS:
        ended, out, err = run(capsys, *(names.get(word, word) for word in words))
        assert ended == status, (words, out + err)
        assert said.replace("ID", id) in out + err, words
        assert home.ids() == [mine]


def test_a_program_is_replayed_forked_and_verified_and_the_fork_is_here(push, home, others, capsys, tmp_path):
    program = tmp_path / "agent.py"
    program.write_text(PROGRAM)
    assert run(capsys, "record", "--home", str(others.root), "--", sys.executable, str(program))[0] == 0
    (id,) = others.ids()
    push(id)
    shutil.rmtree(others.root)
    status, _, said = run(capsys, "replay", id[:7])
    assert status == 0, said
    status, _, said = run(capsys, "fork", id, "--at", "2", "--set", "output.order=edited")
    assert status == 0, said
    (child,) = home.ids()
    assert Reaching().load(child).step(2).output["order"] == "edited"
    # It needs its parent no more than the team's store.
    shutil.rmtree(tmp_path / "caches")
    assert home.load(child).step(1).output["order"] == "A-1"
    status, said, _ = run(capsys, "verify", "--team", "--filter", "tool:look", "--json", "--run-foreign")
    assert (status, [(one["recording"], one["status"]) for one in orjson.loads(said)]) == (0, [(id, "same")])


def test_a_prefix_of_one_here_and_one_there_is_ambiguous(push, home, others):
    first = recorded(others, "A-1")
    there = renamed(others, first, "abc1234567")
    here = renamed(home, recorded(home, "A-2"), "abc7654321")
    push(there)
    with pytest.raises(AmbiguousRecording, match=r"abc7654321 \(here\), abc1234567 \(in postgresql://"):
        Reaching().find("abc")
    assert Reaching().find("abc7").name == here
    # What is here and there is one.
    push(renamed(others, first, "xyz1"))
    shutil.copytree(others.folder("xyz1"), home.folder("xyz1"))
    assert Reaching().find("xy") == home.folder("xyz1")
    with pytest.raises(RecordingNotFound, match=r"no recording 'nothing' in /.*, nor in postgresql://"):
        Reaching().find("nothing")


def test_a_store_that_is_away_is_one_line_and_what_is_here_is_found(push, home, others, monkeypatch, capsys):
    id, mine = recorded(others, "A-1"), recorded(home, "A-2")
    push(id)
    before = Reaching().find(id)
    monkeypatch.setenv("REENACT_STORE", "postgresql://nobody@127.0.0.1:9/away")
    capsys.readouterr()
    for ref in (mine, "last"):
        assert Reaching().find(ref) == home.folder(mine)
    assert capsys.readouterr().err == ""
    assert Reaching().find(mine[:6]) == home.folder(mine)
    said = capsys.readouterr().err
    assert said.startswith("reenact: postgresql://127.0.0.1:9/away (default) does not answer")
    assert said.count("\n") == 1
    status, _, said = run(capsys, "show", id)
    assert (status, said.count("\n"), "does not answer" in said) == (2, 1, True)
    # What was brought before is found in its cache.
    at_last = before.parent.parent
    monkeypatch.setattr("reenact.team.location._cache", lambda *_: at_last)
    assert Reaching().find(id[:8]) == before
    assert "as it was brought here before" in capsys.readouterr().err


def test_a_setting_that_is_no_store_does_not_hinder_what_is_here(push, home, monkeypatch, capsys):
    mine = recorded(home, "A-1")
    monkeypatch.setenv("REENACT_OBJECTS", "")
    assert Reaching().find(mine[:5]) == home.folder(mine)
    assert "needs REENACT_OBJECTS too" in capsys.readouterr().err
    assert run(capsys, "show", "nothing")[0] == 2
