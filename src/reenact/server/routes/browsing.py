"""The routes of browser sessions and agents.

If their packages are not installed, they answer with one line that says so.
"""

from __future__ import annotations

from fastapi import APIRouter, HTTPException

from reenact.errors import MissingExtra

_THEIRS = ("/sessions", "/agents", "/scrape")


def browsing() -> tuple[list[APIRouter], list[APIRouter]]:
    """Return all routers, and those that also exist without `/api/v1`."""
    try:
        # Imported here because Playwright and Pydantic AI may be missing.
        from reenact.server import protocol  # noqa: PLC0415
        from reenact.server.routes import (  # noqa: PLC0415
            agents,
            mending,
            scraping,
            session_files,
            sessions,
        )
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        if name == "reenact":
            raise
        absent = _absent(name)
        return [absent], [absent]
    root = [sessions.router, session_files.router, scraping.router, agents.router]
    return [*root, mending.router], [*root, protocol.router]


def _absent(name: str) -> APIRouter:
    router = APIRouter()

    def refuse() -> None:
        raise HTTPException(
            501,
            f"{name} is not installed on this server: {MissingExtra('a browser session', 'browser')}",
        )

    for path in _THEIRS:
        for at in (path, path + "/{rest:path}"):
            router.add_api_route(
                at, refuse, methods=["GET", "POST", "DELETE", "PUT", "PATCH"], include_in_schema=False
            )
    return router
