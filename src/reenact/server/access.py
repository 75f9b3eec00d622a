"""Who asks, and what they may: every route depends on `Reader`, `Writer` or `Admin`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from reenact.server.keys import ROLES, Role
from reenact.server.library import Library

__all__ = ["ROLES", "Access", "Admin", "Reader", "Role", "Writer"]


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks.

    Attributes:
        project: The project that is asked about.
        role: What they may do in it.
        library: Its recordings.
    """

    project: str
    role: Role
    library: Library


_SCHEME = HTTPBearer(scheme_name="key", description="An API key: `reenact keys add`.", auto_error=False)
"""For the document of the API alone: the guard reads the header itself, and knows the console's cookie too."""


def _known(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_SCHEME)] = None
) -> Access:
    """The access that the guard found for this request. Answers 401 where it found none."""
    access: Access | None = getattr(request.state, "access", None)
    if access is None:
        raise HTTPException(
            401, "an API key is needed: Authorization: Bearer KEY", headers={"WWW-Authenticate": "Bearer"}
        )
    return access


def _reader(access: Annotated[Access, Depends(_known)]) -> Access:
    return access


def _writer(access: Annotated[Access, Depends(_known)]) -> Access:
    return _at_least("write", access)


def _admin(access: Annotated[Access, Depends(_known)]) -> Access:
    return _at_least("admin", access)


def _at_least(role: Role, access: Access) -> Access:
    if ROLES.index(access.role) < ROLES.index(role):
        raise HTTPException(403, f"this key may {access.role}; this needs one that may {role}")
    return access


Reader = Annotated[Access, Depends(_reader)]
Writer = Annotated[Access, Depends(_writer)]
Admin = Annotated[Access, Depends(_admin)]
