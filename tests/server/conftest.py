"""A server in the process of the test: the application itself, asked as a client asks it."""

from __future__ import annotations

import httpx
import pytest

from reenact.server.app import application
from reenact.server.hosting import LOOPBACK
from reenact.server.settings import Settings


@pytest.fixture
def served(tmp_path):
    """Makes servers of the folder `home`: `served(keyless=True)` gives (application, client without a key)."""
    clients = []

    def serve(home=tmp_path / "home", hosts=LOOPBACK, **settings):
        app = application(Settings(home, hosts, **settings))
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://localhost:8090", follow_redirects=False
        )
        clients.append((app, client))
        return app, client

    yield serve
    for app, _ in clients:
        app.state.jobs.close()
        app.state.keys.close()
