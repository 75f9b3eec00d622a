"""Access rights of requests: every route depends on `Reader`, `Writer` or `Admin`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from reenact.server.keys import ROLES, Role
from reenact.server.library import ProjectLibrary

__all__ = ["ROLES", "Access", "Admin", "Reader", "Role", "Writer"]


@dataclass(frozen=True, slots=True)
class Access:
    """A request's project, role and recordings.

    Attributes:
        project: The project of the key.
        role: The role of the key in that project.
        library: The project's recordings.
    """

    project: str
    role: Role
    library: ProjectLibrary


_SCHEME = HTTPBearer(scheme_name="key", description="An API key: `reenact keys add`.", auto_error=False)
"""The security scheme for the API document only.

The guard reads the header itself, and the console's cookie, too.
"""


def _found(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_SCHEME)] = None
) -> Access:
    """Return the access that the guard found for this request. Answers 401 without one."""
    access: Access | None = getattr(request.state, "access", None)
    if access is None:
        raise HTTPException(
            401, "an API key is needed: Authorization: Bearer KEY", headers={"WWW-Authenticate": "Bearer"}
        )
    return access


def _reader(access: Annotated[Access, Depends(_found)]) -> Access:
    return access


def _writer(access: Annotated[Access, Depends(_found)]) -> Access:
    return _at_least("write", access)


def _admin(access: Annotated[Access, Depends(_found)]) -> Access:
    return _at_least("admin", access)


def _at_least(role: Role, access: Access) -> Access:
    if ROLES.index(access.role) < ROLES.index(role):
        raise HTTPException(403, f"this key may {access.role}; this needs one that may {role}")
    return access


Reader = Annotated[Access, Depends(_reader)]
Writer = Annotated[Access, Depends(_writer)]
Admin = Annotated[Access, Depends(_admin)]
