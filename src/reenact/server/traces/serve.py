"""Run the collector as a server: listen, and make recordings of complete traces."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic

import uvicorn
from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from reenact import __version__
from reenact.analysis.interchange.importers.otel.span import Span
from reenact.errors import UsageError
from reenact.run.connections import Connection
from reenact.run.foreign_pages import has_public_name
from reenact.server.operations.checks import Checks, ready, room, writable
from reenact.server.operations.logs import of_uvicorn
from reenact.server.operations.metrics import MetricsPage, Requests, local, shown
from reenact.server.operations.middleware import Observed
from reenact.server.settings import TOKEN
from reenact.server.traces.measuring import TraceMeasures
from reenact.server.traces.receiver import Gate, application
from reenact.server.traces.traces import KeptTrace, Traces


@dataclass(frozen=True, slots=True)
class Address:
    """The address of the collector: an open socket, and the URL for senders."""

    socket: socket.socket
    url: str


def listen(host: str, port: int) -> Address:
    """Open the port; 0 for any free one. Raises UsageError if it cannot be opened."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{host}:{port} cannot be listened on ({why}); --port 0 takes any that is free"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    return Address(found, f"http://{shown}:{found.getsockname()[1]}")


def watched(traces: Traces, settle: Callable[[], None], end: Callable[[], None], token: str = "") -> Observed:
    """Return the application with `/health`, `/ready` and `/metrics`.

    Args:
        traces: Receives the spans; its clock is `time.monotonic`.
        settle: Called repeatedly, to make recordings.
        end: Called once, when the application ends.
        token: The token to read metrics from other machines; empty for none.
    """
    registry = CollectorRegistry()
    requests, page = Requests(registry), MetricsPage(registry)
    registry.register(TraceMeasures(traces))
    home = traces.folder.parent
    disk = room(home)
    checks = Checks({"disk": disk, "home": writable(home)})

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    async def ready_(request: Request) -> Response:
        found = await checks.ask()
        well = ready(found)
        return JSONResponse({"ready": well, "checks": found}, 200 if well else 503)

    async def metrics(request: Request) -> Response:
        trusted = local(request) and not has_public_name(request.headers)
        if not trusted and not shown(request.headers, token):
            return PlainTextResponse(
                f"metrics are served to this machine, and to clients with {TOKEN}\n", 401
            )
        return await page.answer(request)

    more = [Route("/health", health), Route("/ready", ready_), Route("/metrics", metrics)]
    take = partial(_take, traces)
    return Observed(application(take, settle, end=end, gate=Gate(disk), more=more), requests)


def _take(traces: Traces, spans: list[Span]) -> int:
    return traces.take(spans, monotonic())


def serve(
    traces: Traces,
    address: Address,
    *,
    kept: Callable[[KeptTrace], None],
    failed: Callable[[str], None],
    ended: Callable[[], None],
    token: str = "",
) -> None:
    """Collect until interrupted.

    Args:
        traces: Receives the spans; its clock is `time.monotonic`.
        address: The address to listen on.
        token: The token to read metrics from other machines; empty for none.
        kept: Called with each recording.
        failed: Called with a message for a trace that could not be recorded.
        ended: Called when all received spans are recorded.
    """

    def settle(*, all: bool = False) -> None:
        for one in traces.settle(monotonic(), all=all, failed=failed):
            kept(one)

    def end() -> None:
        settle(all=True)
        ended()

    config = uvicorn.Config(
        watched(traces, settle, end, token),
        **of_uvicorn(),
        http=Connection,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    try:
        uvicorn.Server(config).run(sockets=[address.socket])
    except KeyboardInterrupt:
        # Uvicorn shuts down in order, and then raises the signal again.
        return
    finally:
        address.socket.close()
