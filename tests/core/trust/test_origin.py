"""What a recording proves of the home that wrote it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

import reenact
from reenact.core.boundary import perform
from reenact.core.model.event import Effect
from reenact.core.store.local import load
from reenact.core.store.writer import reseal
from reenact.core.trust import Book, Identity, Seal, Where, consent
from reenact.core.trust.identity import NAME, kept
from tests.systems import POSIX


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def folder(home):
    with reenact.record("mine", home=home) as recording:
        perform(Effect("tool", "add", {"a": 1}), lambda: 2)
    return home / "recordings" / recording.id


@pytest.fixture
def other(tmp_path):
    return tmp_path / "other"


def taken(folder, home):
    """The recording's copy in another home."""
    target = home / "recordings" / folder.name
    shutil.copytree(folder, target)
    return target


def standing(folder, home):
    return consent.standing_of(load(folder), home)


def test_a_sealed_recording_of_the_home_is_signed_by_its_key(home, folder):
    found = standing(folder, home)
    assert (found.where, found.seal) == (Where.HOME, Seal.SEALED)
    assert found.key == Identity.of(home).key
    assert found.words == ()


def test_a_recording_whose_key_is_trusted_is_at_home_by_that_name(home, folder, other):
    copy = taken(folder, other)
    assert standing(copy, other).words == ("foreign",)
    Book(other).add("ann", Identity.of(home).key)
    found = standing(copy, other)
    assert (found.where, found.name, found.at_home) == (Where.TRUSTED, "ann", True)
    Book(other).remove("ann")
    assert standing(copy, other).where is Where.FOREIGN


def test_an_own_recording_comes_home_again(home, folder, other):
    copy = taken(folder, other)
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    assert standing(folder, home).at_home


def test_a_run_that_was_cut_off_is_the_homes_own_and_unsealed(home, folder, other):
    path = folder / "events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    found = standing(folder, home)
    assert (found.where, found.seal, found.words) == (Where.HOME, Seal.UNSEALED, ("unsealed",))
    assert found.at_home
    copy = taken(folder, other)
    Book(other).add("ann", Identity.of(home).key)
    assert standing(copy, other).words == ("foreign", "unsealed")


def test_a_seal_that_was_written_anew_by_others_marks_it_as_changed(home, folder, other):
    sealed = dict(load(folder).logs[0].sealed)
    reseal(folder / "events.jsonl", sealed | {"status": "error"})
    found = standing(folder, home)
    assert found.seal is Seal.CHANGED
    assert not found.at_home


def test_events_that_were_changed_below_a_seal_of_the_home_mark_it_as_changed(home, folder, other):
    signed = load(folder).logs[0].sealed["signed"]
    reseal(folder / "events.jsonl", dict(load(folder).logs[0].sealed) | {"exit": 9}, lambda _: signed)
    assert standing(folder, home).seal is Seal.CHANGED
    copy = taken(folder, other)
    Book(other).add("ann", Identity.of(home).key)
    assert standing(copy, other).seal is Seal.CHANGED
    assert not standing(copy, other).at_home


def test_a_stranger_cannot_seal_what_the_home_began(home, folder, other):
    """The header is the home's own; all after it is the stranger's, sealed by a key of theirs."""
    stranger = Identity.made(other)

    def sign(digest):
        from reenact.core.trust.origin import seal_mark

        return seal_mark(stranger, digest)

    reseal(folder / "events.jsonl", dict(load(folder).logs[0].sealed), sign)
    assert not standing(folder, home).at_home


def test_a_file_of_another_process_put_beside_makes_it_foreign(home, folder, other):
    header = {
        "event": "opened",
        "format": 1,
        "rules": 1,
        "id": folder.name,
        "process": "main/x",
        "salt": "00",
    }
    (folder / "events.abc.jsonl").write_text(json.dumps(header) + "\n")
    assert not standing(folder, home).at_home


