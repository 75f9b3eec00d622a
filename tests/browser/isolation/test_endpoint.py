"""Another program is let into the browser of a program's own session: by an address with a key, and by no port."""

from __future__ import annotations

import json
import socket
import tempfile
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from reenact.core import system
from reenact.errors import UsageError

pytestmark = pytest.mark.skipif(system.PORTABLE, reason="lets other programs in on Linux and macOS alone")


@pytest.fixture(scope="module")
def session(open_session, tmp_path_factory):
    with open_session(home=tmp_path_factory.mktemp("door"), idle_timeout_minutes=60) as session:
        yield session


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def commands(session):
    """The words of the commands of this session's browser, one list for each of its processes."""
    folder = session.core.driver.live._folder.encode()
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(folder in one for one in words):
            found.append(words)
    return found


def listening():
    """The ports of loopback that this process listens at."""
    sockets = {one.readlink().name for one in Path("/proc/self/fd").iterdir() if one.is_symlink()}
    ports = set()
    for line in Path("/proc/self/net/tcp").read_text(encoding="utf-8").splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
            ports.add(int(words[1].rpartition(":")[2], 16))
    return ports


def test_the_address_is_listened_at_once_it_is_asked_for_and_no_browser_has_a_port(open_session, home):
    with open_session(home=home) as session:
        before = listening()
        port = int(session.cdp_url().split("/")[2].rpartition(":")[2])
        assert listening() - before == {port}
        assert session.cdp_url() == session.cdp_url()
        found = commands(session)
        assert any(b"--remote-debugging-pipe" in words for words in found)
        assert not [one for words in found for one in words if b"remote-debugging-port" in one]
    assert port not in listening()


def test_a_headless_browser_loads_no_pages_of_its_address_bar(session):
    with connect(session.cdp_url(), max_size=None, proxy=None) as client:
        client.send(json.dumps({"id": 1, "method": "Target.getTargets", "params": {"filter": [{}]}}))
        while (told := json.loads(client.recv(30))).get("id") != 1:
            pass
    assert {each["type"] for each in told["result"]["targetInfos"]} == {"page", "tab"}
    # Playwright's own are still without effect.
    given = [word for words in commands(session) for word in words if word.startswith(b"--disable-features=")]
    assert given
    assert all(b"PaintHolding" in word for word in given)


@pytest.mark.thorough
def test_a_client_with_the_key_may_give_every_command(session, tmp_path):
    with connect(session.cdp_url(), max_size=None, proxy=None) as client:
        for number, (method, params) in enumerate(
            (
                ("Browser.getVersion", {}),
                ("Browser.getBrowserCommandLine", {}),
                ("SystemInfo.getInfo", {}),
                ("Target.createTarget", {"url": tmp_path.as_uri()}),
            )
        ):
            client.send(json.dumps({"id": number, "method": method, "params": params}))
            while (told := json.loads(client.recv(30))).get("id") != number:
                pass
            assert "result" in told or "enable-automation" in str(told), told


@pytest.mark.sampled
@pytest.mark.parametrize("key", ["", "x", "%00", "é", "json/version", "\u2026" * 50])
def test_another_key_opens_nothing(session, key):
    place, _, _ = session.cdp_url().rpartition("/")
    with pytest.raises((InvalidStatus, ValueError)):
        connect(f"{place}/{key}", proxy=None).close()


def test_a_page_of_the_web_may_not_enter_even_with_the_key(session):
    url = session.cdp_url()
    port = url.split("/")[2].rpartition(":")[2]
    for origin in ("https://a.example", "null", f"http://127.0.0.1:{port}", "file://"):
        with pytest.raises(InvalidStatus, match="403"):
            connect(url, origin=origin, proxy=None).close()


def test_a_name_that_was_led_to_this_machine_does_not_enter(session):
    url = session.cdp_url()
    host = url.split("/")[2]
    with pytest.raises(InvalidStatus, match="403"):
        connect(url.replace(host, "a.example:80"), sock=_socket(host), proxy=None).close()
    connect(url, proxy=None).close()


def _socket(host):
    name, _, port = host.rpartition(":")
    return socket.create_connection((name, int(port)))


def test_what_is_no_handshake_is_left_without_a_word(session, capfd):
    host = session.cdp_url().split("/")[2]
    for said in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 2000 + b"\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"",
    ):
        with _socket(host) as one:
            one.sendall(said)
    connect(session.cdp_url(), proxy=None).close()
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.thorough
def test_a_temporary_folder_with_a_long_name_is_no_hindrance(open_session, home, tmp_path, monkeypatch):
    long = tmp_path / ("l" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with open_session(home=home) as session:
        assert session.cdp_url().startswith("ws://127.0.0.1:")


@pytest.mark.thorough
def test_a_session_that_lets_nobody_in_says_so(open_session, home):
    with open_session(home=home, cdp=False) as session:
        assert b"--remote-debugging-pipe" in commands(session)[0]
        with pytest.raises(UsageError, match="lets other programs in, on Linux and macOS"):
            session.cdp_url()
