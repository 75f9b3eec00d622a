"""`reenact console`, `serve` and `keys` as a person at a terminal meets them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from reenact.cli import main
from reenact.server.app import application as build
from tests.forked import starter


@contextlib.contextmanager
def started(shell, *words, lines=1):
    """A server that runs; gives what it prints on standard output, and the process."""
    environ = {
        name: value for name, value in shell.environ.items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}
    }
    process = starter.start([str(word) for word in words], shell.folder, environ) or subprocess.Popen(
        shell.command(*words),
        cwd=shell.folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield [process.stdout.readline().strip() for _ in range(lines)], process
    finally:
        process.kill()
        process.communicate()


def answered(url, **more):
    """An answer, from when the server has started."""
    with httpx.Client(transport=httpx.HTTPTransport(retries=3)) as client:
        return client.get(url, timeout=120, **more)


@pytest.mark.thorough
def test_the_console_is_there_with_nothing_set_up_and_ends_with_open_streams(shell):
    with started(shell, "console", "--port", 0) as ((url,), process):
        assert urlsplit(url).hostname == "127.0.0.1"
        assert answered(f"{url}api/v1/me").json() == {"project": "default", "role": "admin"}
        assert raw(url, "GET /files/../keys.sqlite HTTP/1.1") in {b"403", b"404"}
        assert raw(url, "GET /assets/../../settings.py HTTP/1.1") == b"404"
        assert raw(url, "GET / HTTP/1.1", host="evil.example") == b"421"
        assert raw(url, "POST /api/v1/keys HTTP/1.1\r\nContent-Length: 99999999") == b"413"
        with streaming(url) as stream:
            assert b"200" in stream
            process.send_signal(signal.SIGTERM)
            process.wait(120)  # the stream would never end
        assert process.returncode == -signal.SIGTERM
        assert "Traceback" not in process.stderr.read()


def raw(url, head, host=None):
    """The status of an answer to exactly that."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=120) as line:
        line.sendall(f"{head}\r\nHost: {host or place.netloc}\r\nConnection: close\r\n\r\n".encode())
        return line.recv(4096).split()[1]


