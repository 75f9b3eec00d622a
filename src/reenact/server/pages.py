"""The console's pages: built files, and one page for all addresses."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from reenact.server.operations.middleware import ROUTE

ASSETS = "/assets/"
"""The path of built files that are named by their content, and so never change."""

_NOT_OURS = ("api", "files", "sessions", "agents", "assets")
_MISSING = "The console is not built here: `make console` builds it. The API is at /api/v1/docs.\n"


class Pages(BaseRoute):
    """Serves the console's files: assets, other files, and the page for all other paths.

    It must be the last route, and does not match the paths of others.

    Args:
        folder: The output of `make console`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = StaticFiles(directory=folder, check_dir=False)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match GET and HEAD requests that no other part of the server owns."""
        path = scope.get("path", "")
        first = path.lstrip("/").partition("/")[0]
        ours = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if not ours or (first in _NOT_OURS and not path.startswith(ASSETS)):
            return Match.NONE, {}
        return Match.FULL, {ROUTE: "/assets/{file}" if path.startswith(ASSETS) else "/{page}"}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a file."""
        response = await self._answer(scope)
        await response(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        path = scope["path"]
        if ".." in path.split("/"):
            raise HTTPException(404)
        page = self._folder / "index.html"
        if path.startswith(ASSETS) or ("." in path.rpartition("/")[2] and path.count("/") == 1):
            response = await self._files.get_response(path.lstrip("/"), scope)
            lasting = path.startswith(ASSETS)
            response.headers["Cache-Control"] = (
                "public, max-age=31536000, immutable" if lasting else "no-cache"
            )
            return response
        if "text/html" not in Headers(scope=scope).get("accept", "*/*").replace("*/*", "text/html"):
            raise HTTPException(404)
        if not page.is_file():
            return PlainTextResponse(_MISSING, 503)
        return FileResponse(page, headers={"Cache-Control": "no-cache"})
