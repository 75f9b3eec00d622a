"""A process that reads large recordings for a server, one job after the other."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import MutableMapping
from pathlib import Path
from time import process_time, sleep
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.requests import Request
from starlette.types import Message

from reenact.core import system
from reenact.core.messages import ModelCall, Usage, cost
from reenact.errors import ReenactError, TooLarge
from reenact.server.access import Access
from reenact.server.library import ProjectLibrary
from reenact.server.pipe import MessagePipe
from reenact.server.readers import TOO_LONG, ForwardedRequest, OutOfMemory, ReaderAnswer, ReaderCall
from reenact.server.refusals import misshapen, refusal
from reenact.server.routes import conversation, derived, events, recordings, steps
from reenact.team.ship.upload_format import API

if sys.platform != "win32":
    import resource

_LARGEST = 64_000_000
"""Most bytes of an answer; browsers cannot show larger ones."""

_IDLE = 5.0
"""Seconds without a job after which garbage is collected."""


def main() -> None:
    """Work until the server closes the pipe."""
    longest, memory = map(int, sys.argv[1:])
    pipe = MessagePipe.of_this_process()
    # Only the server ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    budget = _TimeLimit(longest)
    # A recording consists of millions of small objects: collecting garbage takes as long as reading it.
    gc.disable()
    worker = _Worker()
    with asyncio.Runner() as runner:
        runner.run(worker.prepare())
        while True:
            idle = threading.Timer(_IDLE, gc.collect)
            idle.daemon = True
            idle.start()
            try:
                job = pipe.receive()
            except (EOFError, OSError):
                return
            finally:
                idle.cancel()
            with budget:
                answer = runner.run(worker.done(job))
            try:
                pipe.send(answer)
            except OSError:
                return


class _TimeLimit:
    """Ends this process when a job takes too much processor time.

    The signal of a timer does so, even within one long call. On Windows, a thread checks the used time.
    """

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._until: float | None = None
        if sys.platform == "win32" or system.PORTABLE:
            threading.Thread(target=self._watch, daemon=True).start()

    def __enter__(self) -> None:
        if sys.platform == "win32" or system.PORTABLE:
            self._until = process_time() + self._seconds
        else:
            signal.setitimer(signal.ITIMER_PROF, self._seconds)

    def __exit__(self, *raised: object) -> None:
        if sys.platform == "win32" or system.PORTABLE:
            self._until = None
        else:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _watch(self) -> None:
        while True:
            sleep(_TICK)
            if self._until is not None and process_time() > self._until:
                os._exit(TOO_LONG)


_TICK = 0.2


class _Worker:
    """Does the jobs, for one project at a time."""

    def __init__(self) -> None:
        self._library: ProjectLibrary | None = None
        self._app = _application()

    async def prepare(self) -> None:
        """Do what the first requests would wait for: build the routes, and load the price list."""
        await self._response("/", b"", None)
        cost(ModelCall("gpt-4o", usage=Usage(1, 1)))

    async def done(self, pickled: bytes) -> bytes:
        """Return the pickled result of a job: True and its value, or False and the exception."""
        try:
            job: ForwardedRequest | ReaderCall = pickle.loads(pickled)  # noqa: S301 - from our own server
            result = await self._answered(job) if isinstance(job, ForwardedRequest) else self._worked(job)
            return pickle.dumps((True, result))
        except MemoryError:
            return pickle.dumps((False, OutOfMemory()))
        except Exception as error:
            return pickle.dumps((False, _sendable(error)))

    async def _answered(self, request: ForwardedRequest) -> ReaderAnswer:
        library = self._of(request.home)
        for entry in request.entries:
            library.know(entry)
        answer = await self._response(request.path, request.query, library)
        size = len(answer.body)
        if size > _LARGEST:
            raise TooLarge(
                f"this answer has {size // 1_000_000} MB, and a server sends {_LARGEST // 1_000_000} MB at most: "
                "`reenact show` on your own machine has no such limit"
            )
        return answer

    async def _response(self, path: str, query: bytes, library: ProjectLibrary | None) -> ReaderAnswer:
        """Return the routes' response to a GET request."""
        scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": path, "raw_path": path.encode(), "root_path": "",
            "query_string": query, "headers": [], "client": None, "server": None,
            "state": {"access": Access("", "read", library)} if library is not None else {},
        }  # fmt: skip
        parts: list[bytes] = []
        begun: dict[str, Any] = {}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        await self._app(scope, _nothing, send)
        kind = dict(begun["headers"]).get(b"content-type", b"application/json")
        return ReaderAnswer(begun["status"], kind.decode("latin-1"), b"".join(parts))

    def _worked(self, job: ReaderCall) -> Any:
        return job.work(*([self._of(job.home)] if job.home is not None else []), *job.args)

    def _of(self, home: Path) -> ProjectLibrary:
        if self._library is None or self._library.store.root != home:
            self._library = ProjectLibrary(home)
        return self._library


def _application() -> FastAPI:
    """Return the application with the routes about a recording's contents."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.state.readers = None
    for one in (recordings, steps, conversation, events, derived):
        app.include_router(one.router, prefix=API)
    app.add_exception_handler(ReenactError, _refused)
    app.add_exception_handler(RequestValidationError, misshapen)
    return app


async def _refused(_: Request, error: Exception) -> JSONResponse:
    return refusal(error)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _sendable(error: Exception) -> Exception:
    """Return an exception that can be raised in another process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - just made
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
