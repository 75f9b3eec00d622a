"""A project's key: what a colleague recorded is at home after a pull, and nothing else is."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import closing

import orjson
import pytest
from sqlalchemy import select, update

import reenact
from reenact.core.store.base import Piece
from reenact.core.store.local import LocalStore, load
from reenact.core.trust import Book, Seal, Where, consent, endorsement
from reenact.errors import ForeignRecording
from reenact.team.index import TeamIndex
from reenact.team.ship.exchange import TeamExchange
from reenact.team.tables import PROJECT_KEYS, RECORDINGS
from tests.hostile.forge import forge, lines_of
from tests.hostile.test_origin import forged

PROGRAM = "import time\nprint(time.time() > 0)\n"


@reenact.tool
def look(order):
    return order


@pytest.fixture
def ann(shell, place):
    """A colleague's terminal: who recorded."""
    shell.environ |= {"REENACT_STORE": place.database, "REENACT_OBJECTS": place.objects}
    shell.environ["REENACT_CACHE"] = str(shell.folder / "cache")
    shell.write("agent.py", PROGRAM)
    return shell


@pytest.fixture
def ben(ann):
    """Another home on the same machine; what it pulls may be run."""
    return {"REENACT_HOME": str(ann.folder / "ben"), "REENACT_CACHE": str(ann.folder / "ben-cache")}


def pushed(ann):
    _, recording = ann.record("agent.py")
    assert ann.run("push", recording.id).status == 0
    return recording.id


def standing(home, id):
    return consent.standing_of(load(LocalStore(home).folder(id)), LocalStore(home).root)


def origins(done):
    return {line["id"]: (line["origin"]["where"], line["origin"]["name"]) for line in done.json}


def test_a_colleagues_recording_replays_without_asking_once_it_is_pulled(ann, ben):
    id = pushed(ann)
    assert ann.run("pull", id, env=ben).status == 0
    done = ann.run("replay", id, env=ben)
    assert done.status == 0, done
    assert origins(ann.run("list", "--json", env=ben)) == {id: ("trusted", "project default")}
    assert "by project default" in ann.run("list", env=ben).out


@pytest.mark.thorough
def test_a_colleagues_recording_that_is_read_in_the_store_replays_without_asking(ann, ben):
    id = pushed(ann)
    done = ann.run("replay", id, env=ben)
    assert done.status == 0, done
    assert not (ann.folder / "ben" / "recordings" / id).exists()


@pytest.mark.thorough
def test_a_list_of_the_team_says_where_recordings_come_from(ann, ben):
    id = pushed(ann)
    foreign = ann.home / "recordings" / "evil000001"
    foreign.mkdir()
    (foreign / "events.jsonl").write_bytes(forged("evil000001", ann.folder, 2))
    assert ann.run("push", "evil000001").status == 0
    found = origins(ann.run("list", "--team", "--json", env=ben))
    assert found == {id: ("trusted", "project default"), "evil000001": ("foreign", None)}
    assert origins(ann.run("list", "--team", "--json"))[id] == ("home", None)
    assert "foreign" in ann.run("list", "--team", env=ben).out


@pytest.mark.thorough
def test_a_push_and_a_pull_name_what_was_changed_after_it_was_sealed(team, tmp_path):
    ann, ben = LocalStore(tmp_path / "ann"), LocalStore(tmp_path / "ben")
    with reenact.record("one", home=ann.root) as run:
        look("A-1")
    path = ann.folder(run.id) / "events.jsonl"
    lines = lines_of(path)
    next(line for line in lines if line["event"] == "returned")["value"] = "rm -rf"
    path.write_bytes(forge(lines))
    with closing(TeamExchange(ann, team)) as one, closing(TeamExchange(ben, team)) as other:
        moves = one.push([run.id]), other.pull([run.id])
    assert [moved.foreign for moved in moves] == [{run.id: "it was changed after it was sealed"}] * 2
    with closing(TeamIndex(team)) as index:
        (listed,) = index.summaries()
    assert listed.seal == "changed"


@pytest.mark.thorough
def test_what_a_store_refuses_is_named_with_its_file_once(team, tmp_path):
    ann = LocalStore(tmp_path / "ann")
    with reenact.record("one", home=ann.root) as run:
        look("A-1")
    path = ann.folder(run.id) / "events.jsonl"
    path.write_bytes(path.read_bytes().replace(b"A-1", b"A-2"))
    with closing(TeamExchange(ann, team)) as exchange:
        problem = exchange.push([run.id]).problems[run.id]
    assert re.fullmatch(r"events\.jsonl, line \d+: damaged: [^\n]*", problem)
    assert problem.count("events.jsonl") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("verb", [["pull", "evil000001"], ["sync"]], ids=["pull", "sync"])
def test_what_was_foreign_to_who_pushed_it_stays_foreign_and_is_not_run(ann, ben, verb):
    pushed(ann)
    foreign = ann.home / "recordings" / "evil000001"
    foreign.mkdir()
    (foreign / "events.jsonl").write_bytes(forged("evil000001", ann.folder, 2))
    assert ann.run("push", "evil000001").status == 0
    assert ann.run(*verb, env=ben).status == 0
    assert standing(ann.folder / "ben", "evil000001").where is Where.FOREIGN
    for words in (["replay"], ["reproduce"], ["fork", "--at", "1"], ["keep"]):
        done = ann.run(words[0], "evil000001", *words[1:], env=ben)
        assert (done.status, consent.OPTION in done.err) == (2, True), done
    assert not (ann.folder / "MARK").exists()
    # Nor does it come to be at home by way of who pulled it.
    assert ann.run("sync", env=ben).status == 0
    assert origins(ann.run("list", "--team", "--json"))["evil000001"] == ("foreign", None)


