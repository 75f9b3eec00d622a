"""Errors of the browser API: one line, and the name of the error's class for the client."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Body, Depends, Path, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from playwright.async_api import Error

from reenact.browser.session.remote.link import ERROR
from reenact.errors import RecordingNotFound, ReenactError, UsageError
from reenact.server.wire.hosted import BusyError, Hosting, UnknownSessionError
from reenact.server.wire.responses import Json

FOREIGN = "x-notte-sdk-version"
"""A header by which `notte-sdk` is recognised; some of its requests have another form."""


BUSY: dict[int | str, dict[str, Any]] = {429: {"description": "The limit of open sessions is reached."}}
"""The refusals of a route that opens a session."""


class WireRoute(APIRoute):
    """A route that converts Reenact's errors to answers."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that converts errors to answers."""
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except ReenactError as error:
                headers = {ERROR: type(error).__name__}
                return JSONResponse({"detail": str(error)}, _status(error), headers)
            except Error as error:
                # The first line of Playwright's error is the reason; its log may contain typed values.
                said = error.message.strip().partition("\n")[0] or type(error).__name__
                return JSONResponse({"detail": said}, 409, {ERROR: "SessionError"})

        return answered


def _status(error: ReenactError) -> int:
    if isinstance(error, (UnknownSessionError, RecordingNotFound)):
        return 404
    if isinstance(error, BusyError):
        return 429
    return 400 if isinstance(error, UsageError) else 409


def hosting(request: Request) -> Hosting:
    """Return the sessions of the server."""
    found: Hosting | None = getattr(request.app.state, "hosting", None)
    if found is None:
        # The port on which the server listens.
        own = (request.scope.get("server") or ("", None))[1] or 0
        found = request.app.state.hosting = Hosting(reach=replace(request.app.state.settings.reach, own=own))
    return found


def is_foreign(request: Request) -> bool:
    """Return True if the client is not Reenact's own."""
    return FOREIGN in request.headers


Hosts = Annotated[Hosting, Depends(hosting)]
Foreign = Annotated[bool, Depends(is_foreign)]
SessionId = Annotated[str, Path(pattern=r"^[0-9a-z]{4,40}(\.[0-9]{1,6})?$", description="The session's id.")]
Asked = Annotated[dict[str, Json], Body(description="The fields, as docs/wire.md lists them.")]
