"""The key of a home."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from reenact.core.trust.identity import FILE, NAME, PUBLIC, Identity, fingerprint, keys_folder, signed_by
from reenact.errors import UsageError
from tests.systems import POSIX

START = """
import sys
from pathlib import Path
from reenact.core.trust.identity import Identity
sys.stdin.readline()
print(Identity.made(Path(sys.argv[1])).mac("a", b"b"))
"""


def test_a_home_keeps_the_identity_that_it_made_first(tmp_path):
    assert Identity.of(tmp_path) is None
    first = Identity.made(tmp_path)
    assert Identity.made(tmp_path).mac("a", b"b") == first.mac("a", b"b")
    assert Identity.made(tmp_path / "other").mac("a", b"b") != first.mac("a", b"b")


@POSIX
def test_the_private_key_is_readable_by_its_owner_alone(tmp_path):
    folder = Identity.made(tmp_path).folder
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_the_private_key_lies_outside_of_the_home(tmp_path):
    folder = Identity.made(tmp_path).folder
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert folder == keys_folder() / "homes" / (tmp_path / NAME).read_text().strip()


def test_a_home_that_moves_keeps_its_identity(tmp_path):
    mine = Identity.made(tmp_path / "home").mac("a", b"b")
    (tmp_path / "home").rename(tmp_path / "elsewhere")
    assert Identity.made(tmp_path / "elsewhere").mac("a", b"b") == mine


def test_another_user_of_the_same_home_has_a_key_of_their_own(tmp_path):
    mine = Identity.made(tmp_path / "home").mac("a", b"b")
    assert Identity.of(tmp_path / "home", str(tmp_path / "their keys")) is None
    theirs = Identity.made(tmp_path / "home", str(tmp_path / "their keys"))
    assert theirs.mac("a", b"b") != mine
    assert Identity.made(tmp_path / "home").mac("a", b"b") == mine


def test_processes_that_begin_together_get_the_same_identity(tmp_path):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", START, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(6)
    ]
    for process in started:
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert len({process.communicate()[0] for process in started}) == 1


@pytest.mark.parametrize("content", [b"", b"[]", b'{"seed": "00"}', b'{"seed": 7}', b"\xff"])
def test_a_file_that_is_no_identity_is_named_and_left_alone(tmp_path, content):
    path = Identity.made(tmp_path).folder / FILE
    path.write_bytes(content)
    with pytest.raises(UsageError, match=FILE):
        Identity.made(tmp_path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "content", [b"", b"not a name", b"../../../../etc", b"0" * 33, b"\xff" * 32, b"0" * 10**6]
)
def test_a_file_that_names_no_home_is_named_and_left_alone(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    assert Identity.of(tmp_path) is None
    with pytest.raises(UsageError, match=f"{NAME} names no home"):
        Identity.made(tmp_path)
    assert (tmp_path / NAME).read_bytes() == content


@pytest.mark.parametrize(
    "kind", ["folder", *(pytest.param(one, marks=POSIX) for one in ("link", "pipe", "link to nothing"))]
)
def test_what_is_no_file_names_no_home_and_is_not_written_to(tmp_path, kind):
    (tmp_path / "target").write_text("0" * 32)
    if kind == "pipe":
        os.mkfifo(tmp_path / NAME)
    elif kind == "folder":
        (tmp_path / NAME).mkdir()
    else:
        (tmp_path / NAME).symlink_to(tmp_path / ("target" if kind == "link" else "none"))
    with pytest.raises(UsageError, match=f"{NAME} names no home"):
        Identity.made(tmp_path)
    assert (tmp_path / "target").read_text() == "0" * 32
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("value", [None, "", "relative/config"])
def test_keys_lie_in_the_configuration_directory(monkeypatch, tmp_path, value):
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(tmp_path))
    if value is None:
        monkeypatch.delenv("XDG_CONFIG_HOME")
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
    assert keys_folder() == tmp_path / ".config" / "reenact"


def test_a_user_without_a_home_directory_is_told_in_one_line(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert Identity.of(tmp_path) is None
    with pytest.raises(UsageError, match="set XDG_CONFIG_HOME") as told:
        Identity.made(tmp_path)
    assert "\n" not in str(told.value)


def test_a_configuration_directory_that_cannot_be_written_is_named_in_one_line(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(
        UsageError, match=r"file[/\\]reenact[/\\]homes[/\\].*cannot be written .*XDG_CONFIG_HOME"
    ):
        Identity.made(tmp_path / "home")


@POSIX
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_an_identity_that_others_may_read_is_not_believed(tmp_path, mode):
    os.chmod(Identity.made(tmp_path).folder / FILE, mode)
    assert Identity.of(tmp_path) is None


def test_what_is_signed_is_known_by_the_public_key(tmp_path):
    identity = Identity.made(tmp_path)
    assert identity.known_key == ""
    key, signature = identity.key, identity.sign(b"text")
    assert identity.known_key == key
    assert (identity.folder / PUBLIC).read_text().splitlines()[0] == key
    assert signed_by(key, b"text", signature)
    assert not signed_by(key, b"other", signature)
    assert not signed_by(Identity.made(tmp_path / "other").key, b"text", signature)


@pytest.mark.parametrize("signature", [None, 7, "", "zz", "00" * 64, "00" * 63, "\ud800"])
def test_what_is_no_signature_signs_nothing(tmp_path, signature):
    assert not signed_by(Identity.made(tmp_path).key, b"text", signature)


def test_a_mac_is_of_one_purpose(tmp_path):
    identity = Identity.made(tmp_path)
    assert identity.wrote("header", b"text", identity.mac("header", b"text"))
    assert not identity.wrote("seal", b"text", identity.mac("header", b"text"))
    assert not identity.wrote("header", b"text", None)
    assert not identity.wrote("header", b"text", "\ud800")


def test_a_project_of_a_server_has_the_identity_of_the_server(tmp_path):
    project = tmp_path / "projects" / "shop"
    project.mkdir(parents=True)
    alone = Identity.made(project)
    (tmp_path / "keys.sqlite").touch()
    mine = Identity.made(project)
    assert mine.mac("a", b"") == Identity.made(tmp_path).mac("a", b"")
    assert mine.mac("a", b"") != alone.mac("a", b"")


def test_a_fingerprint_is_short_enough_to_read_aloud():
    assert len(fingerprint("ed25519:" + "0" * 64)) == 24


def test_making_an_identity_imports_no_cryptography(tmp_path):
    code = (
        "import sys; from pathlib import Path; from reenact.core.trust.identity import Identity; "
        f"Identity.made(Path({str(tmp_path)!r})).mac('a', b''); print('cryptography' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_public_key_that_another_home_wrote_is_not_taken_for_the_homes_own(tmp_path):
    stranger = Identity.made(tmp_path / "stranger")
    key = stranger.key
    identity = Identity.made(tmp_path / "home")
    for text in (f"{key}\n", f"{key}\n{'0' * 64}\n", (stranger.folder / PUBLIC).read_text()):
        (identity.folder / PUBLIC).write_text(text)
        assert identity.known_key == ""
        assert identity.key != key
        assert Identity.made(tmp_path / "home").known_key == identity.key
