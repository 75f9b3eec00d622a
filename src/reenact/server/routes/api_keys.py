"""Routes of a project's keys: make, list and revoke them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import BaseModel, Field

from reenact.server import keys
from reenact.server.access import Admin, Role
from reenact.server.refusals import refusals

router = APIRouter(prefix="/keys", tags=["keys"])

Id = Annotated[str, Path(pattern=r"^[0-9a-f]{8}$", description="The key's id.")]


class Key(BaseModel):
    """A key's data. The key itself is returned only once, when it is made."""

    id: str
    prefix: str
    name: str
    role: Role
    project: str
    created: str
    used: str | None


class NewKey(BaseModel):
    """The options of a new key."""

    name: str = Field(default="", max_length=200)
    role: Role = "read"


class MadeKey(Key):
    """A new key, with the key itself, which cannot be requested again."""

    key: str


class KeyList(BaseModel):
    """The keys of a project."""

    items: list[Key]


@router.get("", responses=refusals(401, 403))
def listed(request: Request, access: Admin) -> KeyList:
    """Return the keys of the project, the oldest first."""
    return KeyList(items=[Key(**_shape(key)) for key in _of(request).all(access.project)])


@router.post("", status_code=201, responses=refusals(401, 403))
def make(request: Request, access: Admin, wanted: NewKey) -> MadeKey:
    """Make a key for the project."""
    key, text = _of(request).make(role=wanted.role, project=access.project, name=wanted.name)
    return MadeKey(**_shape(key), key=text)


@router.delete("/{id}", status_code=204, responses=refusals(401, 403, 404))
def remove(request: Request, access: Admin, id: Id) -> None:
    """Revoke a key."""
    if not _of(request).remove(id, access.project):
        raise HTTPException(404, f"this project has no key {id}")


def _of(request: Request) -> keys.Keys:
    found: keys.Keys = request.app.state.keys
    return found


def _shape(key: keys.StoredKey) -> dict[str, Any]:
    return {"prefix": key.prefix, **{name: getattr(key, name) for name in keys.StoredKey.__slots__}}
