"""Signed addresses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reenact
from reenact.browser.session import signatures
from reenact.browser.session.signatures import KEY, Signer
from reenact.core.trust.identity import FILE, NAME, Identity, kept
from reenact.errors import RecordingError


@pytest.fixture
def signer():
    return Signer(b"k" * 32)


def parts(address):
    return re.fullmatch(r"(.*)\?expires=(\d+)&signature=([0-9a-f]{64})", address).groups()


def test_a_signed_path_is_allowed_until_it_expires(signer, monkeypatch):
    address, expires = signer.sign("/videos/a b.mp4", seconds=60)
    path, until, signature = parts(address)
    assert path == "/videos/a%20b.mp4"
    assert int(until) == expires.timestamp()
    assert signer.allows("/videos/a b.mp4", until, signature)
    monkeypatch.setattr(signatures.time, "time", lambda: int(until))
    assert not signer.allows("/videos/a b.mp4", until, signature)


def test_nothing_else_is_allowed(signer):
    _, until, signature = parts(signer.sign("/a.mp4", seconds=60)[0])
    assert not signer.allows("/b.mp4", until, signature)
    assert not signer.allows("/a.mp4", str(int(until) + 1), signature)
    assert not signer.allows("/a.mp4", until, signature[:-1] + ("0" if signature[-1] != "0" else "1"))
    assert not signer.allows("/a.mp4", until, signature.upper())
    assert not Signer(b"x" * 32).allows("/a.mp4", until, signature)


@pytest.mark.parametrize("until", ["", "soon", "-1", "1e9", "٣", "9" * 400, " 12"])
@pytest.mark.parametrize("signature", ["", "é", "0" * 64])
def test_nonsense_is_refused_and_no_error(signer, until, signature):
    assert not signer.allows("/a.mp4", until, signature)


def test_the_key_is_kept_for_its_owner_alone_and_stays(tmp_path):
    address, _ = Signer.of(tmp_path / "home").sign("/a", seconds=60)
    key = kept(tmp_path / "home") / KEY
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(key.read_bytes()) == 32
    assert Signer.of(tmp_path / "home").allows(*parts(address))
    assert sorted(path.name for path in key.parent.iterdir()) == [FILE, KEY]
    assert [path.name for path in (tmp_path / "home").iterdir()] == [NAME]


def test_a_damaged_key_is_made_anew(tmp_path):
    key = Identity.made(tmp_path).folder / KEY
    key.write_bytes(b"short")
    signer = Signer.of(tmp_path)
    assert len(key.read_bytes()) == 32
    assert Signer.of(tmp_path).allows(*parts(signer.sign("/a", seconds=60)[0]))


def test_a_home_that_cannot_be_written_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match=r"no address can be signed: .*home-id"):
        Signer.of(tmp_path / "file" / "home")


def test_signing_is_no_effect_of_a_recorded_program(tmp_path):
    with reenact.record("signing", home=tmp_path) as recording:
        Signer.of(tmp_path).sign("/a", seconds=60)
    drawn = re.findall('"source":"([^"]*)"', Path(recording.path, "events.jsonl").read_text(encoding="utf-8"))
    # Every recording has its zone, and where another test has imported numpy, the state of that.
    assert set(drawn) <= {"clock:zone", "entropy:numpy"}
