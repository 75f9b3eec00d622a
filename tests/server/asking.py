"""Asks the application as a client does, and holds every answer to the types that its route promises."""

from __future__ import annotations

import time

from fastapi.testclient import TestClient
from pydantic import TypeAdapter
from starlette.routing import Match

from reenact.server.app import API, ROUTERS, application
from reenact.server.routes.browsing import browsing
from reenact.server.settings import Settings


class Asking:
    """A server over a folder, for the length of a `with`."""

    def __init__(self, home, **settings):
        self.app = application(Settings(home, ("localhost",), keyless=True, **settings))
        self.client = TestClient(self.app, base_url="http://localhost", client=("127.0.0.1", 50000))

    def __enter__(self):
        self.client.__enter__()
        return self

    def __exit__(self, *error):
        self.client.__exit__(*error)

    @property
    def library(self):
        return self.app.state.projects.library("default")

    def __call__(self, path, status=200, method="GET", **more):
        answer = self.client.request(method, f"{API}{path}", **more)
        assert answer.status_code == status, answer.text
        told = answer.json()
        if status < 300:
            self._held(method, answer.url.path, told)
        return told

    def refused(self, path, status, method="GET", **more):
        """The one line that says why."""
        return self(path, status, method, **more)["detail"]

    def until(self, path, holds, patience=120.0):
        """The answer for which that holds, asked for until it comes."""
        until = time.monotonic() + patience
        while not holds(found := self(path)):
            assert time.monotonic() < until, found
            time.sleep(0.05)
        return found

    def listed(self, count, filter=""):
        """The lines, as soon as there are so many."""
        asked = self.until(
            f"/recordings?filter={filter}", lambda page: page["total"] == count and page["complete"]
        )
        return asked["items"]

    def _held(self, method, path, told):
        scope = {
            "type": "http",
            "method": method,
            "path": path.removeprefix(API),
            "headers": [],
            "root_path": "",
        }
        routes = (route for router in (*ROUTERS, *browsing()[0]) for route in router.routes)
        route = next(route for route in routes if route.matches(scope)[0] is Match.FULL)
        TypeAdapter(route.response_model).validate_python(told)