def test_a_fork_is_the_homes_own_only_by_its_own_seal(home, folder):
    with reenact.fork(load(folder), at=1, home=home, policy=["add=live"]) as fork:
        perform(Effect("tool", "add", {"a": 1}), lambda: 3)
    child = home / "recordings" / fork.id
    assert standing(child, home).at_home
    assert standing(child, home).seal is Seal.SEALED


@pytest.mark.parametrize(
    "key", ["", "ed25519:", "ed25519:" + "0" * 63, "rsa:" + "0" * 64, "ed25519:" + "G" * 64]
)
def test_what_is_no_key_is_not_trusted(home, key):
    with pytest.raises(reenact.ReenactError, match="no public key"):
        Book(home).add("ann", key)


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a\n", "ä"])
def test_what_is_no_name_names_no_key(home, name):
    with pytest.raises(reenact.ReenactError, match="no name"):
        Book(home).add(name, "ed25519:" + "0" * 64)


def test_a_name_means_one_key(home):
    Book(home).add("ann", "ed25519:" + "0" * 64)
    with pytest.raises(reenact.ReenactError, match="another key"):
        Book(home).add("ann", "ed25519:" + "1" * 64)


@POSIX
def test_a_list_that_others_may_write_is_not_believed(home, folder, other):
    copy = taken(folder, other)
    Book(other).add("ann", Identity.of(home).key)
    (kept(other) / "trusted.jsonl").chmod(0o666)
    assert not standing(copy, other).at_home
    with pytest.raises(reenact.ReenactError, match="chmod 600"):
        Book(other).add("bob", "ed25519:" + "1" * 64)


def test_starting_to_record_imports_no_cryptography(home):
    code = (
        "import sys, reenact\n"
        f"with reenact.record('x', home={str(home)!r}): print('cryptography' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_run_goes_on_where_its_home_can_have_no_key(home, capsys):
    home.mkdir()
    (home / NAME).write_text("not mine")
    with reenact.record("mine", home=home) as recording:
        pass
    assert capsys.readouterr().err.count(NAME) == 1
    assert standing(home / "recordings" / recording.id, home).where is Where.FOREIGN


def test_a_process_that_was_killed_before_it_wrote_its_header_makes_nothing_foreign(home, folder):
    (folder / "events.b63fc008c58b.jsonl").touch()
    assert standing(folder, home).where is Where.HOME
    (folder / "events.b63fc008c58b.jsonl").write_bytes(b'{"event":"noted","what":"a","text":"b","t":0.1}\n')
    with pytest.raises(reenact.RecordingError):
        standing(folder, home)


def test_a_fork_of_a_foreign_recording_takes_over_no_command_of_its_header(home, other):
    """Else the stranger's command would be this home's own from then on."""
    with reenact.record("theirs", home=other) as recording:
        perform(Effect("tool", "add", {"a": 1}), lambda: 2)
    folder = taken(other / "recordings" / recording.id, home)
    header = json.loads((folder / "events.jsonl").read_bytes().partition(b"\n")[0])
    with reenact.fork(load(folder), at=1, home=home, policy=["add=live"]) as fork:
        perform(Effect("tool", "add", {"a": 1}), lambda: 3)
    child = load(home / "recordings" / fork.id)
    assert header["program"]["argv"][0] == child.header["program"]["argv"][0]
    assert child.header["parent"]["origin"] == "foreign"

    changed = dict(header, format=1, program={"argv": ["/bin/sh", "-c", "touch MARK"], "cwd": "/"})
    lines = [json.dumps(changed), *(folder / "events.jsonl").read_text().splitlines()[1:]]
    evil = home / "recordings" / "evil000001"
    evil.mkdir()
    from tests.hostile.forge import forge

    data = [json.loads(line) for line in lines]
    for line in data:
        line.pop("sum", None)
        line.pop("signed", None)
    (evil / "events.jsonl").write_bytes(forge([dict(data[0], format=2, id="evil000001"), *data[1:]]))
    with reenact.fork(load(evil), at=1, home=home, policy=["add=live"]) as fork:
        perform(Effect("tool", "add", {"a": 1}), lambda: 3)
    child = load(home / "recordings" / fork.id)
    assert "touch MARK" not in json.dumps(child.header["program"])
