"""What a program sees that is started as a hosted browser is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reenact.browser.isolation.addresses import PUBLIC
from reenact.browser.isolation.guest import GuestResources
from reenact.browser.isolation.sandbox import Isolation, Sandbox, _candidates, _works, isolation

SECRET = "secret-of-the-server-5d1e"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "signing.key").write_text(SECRET)
    return tmp_path


def shell(session, found, code):
    """What a shell says that has the browser's place."""
    room = Sandbox(session, "/bin/sh", found)
    try:
        room.prepare(channel=False)
        done = subprocess.run(
            [room.program, "-c", f"echo began; {code}"],
            env=room.environ(), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.stdout.startswith("began"), done.stderr
        return done.stdout + done.stderr
    finally:
        room.leave()


@pytest.fixture
def session():
    """A session's folder, where hosted sessions have theirs."""
    with TemporaryDirectory(prefix="reenact-hosted-") as made:
        yield Path(made)


def allowed():
    """The strongest that this machine allows for a shell."""
    found = isolation("/bin/bash")
    if not (found.files and found.network):
        pytest.skip(f"this machine does not allow it: {found}")
    return found


def test_it_sees_no_environment_home_process_or_folder_of_the_servers(folder, session):
    found = allowed()
    said = shell(
        session, found,
        f"cat /proc/*/environ; ls -la {folder}/home; cat {folder}/home/signing.key {session}/plan.json; ls /root"
        " /home /var /srv; cat /etc/passwd /etc/shadow; ls /proc | grep -c '^[0-9]'; ls /tmp; env; id -u",
    )  # fmt: skip
    assert SECRET not in said
    assert "root:" not in said
    assert f"HOME={session}/browser/home" in said
    assert os.environ["HOME"] == "/" or f"HOME={os.environ['HOME']}\n" not in said
    if found.user:
        assert "\n0\n" not in said.splitlines()[-1:]


def test_it_writes_to_its_own_folders_alone(folder, session):
    found = allowed()
    said = shell(
        session, found,
        "for d in / /usr /etc /home $HOME/.. $HOME $TMPDIR; do (echo x > $d/made) 2>/dev/null && echo wrote $d; done",
    )  # fmt: skip
    wrote = [line.rpartition("/")[2] for line in said.splitlines() if line.startswith("wrote")]
    assert {"home", "tmp"} <= set(wrote)
    assert not [one for one in ("/usr/made", "/etc/made", "/made") if Path(one).exists()]
    assert sorted(one.name for one in (folder / "home").iterdir()) == ["signing.key"]


def test_it_has_no_network_but_its_own_loopback(session):
    found = allowed()
    said = shell(session, found, "cat /proc/net/dev")
    assert [line.split(":")[0].strip() for line in said.splitlines() if ":" in line] == ["lo"]


def test_a_link_among_downloads_does_not_make_the_server_read_another_file(folder):
    room = Sandbox(folder / "session", sys.executable, Isolation())
    room.incoming.mkdir(parents=True)
    (room.incoming / "plain").write_text("plain")
    assert room.fetch(room.incoming / "plain", folder / "copy") == 5
    (room.incoming / "link").symlink_to(folder / "home" / "signing.key")
    os.link(folder / "home" / "signing.key", room.incoming / "hard")
    os.mkfifo(room.incoming / "pipe")
    for name in ("link", "hard", "pipe", "../../../home/signing.key"):
        with pytest.raises(OSError, match=r"no plain file|none of the session|symbolic link|No such"):
            room.fetch(room.incoming / name, folder / "stolen")
    assert not (folder / "stolen").exists() or SECRET not in (folder / "stolen").read_text()


def test_only_files_of_the_session_are_lent_to_its_browser(folder):
    session = folder / "session"
    for name in ("uploads", "downloads", "browser"):
        (session / name).mkdir(parents=True)
    guest = GuestResources(session, PUBLIC)
    (guest.uploads / "a.txt").write_text("a")
    assert guest.lend(guest.uploads / "a.txt").read_text() == "a"
    (guest.uploads / "link").symlink_to(folder / "home" / "signing.key")
    for path in (
        guest.uploads / "link",
        folder / "home" / "signing.key",
        guest.uploads / "../../home/signing.key",
    ):
        with pytest.raises(FileNotFoundError, match="upload it first"):
            guest.lend(path)


def test_what_is_missing_is_said():
    assert "missing" not in str(Isolation(user=True, files=True, network=True))
    said = str(Isolation(user=True, files=False, network=True, policy=False, sandbox=False))
    assert "missing: files and processes of its own, Chromium's policies, Chromium's sandbox" in said


def test_what_a_machine_does_not_allow_is_found_by_trying(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert not any(one.files for one in _candidates())
    assert not _works(Isolation(), "/nowhere/chromium")
