"""A server, and a bench that records a program against it and replays it with the server gone."""

import pytest

from tests.adapters.http.conftest import Bench
from tests.adapters.websockets.server import Server


class Talks(Bench):
    """`Bench`, whose server counts opened connections."""

    @property
    def steps(self):
        return [step for step in self.recording.steps if step.call.kind == "websocket"]


@pytest.fixture
def server():
    server = Server()
    server.requests = []
    yield server
    server.stop()


@pytest.fixture
def bench(server, tmp_path, monkeypatch):
    return Talks(server, tmp_path / "home", monkeypatch)
