"""The server as an ASGI application: `/api/v1`, its document, and the console's pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry
from starlette.routing import BaseRoute
from starlette.types import Scope

from reenact import __version__
from reenact.browser.session.signatures import Signer
from reenact.errors import ReenactError
from reenact.server.access import Access
from reenact.server.collector import Collecting
from reenact.server.debugging import Desks
from reenact.server.guard import Guard
from reenact.server.jobs import Jobs
from reenact.server.keys import DEFAULT, Keys
from reenact.server.links import HomeLinks
from reenact.server.login import Logins
from reenact.server.measuring import Measures, checks_of
from reenact.server.operations.metrics import MetricsPage, Requests
from reenact.server.operations.middleware import Observed
from reenact.server.pages import Pages
from reenact.server.projects import Projects
from reenact.server.refusals import misshapen, refusal, refusals
from reenact.server.routes import (
    about,
    anomalies,
    api_keys,
    blobs,
    conversation,
    debug,
    derived,
    events,
    films,
    healed_steps,
    jobs,
    live,
    login,
    manual,
    recording_files,
    recordings,
    saved_views,
    signed_files,
    steps,
    traces,
    uploads,
)
from reenact.server.routes.browsing import browsing
from reenact.server.settings import Settings
from reenact.team.ship.upload_format import API

if TYPE_CHECKING:
    from reenact.server.presigned import PresignedFiles

ROUTERS = (
    about.router,
    jobs.router,
    api_keys.router,
    login.router,
    recording_files.router,
    recordings.router,
    saved_views.router,
    steps.router,
    conversation.router,
    events.router,
    blobs.router,
    anomalies.router,
    derived.router,
    healed_steps.router,
    live.router,
    manual.router,
    films.router,
    films.selectors,
    debug.router,
    uploads.router,
)
"""The routes of the API."""


def application(settings: Settings) -> FastAPI:
    """Return the application."""
    app = FastAPI(
        title="Reenact",
        version=__version__,
        description="Recordings of agents' runs: found, read, watched, compared, stepped through, forked.",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    known, projects = Keys(settings.home), Projects(settings.home, settings.team, settings.limits)
    signer = Signer.of(settings.home)
    logins = Logins(signer)
    app.state.settings = settings
    app.state.jobs = Jobs(projects, run_foreign=settings.run_foreign)
    app.state.keys = known
    app.state.links = HomeLinks(settings.home, signer)
    app.state.lending = _lending(settings)
    app.state.logins = logins
    app.state.projects = projects
    app.state.readers = projects.readers
    jobs.announce(app.state.jobs, projects, app.state.links)
    app.state.desks = Desks()
    app.state.collecting = Collecting(projects)
    app.state.library = projects.library(DEFAULT)
    app.router.routes += [*built_routes(), Pages(settings.console)]
    app.add_exception_handler(ReenactError, _refused)
    app.add_exception_handler(RequestValidationError, misshapen)
    elsewhere = app.state.lending.origin() if app.state.lending is not None else ""
    app.add_middleware(
        Guard, settings=settings, keys=known, logins=logins, projects=projects, elsewhere=elsewhere
    )
    _observe(app)
    return app


@cache
def built_routes() -> tuple[BaseRoute, ...]:
    """Build the routes, once in a process, because no setting changes them."""
    browsers, root = browsing()
    router = APIRouter(redirect_slashes=False)
    for each in (*ROUTERS, *browsers):
        router.include_router(each, prefix=API, responses=refusals(400, 401, 403, 413, 422))
    # Clients of the browser API use paths without a prefix.
    for each in root:
        router.include_router(each, include_in_schema=False)
    router.get("/health", include_in_schema=False)(about.health)
    router.get("/ready", include_in_schema=False)(about.ready)
    router.get("/metrics", include_in_schema=False)(about.measured)
    router.include_router(signed_files.router)
    router.include_router(traces.router)
    for route in router.routes:
        route.matches({"type": "http", "method": "GET", "path": f"{API}/", "root_path": "", "headers": []})
    return tuple(router.routes)


def _observe(app: FastAPI) -> None:
    """Count and time all requests, including those that the guard refuses."""
    registry = CollectorRegistry()
    requests, projects = Requests(registry), app.state.projects
    app.state.checks = checks_of(projects)
    app.state.measures = Measures(
        registry, projects, app.state.jobs, checks=app.state.checks, requests=requests
    )
    registry.register(app.state.collecting)
    app.state.metrics = MetricsPage(registry)
    app.add_middleware(Observed, requests=requests, project=_project, prefix=API)


def _project(scope: Scope) -> str | None:
    access: Access | None = scope.get("state", {}).get("access")
    return access.project if access is not None else None


def _lending(settings: Settings) -> PresignedFiles | None:
    if settings.team is None:
        return None
    # Imported here because only a server with a team's store needs its drivers.
    from reenact.server.presigned import PresignedFiles  # noqa: PLC0415

    return PresignedFiles(settings.home, settings.team.objects)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    await asyncio.to_thread(app.state.collecting.resume)
    yield
    # Without the packages of browser sessions there is no `hosting`.
    if (hosting := getattr(app.state, "hosting", None)) is not None:
        await asyncio.to_thread(hosting.close)
    app.state.jobs.close()
    await asyncio.to_thread(app.state.collecting.close)
    await asyncio.to_thread(app.state.desks.close)
    app.state.projects.close()
    app.state.keys.close()
    app.state.measures.ended()


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """Count an error of a verb, and answer with it."""
    request.app.state.measures.refused(error)
    return refusal(error)
