"""The key of a home."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from reenact.core.trust.identity import FILE, PUBLIC, Identity, fingerprint, signed_by
from reenact.errors import UsageError

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


def test_the_private_key_is_readable_by_its_owner_alone(tmp_path):
    Identity.made(tmp_path)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


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
    (tmp_path / FILE).write_bytes(content)
    (tmp_path / FILE).chmod(0o600)
    with pytest.raises(UsageError, match=FILE):
        Identity.made(tmp_path)
    assert (tmp_path / FILE).read_bytes() == content


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_an_identity_that_others_may_read_is_not_believed(tmp_path, mode):
    Identity.made(tmp_path)
    os.chmod(tmp_path / FILE, mode)
    assert Identity.of(tmp_path) is None


def test_what_is_signed_is_known_by_the_public_key(tmp_path):
    identity = Identity.made(tmp_path)
    assert identity.known_key == ""
    key, signature = identity.key, identity.sign(b"text")
    assert identity.known_key == key
    assert (tmp_path / PUBLIC).read_text().splitlines()[0] == key
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
    (project / FILE).unlink()
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


def test_a_public_key_that_came_with_a_download_is_not_taken_for_the_homes_own(tmp_path):
    stranger = Identity.made(tmp_path / "stranger").key
    home = tmp_path / "home"
    home.mkdir()
    for text in (f"{stranger}\n", f"{stranger}\n{'0' * 64}\n", (tmp_path / "stranger" / PUBLIC).read_text()):
        (home / PUBLIC).write_text(text)
        identity = Identity.made(home)
        assert identity.known_key == ""
        assert identity.key != stranger
        assert Identity.made(home).known_key == identity.key
