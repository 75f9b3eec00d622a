"""The team's store does what every store does, on a real Postgres and with real objects."""

from __future__ import annotations

import os
import sys
import urllib.request

import pytest
from sqlalchemy import insert

from reenact.core.store.base import Damaged, Piece
from reenact.errors import StoreAway
from reenact.team.objects import ObjectBlobs
from reenact.team.tables import BLOBS, CHUNKS, FILES, RECORDINGS, VERSIONS
from reenact.testing import BlobStoreConformance, IntakeConformance, StoreConformance
from reenact.testing.intake_conformance import _LINE, _header
from tests.hostile.forge import forge


class TestTheTeamsStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _team(self, team):
        self.team = team

    def store(self, tmp_path):
        return self.team

    def write(self, store, id, events, blobs):
        # Around the intake, which lets no damaged one in.
        project = store.database.project
        with store.database.begin() as connection:
            row = {"project": project, "id": id, "version": VERSIONS.next_value()}
            key = connection.execute(insert(RECORDINGS).values(row).returning(RECORDINGS.c.key)).scalar_one()
            middle = events.find(b"\n") + 1 or len(events)
            for at, data in ((0, events[:middle]), (middle, events[middle:])):
                connection.execute(
                    insert(CHUNKS).values(recording=key, name="events.jsonl", at=at, data=data)
                )
            connection.execute(insert(FILES).values(recording=key, name="events.jsonl", length=len(events)))
            for digest, data in blobs.items():
                address = store.blobs.put(data)
                assert address == f"sha256:{digest}"
                connection.execute(insert(BLOBS).values(recording=key, address=address, size=len(data)))


class TestTheTeamsIntake(IntakeConformance):
    @pytest.fixture(autouse=True)
    def _team(self, team):
        self.team = team

    def intake(self, tmp_path):
        return self.team.intake, self.team

    def test_removed_is_gone_and_may_come_again(self, tmp_path):
        """A team's store obeys its tombstones: a removed recording is refused."""
        intake, store = self.intake(tmp_path)
        first = Piece("one", "events.jsonl", 0, _header("one") + _LINE)
        intake.take([first])
        store.remove("one")
        assert intake.lengths(["one"]) == {}
        assert [taken.status for taken in intake.take([first])] == ["gone"]


class TestBlobsInAFolder(BlobStoreConformance):
    def blobs(self, tmp_path):
        return ObjectBlobs(f"file://{tmp_path}/objects", "default")

    @pytest.mark.skipif(sys.platform != "linux", reason="asks Linux which file that is")
    def test_what_is_kept_outlives_the_power(self, tmp_path, monkeypatch):
        synced, sync = set(), os.fdatasync

        def told(file):
            synced.add(os.readlink(f"/proc/self/fd/{file}"))
            sync(file)

        monkeypatch.setattr(os, "fdatasync", told)
        address = self.blobs(tmp_path).put(b"a b")
        (file,) = (tmp_path / "objects").rglob(address.removeprefix("sha256:"))
        assert {str(file), *map(str, list(file.parents)[:3])} <= synced


@pytest.mark.slow
class TestBlobsInS3(BlobStoreConformance):
    @pytest.fixture(autouse=True)
    def _s3(self, s3):
        pass

    def blobs(self, tmp_path):
        return ObjectBlobs(f"s3://team/{tmp_path.name}", "default")

    def fetched(self, url):
        with urllib.request.urlopen(url) as answer:
            return answer.read()

    def test_whoever_lacks_the_signature_gets_nothing(self, tmp_path):
        blobs = self.blobs(tmp_path)
        address = blobs.put(b"private")
        with pytest.raises(OSError, match="403"):
            self.fetched(blobs.url(address, 60).partition("?")[0])

    def test_a_wrong_secret_is_said(self, tmp_path, monkeypatch):
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "other")
        with pytest.raises(StoreAway, match="s3://team"):
            self.blobs(tmp_path).put(b"x")


@pytest.mark.thorough
def test_lines_that_do_not_continue_a_file_are_refused_by_name(team):
    first = {"event": "opened", "format": 2, "id": "a0", "pid": 1}
    data = forge([first, *({"event": "noted", "what": "hole", "text": f"{at}", "t": 1.0} for at in range(3))])
    cut = data.index(b"\n") + 1
    bad = data.replace(b'"text":"1"', b'"text":"7"')
    (taken,) = team.intake.take([Piece("a0", "events.jsonl", 0, bad)])
    assert isinstance(taken, Damaged)
    assert taken.detail.startswith("events.jsonl, line 3: damaged: it was changed")
    assert team.ids() == []
    assert [one.status for one in team.intake.take([Piece("a0", "events.jsonl", 0, data[:cut])])] == ["ok"]
    (taken,) = team.intake.take([Piece("a0", "events.jsonl", cut, bad[cut:])])
    assert taken.detail.startswith(f"events.jsonl, line 2 after byte {cut}: damaged: ")
    (taken,) = team.intake.take([Piece("a0", "events.jsonl", cut, data[cut:])])
    assert taken.status == "ok"