@pytest.mark.thorough
@pytest.mark.parametrize("signed", [True, False], ids=["with its old signature", "with no signature"])
def test_a_recording_that_was_chained_anew_with_another_answer_is_not_at_home(team, tmp_path, signed):
    ann, ben = LocalStore(tmp_path / "ann"), LocalStore(tmp_path / "ben")
    with reenact.record("one", home=ann.root) as run:
        look("A-1")
    with closing(TeamExchange(ann, team)) as one, closing(TeamExchange(ben, team)) as other:
        one.push([run.id])
        other.pull([run.id])
    assert standing(ben.root, run.id).where is Where.TRUSTED
    path = ben.folder(run.id) / "events.jsonl"
    lines = lines_of(path)
    next(line for line in lines if line["event"] == "returned")["value"] = "rm -rf"
    if not signed:
        lines[-1].pop("signed")
    path.write_bytes(forge(lines))
    found = standing(ben.root, run.id)
    assert not found.at_home
    assert found.seal is Seal.CHANGED
    with pytest.raises(ForeignRecording):
        consent.check(load(ben.folder(run.id)), ben.root)


@pytest.mark.thorough
def test_an_endorsed_recording_whose_end_was_cut_off_is_not_at_home(ann, ben):
    id = pushed(ann)
    ann.run("pull", id, env=ben)
    path = ann.folder / "ben" / "recordings" / id / "events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert standing(ann.folder / "ben", id).where is Where.FOREIGN


@pytest.mark.thorough
def test_a_file_of_another_process_put_beside_undoes_the_endorsement(ann, ben):
    id = pushed(ann)
    ann.run("pull", id, env=ben)
    folder = ann.folder / "ben" / "recordings" / id
    (folder / "events.child.jsonl").write_bytes(forged(id, ann.folder, 2))
    assert not standing(ann.folder / "ben", id).at_home


@pytest.mark.thorough
def test_an_endorsement_of_one_recording_is_none_of_another(ann, ben):
    id = pushed(ann)
    ann.run("pull", id, env=ben)
    ann.run("pull", "--all", env=ben)
    recordings = ann.folder / "ben" / "recordings"
    foreign = recordings / "evil000001"
    foreign.mkdir()
    (foreign / "events.jsonl").write_bytes(forged("evil000001", ann.folder, 2))
    shutil.copy(recordings / id / endorsement.FILE, foreign)
    assert standing(ann.folder / "ben", "evil000001").where is Where.FOREIGN


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    "text", ["", "null", "[]", '{"key": 1, "signature": 2}', '{"key": "ed25519:00"}', "x" * 9000]
)
def test_an_endorsement_that_is_none_is_ignored(ann, ben, text):
    id = pushed(ann)
    ann.run("pull", id, env=ben)
    (ann.folder / "ben" / "recordings" / id / endorsement.FILE).write_text(text)
    assert standing(ann.folder / "ben", id).where is Where.FOREIGN


@pytest.mark.thorough
def test_a_forged_endorsement_is_taken_by_no_intake_and_believed_by_no_home(ann, ben, team):
    pushed(ann)
    public = team.database
    with public.begin() as connection:
        key = connection.execute(select(PROJECT_KEYS.c.public)).scalar_one()
    data = forged("evil000001", ann.folder, 2)
    paper = orjson.dumps({"key": key, "signature": "00" * 64})
    taken = team.intake.take(
        [Piece("evil000001", "events.jsonl", 0, data), Piece("evil000001", endorsement.FILE, 0, paper)]
    )
    assert [one.status for one in taken] == ["ok", "refused"]
    # Written to the tables past the program, it does not fit.
    with public.begin() as connection:
        forgery = update(RECORDINGS).where(RECORDINGS.c.id == "evil000001")
        connection.execute(forgery.values(endorser=key, endorsement="00" * 64))
    assert ann.run("pull", "evil000001", env=ben).status == 0
    assert standing(ann.folder / "ben", "evil000001").where is Where.FOREIGN
    assert ann.run("replay", "evil000001", env=ben).status == 2
    assert not (ann.folder / "MARK").exists()


@pytest.mark.thorough
def test_an_endorsement_by_a_key_that_is_not_the_projects_is_not_believed(ann, ben):
    id = pushed(ann)
    ann.run("pull", id, env=ben)
    home = ann.folder / "ben"
    Book(home).remove("project default")
    assert standing(home, id).where is Where.FOREIGN
    # What the user has removed does not come back by itself.
    ann.run("pull", id, env=ben)
    assert ann.run("list", "--team", env=ben).status == 0
    assert standing(home, id).where is Where.FOREIGN


def test_what_grows_after_its_endorsement_is_endorsed_anew(team, tmp_path):
    there = LocalStore(tmp_path / "ann")
    with reenact.record("one", home=there.root) as run:
        pass
    path = there.folder(run.id) / "events.jsonl"
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    ann, ben = TeamExchange(there, team), TeamExchange(LocalStore(tmp_path / "ben"), team)
    ann.push([run.id])
    ben.pull([run.id])
    found = standing(tmp_path / "ben", run.id)
    assert (found.where, found.seal) == (Where.TRUSTED, Seal.UNSEALED)
    path.write_bytes(whole)
    ann.push([run.id])
    ben.pull([run.id])
    found = standing(tmp_path / "ben", run.id)
    assert (found.where, found.seal) == (Where.TRUSTED, Seal.SEALED)
    ann.close()
    ben.close()


@pytest.mark.thorough
def test_trust_list_names_the_projects_key(ann, ben):
    id = pushed(ann)
    ann.run("pull", id, env=ben)
    names = [line["name"] for line in json.loads(ann.run("trust", "list", "--json", env=ben).out)]
    assert names == ["project default"]
