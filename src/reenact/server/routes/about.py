"""Routes about the server itself: health, readiness, metrics, and the caller's rights."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel

from reenact import __version__
from reenact.browser.isolation import sandbox
from reenact.server.access import Reader, Role
from reenact.server.keys import DEFAULT
from reenact.server.operations import checks, metrics
from reenact.server.settings import TOKEN

router = APIRouter(tags=["about"])


class Health(BaseModel):
    """The server answers."""

    status: str
    version: str


class Ready(BaseModel):
    """The server's readiness: `ok` or the problem, for each thing that it needs.

    `broken` counts the recordings that cannot be summarised, in projects in use. They are listed with the reason, and
    the server is ready nevertheless.

    `browsers` describes the isolation of hosted browsers; it is empty until that was found.
    """

    ready: bool
    checks: dict[str, str]
    broken: int
    browsers: str = ""


class Me(BaseModel):
    """The caller's project and rights."""

    project: str
    role: Role


# These routes use no thread, because all threads may be waiting for a store that does not answer.


@router.get("/health")
async def health() -> Health:
    """Answer if the server runs. Needs no key."""
    return Health(status="ok", version=__version__)


@router.get("/ready", responses={503: {"model": Ready, "description": "Not ready, with the reasons."}})
async def ready(request: Request, response: Response) -> Ready:
    """Return the readiness of the server: store, disk and index.

    Needs no key.
    """
    found = await request.app.state.checks.ask()
    well = checks.ready(found)
    response.status_code = 200 if well else 503
    broken = sum(library.broken for library in request.app.state.projects.opened().values())
    return Ready(ready=well, checks=found, broken=broken, browsers=sandbox.told())


async def measured(request: Request) -> Response:
    """Answer with the server's metrics, for Prometheus.

    They cover all projects. The token of REENACT_METRICS_TOKEN or an admin's key of `default` gives access.
    """
    settings = request.app.state.settings
    access = getattr(request.state, "access", None)
    admin = access is not None and access.role == "admin" and access.project == DEFAULT
    if not admin and not metrics.shown(request.headers, settings.metrics_token):
        raise HTTPException(
            401,
            f"metrics need the token of {TOKEN}, or an admin's key of the project {DEFAULT}",
            headers={"WWW-Authenticate": "Bearer"},
        )
    page: metrics.MetricsPage = request.app.state.metrics
    return await page.answer(request)


@router.get("/me")
def me(access: Reader) -> Me:
    """Return the key's project and rights."""
    return Me(project=access.project, role=access.role)
