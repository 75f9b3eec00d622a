"""Files to which a program writes a secret that a server gave it."""

from __future__ import annotations

import pytest

from tests.adapters.http.server import Server

KEY = "0a1b2c3d4e5f60718293"
LOGIN = """
import httpx, os, subprocess, sys

key = httpx.get("{url}/secret").json()["api_key"]
print("logged in with", key)
with open("{name}", "w") as file:
    file.write("session " + key)
"""
CHILD = """
import subprocess, sys

subprocess.run([sys.executable, "login.py"], check=True)
"""


@pytest.fixture
def server():
    server = Server()
    server.bodies["secret"] = KEY
    yield server
    server.stop()


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("name", ["jar.txt", "secrets.txt"])
def test_a_replay_writes_the_token_and_that_is_no_difference(shell, server, name):
    shell.write("login.py", LOGIN.format(url=server.url, name=name))
    done, _ = shell.record("login.py")
    assert done.status == 0, done.err
    assert not any(
        KEY.encode() in path.read_bytes() for path in (shell.folder / "home").rglob("*") if path.is_file()
    )
    (shell.folder / name).unlink()
    done = shell.replay("--json")
    assert done.status == 0, done.out
    assert "files" in done.json["verdict"]["compared"]


def test_a_change_beside_the_secret_is_found(shell, server):
    shell.write("login.py", LOGIN.format(url=server.url, name="jar.txt"))
    shell.record("login.py")
    shell.write("login.py", LOGIN.format(url=server.url, name="jar.txt").replace('"session "', '"Session "'))
    done = shell.replay("--json")
    assert done.status == 1
    (departure,) = done.json["verdict"]["divergences"]
    assert "jar.txt at the end is not the recorded one" in departure["detail"]
    assert "fingerprint without secrets" in done.out


def test_a_child_process_writes_the_token_too(shell, server):
    shell.write("login.py", LOGIN.format(url=server.url, name="jar.txt"))
    shell.write("agent.py", CHILD)
    shell.record("agent.py")
    (shell.folder / "jar.txt").unlink()
    done = shell.replay("--json")
    assert done.status == 0, done.out
