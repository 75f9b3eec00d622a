"""A foreign recording's program runs with the user's leave alone."""

from __future__ import annotations

import json
import shutil

import pytest

import reenact
from reenact.core.store.local import load
from reenact.core.trust import Where, consent
from reenact.core.trust.identity import kept
from reenact.errors import ForeignRecording
from tests.systems import POSIX


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def recorded(home):
    with reenact.record("mine", home=home) as recording:
        pass
    return recording


def forged(folder, **header):
    """A recording as a stranger would write it."""
    folder.mkdir(parents=True)
    line = {
        "event": "opened", "format": 1, "rules": 1, "id": folder.name, "salt": "00", "process": "main",
        "program": {"argv": ["/bin/true"], "cwd": "/"}, **header,
    }  # fmt: skip
    (folder / "events.jsonl").write_text(json.dumps(line) + "\n")
    return load(folder)


def test_a_home_knows_what_it_recorded(home, recorded):
    standing = consent.standing_of(load(home / "recordings" / recorded.id), home)
    assert standing.where is Where.HOME
    assert standing.at_home
    assert consent.allowed(recorded.load(), home)


def test_the_same_recording_is_foreign_to_another_home(home, recorded, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(home / "recordings", other / "recordings")
    found = load(other / "recordings" / recorded.id)
    assert consent.standing_of(found, other).where is Where.FOREIGN
    assert not consent.allowed(found, other)


def test_a_header_that_was_changed_is_no_longer_the_homes_own(home, recorded):
    path = home / "recordings" / recorded.id / "events.jsonl"
    header = json.loads(path.read_bytes().partition(b"\n")[0])
    header["program"]["argv"] = ["/bin/sh", "-c", "touch MARK"]
    header["format"] = 1
    path.write_text(json.dumps(header) + "\n")
    found = load(path.parent)
    assert not consent.allowed(found, home)


def test_a_foreign_recording_is_refused_in_one_line_that_names_the_option(home, tmp_path):
    recording = forged(tmp_path / "evil", program={"argv": ["/bin/sh", "-c", "touch MARK"], "cwd": "/"})
    with pytest.raises(ForeignRecording) as refused:
        consent.check(recording, home)
    text = str(refused.value)
    assert "\n" not in text
    assert consent.OPTION in text
    assert "/bin/sh -c 'touch MARK'" in text
    consent.check(recording, home, run_foreign=True)


def test_leave_is_for_that_content_alone(home, tmp_path):
    recording = forged(tmp_path / "evil")
    consent.accept(recording, home)
    assert consent.allowed(recording, home)
    with (tmp_path / "evil" / "events.jsonl").open("a") as file:
        file.write('{"event":"noted","what":"x","text":"x"}\n')
    assert not consent.allowed(load(tmp_path / "evil"), home)
    (tmp_path / "evil" / "events.child.jsonl").write_text("")
    assert not consent.allowed(recording, home)


@POSIX
def test_leave_that_others_could_have_written_is_not_believed(home, tmp_path):
    recording = forged(tmp_path / "evil")
    consent.accept(recording, home)
    (kept(home) / "accepted.jsonl").chmod(0o666)
    assert not consent.allowed(recording, home)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
        ("\u202etxt.exe", "\\u{202e}txt.exe"),
        ("a\u200bb\ufeff", "a\\u{200b}b\\u{feff}"),
        ("e\u0301", "e\\u{301}"),
        ("\u05d0", "\\u{5d0}"),
        ("a\u3000b\u00a0c", "a\\u{3000}b\\u{a0}c"),
        ("\U000e0041", "\\u{e0041}"),
        ("Jürgen", "Jürgen"),
    ],
)
def test_what_would_deceive_on_a_terminal_is_escaped(text, shown):
    assert consent.escaped(text) == shown


def test_what_is_too_long_to_show_is_counted(tmp_path):
    recording = forged(tmp_path / "evil", program={"argv": ["x" * 5000], "cwd": "/"})
    assert consent.command(recording).endswith("1000 CHARACTERS MORE THAT ARE NOT SHOWN")


def test_all_that_steers_what_runs_is_described(tmp_path):
    proxy = {"upstreams": {"OPENAI_BASE_URL": "http://evil"}, "keys": ["OPENAI_API_KEY"]}
    recording = forged(
        tmp_path / "evil",
        entry="block",
        function={"name": "os:system", "args": {}},
        program={"argv": ["sh"], "cwd": "/tmp", "hash_seed": "7", "proxy": proxy},
    )
    assert dict(consent.described(recording)) == {
        "command": "sh",
        "folder": "/tmp",
        "entry": "block",
        "function": "os:system",
        "sends to": "OPENAI_BASE_URL=http://evil",
        "sets": "OPENAI_API_KEY, where it is missing",
    }
