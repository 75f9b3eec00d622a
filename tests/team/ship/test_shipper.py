"""The shipper, told when to go: what is new goes to a real server, and what is there is what is here."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import reenact
from reenact.core.store.chain import chained
from reenact.core.store.local import LocalStore, load
from reenact.server.activity import alive
from reenact.team import ship
from reenact.team.ship.sender import Away, Refused
from reenact.team.ship.shipper import Shipper
from tests.team.ship.serving import files, free_port


@reenact.tool
def ask(text):
    return {"asked": text, "salt": os.urandom(4).hex()}


@reenact.tool
def picture(size):
    return os.urandom(size)


def recorded(count=3):
    with reenact.record("sent") as run:
        for number in range(count):
            ask(f"question {number}")
    return run


def test_lines_are_there_while_the_recording_is_being_made_and_the_seal_when_it_has_ended(sending):
    shipper = sending.shipper()
    with reenact.record("live") as run:
        ask("one")
        shipper.flush()
        # (That we read them here is recorded here, too.)
        assert sending.here(run.id).read_bytes().startswith(sending.there(run.id).read_bytes())
        there = load(sending.there(run.id).parent)
        assert (there.status, len(list(there))) == ("unsealed", 1)
        # That it is being written is told, though nothing comes; its process may be another machine's.
        assert alive(sending.there(run.id).parent, written=time.time() - 20)
        ask("two")
    shipper.flush()
    assert files(sending.server.recordings / run.id) == files(sending.store.folder(run.id))
    assert load(sending.there(run.id).parent).status == "ok"
    assert not alive(sending.there(run.id).parent, written=time.time() - 20, now=time.time() + 31)
    assert sending.queue.marks() == []


def test_what_is_not_marked_stays_here(sending, monkeypatch):
    monkeypatch.delenv("REENACT_SERVER")
    run = recorded()
    sending.flush()
    assert not sending.there(run.id).exists()


@pytest.mark.thorough
def test_another_shipper_goes_on_where_the_first_was_killed_and_nothing_is_there_twice(sending):
    run = recorded(50)
    data = sending.here(run.id).read_bytes()
    # Cut off within a line, as a kill of the server may leave it.
    folder = sending.there(run.id).parent
    for cut in (len(data) // 3, len(data) // 2, len(data) - 1):
        folder.mkdir(parents=True, exist_ok=True)
        sending.there(run.id).write_bytes(data[:cut])
        sending.mark(run.id)
        sending.flush()
        assert sending.there(run.id).read_bytes() == data
    # An acknowledgement that was lost: all of it is sent again, and is there once.
    first, second = sending.shipper(), sending.shipper()
    other = recorded(20)
    first._look()
    second._look()
    first.flush()
    second.flush()
    assert sending.there(other.id).read_bytes() == sending.here(other.id).read_bytes()


def test_other_bytes_there_are_never_overwritten_and_it_is_said(sending):
    run = recorded()
    shipper = sending.shipper()
    shipper._look()
    other = sending.here(run.id).read_bytes().replace(b"question 1", b"question X")
    sending.there(run.id).parent.mkdir(parents=True)
    sending.there(run.id).write_bytes(other)
    shipper.flush()
    assert "other bytes are stored here already" in shipper.stuck[run.id]
    assert sending.there(run.id).read_bytes() == other
    assert [mark.id for mark in sending.queue.marks()] == [run.id]
    sending.queue.remove(run.id)


def test_a_torn_last_line_is_not_sent_until_it_is_whole(sending):
    run = recorded()
    data = sending.here(run.id).read_bytes()
    cut = data.rindex(b"\n", 0, -1) + 20
    sending.here(run.id).write_bytes(data[:cut])
    shipper = sending.shipper()
    sending.queue.add(
        ship.ShipMark(run.id, sending.to.server, sending.to.name)
    )  # held, as by one that writes
    shipper.flush()
    assert sending.there(run.id).read_bytes() == data[: data.rindex(b"\n", 0, -1) + 1]
    sending.here(run.id).write_bytes(data)
    shipper.round()
    assert data.startswith(sending.there(run.id).read_bytes())
    sending.queue.remove(run.id)


def test_blobs_are_there_before_the_lines_that_name_them(sending):
    with reenact.record("pictures") as run:
        whole = [picture(200_000) for _ in range(3)]
    sending.flush()
    there = load(sending.server.recordings / run.id)
    assert [step.output for step in there] == whole
    assert files(sending.server.recordings / run.id) == files(sending.store.folder(run.id))


@pytest.mark.thorough
def test_a_fork_is_whole_there_although_its_parent_is_not(sending, monkeypatch):
    monkeypatch.delenv("REENACT_SERVER")
    with reenact.record("parent") as parent:
        big = picture(200_000)
        for number in range(5):
            ask(f"question {number}")
    monkeypatch.setenv("REENACT_SERVER", sending.to.server)
    with reenact.fork(parent.id, at=4, secrets=reenact.DEFAULT_RULES) as fork:
        picture(200_000)
        for number in range(6):
            ask(f"question {number}")
    assert b'{"event":"same"' in sending.here(fork.id).read_bytes()
    sending.flush()
    assert not sending.there(parent.id).exists()
    there, here = load(sending.there(fork.id).parent), load(sending.here(fork.id).parent)
    assert [step.output for step in there] == [step.output for step in here]
    assert next(iter(there)).output == big
    # The parent is deleted here, so the fork is written whole: those are the very bytes that were sent.
    sending.store.remove(parent.id)
    assert sending.there(fork.id).read_bytes() == sending.here(fork.id).read_bytes()
    # And from the middle of what it shares, too.
    data = sending.there(fork.id).read_bytes()
    sending.there(fork.id).write_bytes(data[: len(data) // 3])
    sending.mark(fork.id)
    sending.flush()
    assert sending.there(fork.id).read_bytes() == data


@pytest.mark.thorough
def test_a_fork_that_comes_to_nothing_leaves_nothing_there(sending):
    parent = recorded(3)
    sending.flush()
    with pytest.raises(reenact.ReenactError), reenact.fork(parent.id, at=3) as fork:
        shipper = sending.flush()
        ask("question 0")
    assert not shipper.stuck
    sending.flush()
    assert not sending.there(fork.id).parent.exists()
    assert sending.queue.marks() == []


@pytest.mark.thorough
def test_side_files_of_browser_sessions_go_with_their_pictures(sending):
    with reenact.record("browsing") as run:
        ask("a page")
        beside = run._recorder.sidecar("session.1.jsonl")
        beside.write("session", format=1)
        for number in range(30):
            beside.write("frame", blob=beside.blob(bytes([number]) * 30_000))
        sending.flush()
        beside.write("end")
        beside.close()
    sending.flush()
    assert files(sending.server.recordings / run.id) == files(sending.store.folder(run.id))
    assert len(list((sending.server.recordings / run.id / "blobs").rglob("*/*"))) == 30


@pytest.mark.thorough
def test_a_long_line_is_one_piece(sending):
    with reenact.record("long") as run:
        ask("x" * 3_000_000)
    sending.flush()
    assert sending.there(run.id).read_bytes() == sending.here(run.id).read_bytes()


def test_with_drop_it_is_gone_here_once_it_is_whole_there_and_stays_where_it_was_cut_off(sending):
    run, cut = recorded(), recorded()
    data = sending.here(cut.id).read_bytes()
    lines = data[: data.rindex(b"\n", 0, -1)].replace(b'"pid":%d' % os.getpid(), b'"pid":0').split(b"\n")
    sending.here(cut.id).write_bytes(chained(lines))
    sending.flush(drop=True)
    assert not sending.store.folder(run.id).exists()
    assert load(sending.there(run.id).parent).status == "ok"
    assert sending.store.folder(cut.id).exists()
    assert sending.queue.marks() == []


def test_a_server_that_is_away_and_a_key_that_is_wrong_leave_all_as_it_was(sending, tmp_path):
    run = recorded()
    nobody = ship.Destination(f"http://127.0.0.1:{free_port()}", "")
    sending.queue.add(ship.ShipMark(run.id, nobody.server, nobody.name)).release()
    away = Shipper(sending.store, nobody)
    with pytest.raises(Away, match="does not answer"):
        away.flush(patience=0)
    away.close()
    wrong = ship.Destination(sending.to.server, "rnt_wrong")
    sending.queue.add(ship.ShipMark(run.id, wrong.server, wrong.name)).release()
    unknown = Shipper(sending.store, wrong)
    with pytest.raises(Refused, match="does not know the key in REENACT_API_KEY"):
        unknown.flush()
    unknown.close()
    assert [mark.id for mark in sending.queue.marks()] == [run.id]
    told = "".join(path.read_text() for path in Path(sending.queue.folder).glob("*.json"))
    assert "does not know the key" in told
    assert "rnt_wrong" not in told


@pytest.mark.parametrize(
    "server", ["127.0.0.1:8090", "ftp://host", "http://", "http://u:p@host", "http://host:x"]
)
def test_an_address_that_is_none_costs_a_line_and_no_recording(sending, monkeypatch, capsys, server):
    monkeypatch.setenv("REENACT_SERVER", server)
    first, _ = recorded(), recorded()
    assert LocalStore().load(first.id).status == "ok"
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("reenact: nothing is sent to a server: REENACT_SERVER")
    assert "u:p" not in said[0]


def test_a_home_for_a_moment_sends_nothing(sending):
    ship.keep_here(sending.store.root)
    recorded()
    assert sending.queue.marks() == []
