"""Login for browsers: exchange a key once for a cookie."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field

from reenact.server.keys import Keys
from reenact.server.login import COOKIE, Logins
from reenact.server.refusals import refusals
from reenact.server.routes.about import Me

router = APIRouter(tags=["login"])


class ShownKey(BaseModel):
    """The key of a login."""

    key: str = Field(max_length=200)


@router.post("/login", responses=refusals(401))
def login(request: Request, response: Response, shown: ShownKey) -> Me:
    """Log in with a key: a cookie replaces it for thirty days, or until the key is revoked."""
    keys: Keys = request.app.state.keys
    logins: Logins = request.app.state.logins
    key = keys.find(shown.key.strip())
    if key is None:
        raise HTTPException(401, "the key is unknown to this server, or was revoked")
    response.set_cookie(
        COOKIE, logins.cookie_for(key.id), max_age=logins.seconds, httponly=True, samesite="strict",
        secure=_is_secure(request),
    )  # fmt: skip
    return Me(project=key.project, role=key.role)


@router.post("/logout", status_code=204)
def logout(request: Request, response: Response) -> None:
    """Log out: delete the cookie."""
    response.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=_is_secure(request))


def _is_secure(request: Request) -> bool:
    """Return True if the browser uses TLS, to this server or to a proxy in front of it.

    A proxy's headers and the page's own origin count, too.
    """
    headers = request.headers
    return (
        request.url.scheme == "https"
        or headers.get("origin", "").lower().startswith("https://")
        or headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower() == "https"
        or "proto=https" in headers.get("forwarded", "").lower()
    )
