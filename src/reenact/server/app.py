"""The server as an ASGI application: `/api/v1`, its document, and the console's pages."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.middleware.base import RequestResponseEndpoint

from reenact import __version__
from reenact.errors import RecordingNotFound, ReenactError
from reenact.server.access import Access
from reenact.server.library import Library
from reenact.server.routes import about, uploads
from reenact.server.settings import Settings

API = "/api/v1"

ROUTERS = (about.router, uploads.router)
"""What each of them is about is told in its own module."""


def application(settings: Settings) -> FastAPI:
    """The application."""
    app = FastAPI(
        title="Reenact",
        version=__version__,
        description="Recordings of agents' runs: found, read, watched, compared, stepped through, forked.",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
    )
    app.state.settings = settings
    app.state.library = Library(settings.home)
    for router in ROUTERS:
        app.include_router(router, prefix=API)
    app.add_exception_handler(ReenactError, _refused)

    @app.middleware("http")
    async def guard(request: Request, call_next: RequestResponseEndpoint) -> Response:
        request.state.access = Access("default", "admin", app.state.library)
        return await call_next(request)

    return app


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """What the verbs refuse: one line, as on the command line."""
    status = 404 if isinstance(error, RecordingNotFound) else 400
    return JSONResponse({"detail": str(error)}, status)
