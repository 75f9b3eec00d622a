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
    """That the server answers."""

    status: str
    version: str


class Ready(BaseModel):
    """The server's readiness: for each thing that it needs `ok`, or the problem.

    `broken` counts the recordings that cannot be summarised, as far as projects are in use: they are listed with the
    reason, and the server is ready all the same.

    `browsers` says what keeps hosted browsers from the server's machine; it is empty until that was found.
    """

    ready: bool
    checks: dict[str, str]
    broken: int
    browsers: str = ""


class Me(BaseModel):
    """The caller's project and rights."""

    project: str
    role: Role


# Neither waits in a thread: these may all be taken by requests that wait for a store which does not answer.


@router.get("/health")
async def health() -> Health:
    """Return whether the server runs. Needs no key."""
    return Health(status="ok", version=__version__)


@router.get("/ready", responses={503: {"model": Ready, "description": "Not ready, with the reasons."}})
async def ready(request: Request, response: Response) -> Ready:
    """Return whether the server is ready: store, disk and index.

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
