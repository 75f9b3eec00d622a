"""A server, a place for recordings, and `Bench`: run a program live and recorded, then replayed without the server."""

import socket
from pathlib import Path

import pytest

import reenact
from tests.adapters.http.server import Server


class Bench:
    """Records a program against the server; stops the server; replays the program where no socket can connect."""

    def __init__(self, server, home, monkeypatch):
        self.server = server
        self.home = home
        self.recording = None
        self.verdict = None
        self._monkeypatch = monkeypatch

    def record(self, program):
        with reenact.record("test", home=self.home) as recording:
            result = program()
        self.recording = reenact.load(recording.id, home=self.home)
        return result

    def replay(self, program, **options):
        self.server.stop()
        asked = len(self.server.requests)
        with self._monkeypatch.context() as patch:
            patch.setattr(socket.socket, "connect", _no_network)
            patch.setattr(socket.socket, "connect_ex", _no_network)
            patch.setattr(socket, "getaddrinfo", _no_network)
            with reenact.replay(self.recording, **options) as replay:
                result = program()
        self.verdict = replay.verdict
        assert self.verdict.faithful, self.verdict
        assert len(self.server.requests) == asked
        return result

    def both(self, program, **options):
        return self.record(program), self.replay(program, **options)

    @property
    def steps(self):
        return [step for step in self.recording.steps if step.call.kind == "http"]

    @property
    def on_disk(self):
        return b"".join(path.read_bytes() for path in Path(self.home).rglob("*") if path.is_file())


def _no_network(*args):
    raise AssertionError(f"a replay reached for the network: {args}")


@pytest.fixture
def server():
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def bench(server, tmp_path, monkeypatch):
    return Bench(server, tmp_path / "home", monkeypatch)
