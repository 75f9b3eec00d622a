"""Every route of the server, as its own application lists them: what a test sends to each."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from fastapi.testclient import TestClient

from tests.server.test_routes import needs, routes

DIGEST = "ab" * 32
STREAMS = ("/live",)
"""How paths end that answer with a stream without an end."""

OPENS = ("/sessions/start", "/agents/start", "/scrape")
"""How paths end that open a browser."""

FILLED = {
    "number": "1",
    "page": "0",
    "place": "0",
    "step": "1",
    "digest": DIGEST,
    "name": "events.jsonl",
    "file_id": "x1",
    "path": "x/events.jsonl",
}


@dataclass(frozen=True)
class Operation:
    """A method of a route: its path with `{names}`, the role that it asks for, and its parameters."""

    method: str
    path: str
    role: str | None
    query: tuple[str, ...]
    body: bool

    def at(self, id: str, **more: str) -> str:
        return self.path.replace("{path:path}", "{path}").format(**{"id": id, **FILLED, **more})

    @property
    def streams(self) -> bool:
        return self.path.endswith(STREAMS)

    @property
    def opens(self) -> bool:
        return self.path.endswith(OPENS)


def operations(app) -> list[Operation]:
    found = []
    for path, route in routes(app):
        query = tuple(one.alias for one in route.dependant.query_params)
        body = bool(route.dependant.body_params)
        found += [Operation(method, path, needs(route), query, body) for method in sorted(route.methods)]
    return found


class Asker:
    """Sends requests, and notes what no server should answer."""

    def __init__(self, app, key: str = "") -> None:
        self.client = TestClient(
            app, base_url="http://localhost", raise_server_exceptions=False, follow_redirects=False
        )
        if key:
            self.client.headers["Authorization"] = f"Bearer {key}"
        self.problems: list[str] = []
        self.asked = 0

    def __call__(self, what: str, method: str, path: str, **more: Any):
        begun = time.thread_time(), time.process_time()
        answer = self.client.request(method, path, **more)
        took = time.process_time() - begun[1]
        self.asked += 1
        if answer.status_code in {500, 502}:
            self.problems.append(f"{what}: {method} {path[:200]} {str(more)[:200]}: {answer.status_code}")
        if took > 2:
            self.problems.append(f"{what}: {method} {path[:200]} {str(more)[:200]}: {took:.1f} s of CPU")
        if b"Traceback (most recent call last)" in answer.content:
            self.problems.append(f"{what}: {method} {path[:200]}: a traceback")
        return answer
