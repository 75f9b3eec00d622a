"""A server and a home whose recordings go there."""

from __future__ import annotations

import contextvars
import functools

import pytest

from reenact.core.store.local import LocalStore
from reenact.team import ship
from reenact.team.ship import starting
from reenact.team.ship.shipper import Shipper
from tests.team.ship.serving import Server, free_port


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    """A server for those who do not kill it."""
    server = Server(tmp_path_factory.mktemp("server"), free_port()).start()
    yield server
    server.kill()


@pytest.fixture
def mortal(tmp_path):
    """A server that is not started yet, and may be killed."""
    server = Server(tmp_path / "server", free_port())
    yield server
    server.kill()


class Outside:
    """A shipper that is not of the run that is being recorded, as it is not in life: it has a process of its own."""

    def __init__(self, shipper):
        self._shipper = shipper

    def __getattr__(self, name):
        found = getattr(self._shipper, name)
        return functools.partial(contextvars.Context().run, found) if callable(found) else found


class Sending:
    """A home in this process that records for a server, with a shipper that goes when it is told."""

    def __init__(self, home, server):
        self.store = LocalStore(home)
        self.queue = ship.Queue(self.store.root)
        self.server = server
        self.to = ship.Destination(server.url, server.key)
        self._shippers = []

    def shipper(self, **more):
        self._shippers.append(Outside(Shipper(self.store, self.to, **more)))
        return self._shippers[-1]

    def flush(self, **more):
        shipper = self.shipper(**more)
        shipper.flush()
        return shipper

    def mark(self, id):
        self.queue.add(ship.ShipMark(id, self.to.server, self.to.name)).release()

    def here(self, id, name="events.jsonl"):
        return self.store.folder(id) / name

    def there(self, id, name="events.jsonl"):
        return self.server.recordings / id / name

    def close(self):
        for shipper in self._shippers:
            shipper.close()


@pytest.fixture
def sending(running, tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REENACT_SERVER", running.url)
    monkeypatch.setenv("REENACT_API_KEY", running.key)
    monkeypatch.setattr(starting, "_start", lambda _home: None)
    monkeypatch.setattr(starting, "_printed", set())
    home = Sending(tmp_path / "home", running)
    yield home
    home.close()
