"""The server itself: that it is there, and who one is to it."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from reenact import __version__
from reenact.server.access import Reader, Role

router = APIRouter(tags=["about"])


class Health(BaseModel):
    """That the server answers."""

    status: str
    version: str


class Me(BaseModel):
    """Who asks."""

    project: str
    role: Role


@router.get("/health")
def health() -> Health:
    """Whether the server is there. Needs no key."""
    return Health(status="ok", version=__version__)


@router.get("/me")
def me(access: Reader) -> Me:
    """Whose key this is: its project, and what it may do."""
    return Me(project=access.project, role=access.role)
