"""A home that a stranger packed brings recordings and no trust: no key, no list of trusted keys, no consent, no login."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile

import pytest

import reenact
from reenact.browser.session.signatures import Signer
from reenact.core.boundary import perform
from reenact.core.model.event import Effect
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore, load
from reenact.core.trust import Book, Identity, Where, consent
from reenact.core.trust.identity import NAME
from reenact.errors import UsageError
from reenact.server.keys import Keys


class Stranger:
    """Another user with a configuration directory of their own, who packs a home and everything that belongs to it."""

    def __init__(self, folder, monkeypatch):
        self.home, self.config = folder / "stranger" / "home", folder / "stranger" / "config"
        self.mine = os.environ["XDG_CONFIG_HOME"]
        self._patch = monkeypatch
        with self:
            with reenact.record("evil", home=self.home) as recording:
                perform(Effect("tool", "add", {"a": 1}), lambda: 2)
            self.id = recording.id
            book = Book(self.home)
            book.add("ann", "ed25519:" + "1" * 64)
            consent.accept(load(self.home / "recordings" / self.id), self.home)
            self.key = Keys(self.home).make(role="admin")[1]
            self.address = Signer.of(self.home).sign("/secret", seconds=1000)[0]
            assert [line.here for line in Index(LocalStore(self.home)).summaries()] == [True]
            assert consent.allowed(load(self.home / "recordings" / self.id), self.home)
            self.folder = book.identity.folder

    def __enter__(self):
        self._patch.setenv("XDG_CONFIG_HOME", str(self.config))

    def __exit__(self, *_):
        self._patch.setenv("XDG_CONFIG_HOME", self.mine)

    def packed(self, file):
        """Everything of the stranger's, the keys too, laid into the home under every name that it ever had."""
        with tarfile.open(file, "w") as archive:
            archive.add(self.home, "home")
            archive.add(self.config, "home/.config")
            archive.add(self.config / "reenact", "home/reenact")
            for path in self.folder.iterdir():
                archive.add(path, f"home/{path.name}")
        return file


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    return Stranger(tmp_path, monkeypatch)


@pytest.fixture
def unpacked(stranger, tmp_path):
    with tarfile.open(stranger.packed(tmp_path / "home.tar")) as archive:
        archive.extractall(tmp_path / "unpacked", filter="fully_trusted")
    home = tmp_path / "unpacked" / "home"
    # As private as on the stranger's machine: modes are no proof of anything.
    assert (home / "identity.json").stat().st_mode & 0o777 == 0o600
    return home