@contextlib.contextmanager
def streaming(url):
    """A stream that nobody ends: a job of another server, which never does."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=120) as line:
        line.sendall(f"GET /api/v1/jobs/aaaaaaaaaa/live HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        yield line.recv(4096)


@pytest.fixture(autouse=True)
def a_job_that_runs_elsewhere(shell):
    import fcntl

    folder = shell.home / "jobs" / "aaaaaaaaaa"
    folder.mkdir(parents=True)
    job = '{"id":"aaaaaaaaaa","kind":"keep","recordings":[],"status":"running","progress":{"done":0,"total":null,"label":""}}'
    (folder / "job.json").write_text(job)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.thorough
def test_a_team_is_served_with_keys_and_the_first_is_told_once(shell, command):
    with started(shell, "serve", "--host", "0.0.0.0", "--port", 0, lines=2) as ((url, key), _):
        assert answered(f"{url}/api/v1/me").status_code == 401
        asked = {"Authorization": f"Bearer {key}"}
        assert answered(f"{url}/api/v1/me", headers=asked).json() == {"project": "default", "role": "admin"}
        made = command("keys", "add", "ci", "--role", "write", "--project", "shop")[1].strip()
        asked = {"Authorization": f"Bearer {made}"}
        assert answered(f"{url}/api/v1/me", headers=asked).json() == {"project": "shop", "role": "write"}
        assert command("keys", "rm", made[:12])[0] == 0
        assert answered(f"{url}/api/v1/me", headers=asked).status_code == 401
    listed = command("keys", "list")[1]
    assert key[:12] in listed
    assert key not in listed
    with started(shell, "serve", "--port", 0) as ((url,), process):
        # Where keys are, they are asked for on loopback too, and no other is made.
        assert answered(f"{url}/api/v1/me").status_code == 401
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
    assert len(json.loads(command("keys", "list", "--json")[1])) == 1


@pytest.fixture
def command(shell, monkeypatch, capsys):
    """Runs `reenact` within this process: its exit status, and what it wrote."""
    monkeypatch.setenv("REENACT_HOME", str(shell.home))

    def run(*words):
        status = main([str(word) for word in words])
        return (status, *capsys.readouterr())

    return run


@pytest.mark.parametrize("words", [["--host", "0.0.0.0"], ["--host-name", "agents.example.com"]])
def test_it_does_not_listen_elsewhere_without_a_key(shell, command, words):
    status, out, err = command("serve", "--port", 0, "--keyless", *words)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "--keyless is for this machine alone" in err
    assert not (shell.home / "keys.sqlite").exists()


def test_programs_that_a_server_runs_do_not_get_its_own_secrets(command, monkeypatch):
    monkeypatch.setenv("REENACT_METRICS_TOKEN", "a-token-that-nobody-guesses")
    monkeypatch.setenv("KEPT", "yes")
    inherited = {}
    monkeypatch.setattr(
        "reenact.cli.hosting.serve", lambda _, listening: (listening.close(), inherited.update(os.environ))
    )
    assert command("serve", "--port", "0")[0] == 0
    assert inherited["KEPT"] == "yes"
    assert "REENACT_METRICS_TOKEN" not in inherited


def test_the_first_request_after_the_address_is_printed_finds_the_routes_built(command, monkeypatch, capsys):
    written = []

    def serve(app, listening):
        listening.close()
        # The address stands in the output by now, and nothing is left to build.
        written.append(capsys.readouterr().out)
        monkeypatch.setattr("fastapi.routing.get_dependant", None)
        assert TestClient(app, base_url="http://localhost").get("/api/v1/me").status_code == 200

    monkeypatch.setattr(
        "reenact.cli.hosting._application", lambda settings: made.append(1) or build(settings)
    )
    monkeypatch.setattr("reenact.cli.hosting.address_of", lambda *_: f"built {len(made)}")
    monkeypatch.setattr("reenact.cli.hosting.serve", serve)
    made: list[int] = []
    assert command("serve", "--port", "0")[0] == 0
    assert written == ["built 1\n"]


def test_a_port_that_is_taken_and_a_recording_that_is_not_there_are_one_line(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = f"reenact: 127.0.0.1:{port} is taken; --port 0 takes one that is free\n"
        assert command("console", "--port", port) == (2, "", said)
    status, _, err = command("console", "nothing")
    assert (status, "no recording" in err) == (2, True)
    status, _, err = command("serve", "--host", "no.such.host.invalid")
    assert (status, "no.such.host.invalid:8090 cannot be listened on" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rm", "rnt_nothing"], "is no key of this server; `reenact keys list` shows them"),
        (["rm", ""], "is no key of this server"),
        (["add", "--project", "../x"], "is not a valid project name"),
    ],
)
def test_a_key_that_cannot_be_meant_is_one_line(command, words, said):
    status, out, err = command("keys", *words)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert said in err


@pytest.mark.thorough
def test_a_console_needs_nothing_of_what_browser_sessions_need_and_these_say_what_to_install(tmp_path):
    blocked = ("pydantic_ai", "playwright", "av", "libcst", "markdownify", "PIL")
    words = (
        f"import sys; sys.modules |= dict.fromkeys({blocked!r}); "
        "from reenact.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", words, "console", "--no-open", "--port", "0", "--home", tmp_path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        url = process.stdout.readline().strip().rstrip("/")
        assert answered(f"{url}/api/v1/recordings").json()["total"] == 0
        with httpx.Client(headers={"Origin": url}) as client:
            refused = client.post(f"{url}/api/v1/sessions/start", json={})
        assert refused.status_code == 501
        assert refused.json()["detail"].endswith(
            "a browser session needs the extra \"browser\": pip install 'reenact[browser]'"
        )
    finally:
        process.kill()
        process.communicate()
