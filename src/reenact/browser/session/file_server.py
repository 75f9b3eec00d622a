"""Serve files at signed addresses on loopback, in a thread that runs as long as the program."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from reenact.browser.session.signatures import Signer
from reenact.core import boundary
from reenact.run.connections import Connection

TYPES = {
    ".mp4": "video/mp4",
    ".vtt": "text/vtt; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
}
"""Media types by suffix; some players refuse a video of another type."""

_UP = 10
"""Most seconds for the server to start."""


class FileServer:
    """The served files, each under its own path; no other file can be requested.

    Args:
        signer: Signs their addresses and checks the requested ones.
    """

    def __init__(self, signer: Signer) -> None:
        self._signer = signer
        self._files: dict[str, Path] = {}
        self._app = Starlette(routes=[Route("/{path:path}", self._serve, methods=["GET", "HEAD"])])
        self._lock = threading.Lock()
        self._port: int | None = None

    @property
    def app(self) -> Starlette:
        """The ASGI application."""
        return self._app

    def lend(self, name: str, file: Path, *, seconds: float) -> tuple[str, datetime]:
        """Serve a file under a name; return its address and the expiry."""
        path = f"/{name}"
        self._files[path] = file
        address, expires = self._signer.sign(path, seconds=seconds)
        return f"http://127.0.0.1:{self.port}{address}", expires

    @property
    def port(self) -> int:
        """The port of the server, which starts when this is first read."""
        with self._lock:
            if self._port is None:
                # The thread and its effects do not belong to the recorded program.
                with boundary.entered(None):
                    self._port = _start(self._app)
            return self._port

    async def _serve(self, request: Request) -> Response:
        path, query = f"/{request.path_params['path']}", request.query_params
        if not self._signer.allows(path, query.get("expires", ""), query.get("signature", "")):
            return PlainTextResponse("this address is not signed, or has expired\n", 403)
        file = self._files.get(path)
        if file is None or not file.is_file():
            return PlainTextResponse("this file no longer exists\n", 404)
        headers = {
            "Cache-Control": "private",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        # Starlette supports range requests, which players need to seek.
        return FileResponse(
            file, media_type=TYPES.get(file.suffix, "application/octet-stream"), headers=headers
        )


_shelves: dict[Path, FileServer] = {}
_shelving = threading.Lock()


def shelf(home: Path) -> FileServer:
    """Return this process's file server for a store."""
    home = home.absolute()
    with _shelving:
        found = _shelves.get(home)
        if found is None:
            found = _shelves[home] = FileServer(Signer.of(home))
        return found


def _start(app: Starlette) -> int:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    up: Future[None] = Future()
    threading.Thread(target=_run, args=(app, listening, up), name="reenact-videos", daemon=True).start()
    up.result(_UP)
    port: int = listening.getsockname()[1]
    return port


def _run(app: Starlette, listening: socket.socket, up: Future[None]) -> None:
    async def serve() -> None:
        config = uvicorn.Config(
            app, http=Connection, ws="none", lifespan="off", log_config=None, log_level="critical", access_log=False,
            server_header=False,
        )  # fmt: skip
        up.set_result(None)
        await uvicorn.Server(config).serve(sockets=[listening])

    try:
        asyncio.run(serve())
    except BaseException as error:
        if up.done():
            raise
        up.set_exception(error)
