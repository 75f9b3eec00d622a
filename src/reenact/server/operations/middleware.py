"""A wrapper of an application that gives each request an id, and counts, times and logs it.

Requests are counted by the template of their route (`/api/v1/recordings/{id}`), so the number of series is limited.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reenact.server.operations.logs import event
from reenact.server.operations.metrics import Requests

REQUEST_ID = "X-Request-ID"
"""The header with the id, which a request may have, and every answer has."""

ROUTE = "reenact.route"
"""The key in a scope for the name of a route without a template."""

ELSEWHERE = "none"
"""The route of a request that no route answered, because it was refused or not found."""

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_STREAM = b"text/event-stream"


def nobody(scope: Scope) -> str | None:
    """Return None: the request belongs to no project."""
    return None


class Observed:
    """The ASGI application around another one.

    Args:
        app: The application to observe.
        requests: The metrics of requests.
        project: Returns the project of an answered request; None for none.
        prefix: The prefix of the routes of a mounted application, which knows only the rest of a template.
    """

    def __init__(
        self,
        app: ASGIApp,
        requests: Requests,
        *,
        project: Callable[[Scope], str | None] = nobody,
        prefix: str = "",
    ) -> None:
        self._app = app
        self._prefix = prefix
        self._requests = requests
        self._project = project

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Observe one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID.lower(), "")
        id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        begun, status, streams = time.perf_counter(), 0, False

        async def sent(message: Message) -> None:
            nonlocal status, streams
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = id
                if any(
                    name == b"content-type" and value.startswith(_STREAM)
                    for name, value in message["headers"]
                ):
                    streams = True
                    self._requests.streams.inc()
            await send(message)

        problem = None
        try:
            await self._app(scope, receive, sent)
        except Exception as error:
            problem = type(error).__name__
            self._requests.errors.labels("unexpected").inc()
            raise
        finally:
            if streams:
                self._requests.streams.dec()
            # A client that closes the connection before the answer counts as 499, as in proxies.
            status = status or (500 if problem else 499)
            took = time.perf_counter() - begun
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = self._route(scope)
            self._requests.note(method, route, status, None if streams else took)
            event(
                "request",
                logging.ERROR if problem else logging.INFO,
                request_id=id,
                method=method,
                route=route,
                status=status,
                ms=round(took * 1000, 1),
                project=self._project(scope),
                **({"error": problem} if problem else {}),
            )

    def _route(self, scope: Scope) -> str:
        """Return the template of the route that answered."""
        found = scope.get("route")
        path = getattr(found, "path_format", None) or getattr(found, "path", None)
        if not isinstance(path, str):
            return str(scope.get(ROUTE, ELSEWHERE))
        before = self._prefix
        return (
            before + path if scope["path"].startswith(f"{before}/") and not path.startswith(before) else path
        )