def cli(home, *words, **environ):
    return subprocess.run(
        [sys.executable, "-m", "reenact", *words],
        env={**os.environ, "REENACT_HOME": str(home), **environ},
        cwd=home.parent,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_its_recordings_are_foreign_and_its_trust_and_consents_are_gone(stranger, unpacked):
    found = load(unpacked / "recordings" / stranger.id)
    assert consent.standing_of(found, unpacked).where is Where.FOREIGN
    assert not consent.allowed(found, unpacked)
    assert Book(unpacked).keys == {}


def test_they_are_foreign_still_after_the_home_was_recorded_to(stranger, unpacked):
    with reenact.record("mine", home=unpacked) as recording:
        pass
    found = {id: load(unpacked / "recordings" / id) for id in (stranger.id, recording.id)}
    assert not consent.allowed(found[stranger.id], unpacked)
    assert consent.allowed(found[recording.id], unpacked)
    assert Book(unpacked).keys == {}


@pytest.mark.parametrize("recorded", [False, True])
def test_its_index_is_not_believed(stranger, unpacked, recorded):
    with sqlite3.connect(unpacked / "index.sqlite") as database:
        database.execute("UPDATE recordings SET name = 'forged'")
    if recorded:
        Identity.made(unpacked)
    lines = json.loads(cli(unpacked, "list", "--json").stdout)
    assert [line["origin"]["where"] for line in lines] == ["foreign"]
    assert [line["name"] for line in lines] == ["evil"]


@pytest.mark.thorough
def test_its_programs_run_by_no_verb(stranger, unpacked):
    done = cli(unpacked, "replay", stranger.id)
    assert done.returncode == 2
    assert "--run-foreign" in done.stderr


def test_its_keys_open_no_server_and_the_refusal_is_one_line(stranger, unpacked):
    for _ in range(2):
        with pytest.raises(UsageError, match="made by another user") as told:
            Keys(unpacked).find(stranger.key)
        assert "\n" not in str(told.value)
        # Nor do they once the home has a key of this user's.
        Identity.made(unpacked)
    with pytest.raises(UsageError, match="made by another user"):
        Keys(unpacked).make(role="read")


def test_its_signed_addresses_are_void(stranger, unpacked):
    path, _, query = stranger.address.partition("?")
    said = dict(part.split("=") for part in query.split("&"))
    assert not Signer.of(unpacked).allows(path, said["expires"], said["signature"])


def test_a_name_that_is_copied_from_a_home_of_the_user_makes_nothing_at_home(stranger, unpacked, tmp_path):
    mine = tmp_path / "mine"
    Book(mine).add("bob", "ed25519:" + "2" * 64)
    shutil.copy(mine / NAME, unpacked / NAME)
    assert not consent.allowed(load(unpacked / "recordings" / stranger.id), unpacked)
    assert Book(unpacked).keys == {"ed25519:" + "2" * 64: "bob"}
    with pytest.raises(UsageError, match="made by another user"):
        Keys(unpacked).find(stranger.key)


def test_a_home_that_its_owner_copies_with_the_keys_goes_on_as_before(stranger, tmp_path, monkeypatch):
    shutil.copytree(stranger.home, tmp_path / "new" / "home")
    shutil.copytree(stranger.config, tmp_path / "new" / "config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "new" / "config"))
    home = tmp_path / "new" / "home"
    assert consent.standing_of(load(home / "recordings" / stranger.id), home).where is Where.HOME
    assert list(Book(home).keys.values()) == ["ann"]
    assert Keys(home).find(stranger.key).role == "admin"


@pytest.mark.thorough
def test_a_home_that_its_owner_copied_without_the_keys_is_trusted_by_its_public_key(stranger, unpacked):
    done = cli(unpacked, "trust", "add", "old-machine", stranger.id)
    assert done.returncode == 0, done.stderr
    assert consent.allowed(load(unpacked / "recordings" / stranger.id), unpacked)


NOWHERE = {"no configuration directory": "/proc/none", "a file in its place": "/dev/null"}


@pytest.mark.thorough
@pytest.mark.parametrize("place", NOWHERE)
def test_where_no_key_can_be_kept_the_run_is_recorded_and_one_line_says_what_to_set(tmp_path, place):
    (tmp_path / "agent.py").write_text("print('done')\n")
    home = tmp_path / "home"
    words = ("record", "--", sys.executable, str(tmp_path / "agent.py"))
    done = cli(home, *words, XDG_CONFIG_HOME=NOWHERE[place])
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    told = [line for line in done.stderr.splitlines() if "XDG_CONFIG_HOME" in line]
    assert len(told) == 1, done.stderr
    done = cli(home, "list", "--json", XDG_CONFIG_HOME=NOWHERE[place])
    assert [line["origin"]["where"] for line in json.loads(done.stdout)] == ["foreign"]
    for verb in (("trust",), ("trust", "add", "ann", "ed25519:" + "1" * 64), ("keys", "add")):
        done = cli(home, *verb, XDG_CONFIG_HOME=NOWHERE[place])
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert "XDG_CONFIG_HOME" in done.stderr


@pytest.mark.thorough
def test_children_that_a_program_gives_another_home_directory_sign_with_the_same_key(tmp_path):
    (tmp_path / "child.py").write_text("import time; time.time()\n")
    (tmp_path / "agent.py").write_text(
        "import os, subprocess, sys\n"
        "env = {k: v for k, v in os.environ.items() if k != 'XDG_CONFIG_HOME'} | {'HOME': os.getcwd()}\n"
        "subprocess.run([sys.executable, 'child.py'], env=env, check=True)\n"
    )
    home = tmp_path / "home"
    (tmp_path / "x").mkdir()
    done = cli(home, "record", "--", sys.executable, str(tmp_path / "agent.py"), PWD=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (folder,) = (home / "recordings").iterdir()
    assert len(list(folder.glob("events*.jsonl"))) == 2
    assert consent.standing_of(load(folder), home).where is Where.HOME
    assert not (tmp_path / ".config").exists()
