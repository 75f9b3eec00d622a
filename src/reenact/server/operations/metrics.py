"""Metrics of a server in Prometheus's format, and the token to read them.

Only the code and the operator define the values of labels: routes, statuses, kinds of errors, projects. A label never
contains an id or a text from a request.
"""

from __future__ import annotations

import hmac
import ipaddress

import anyio
from anyio import CapacityLimiter
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from reenact import __version__

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Requests:
    """The metrics of requests.

    Args:
        registry: The registry, one for each server in a process.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        # Times of creation would double the number of series, and Prometheus does not need them.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry
        self._count = Counter(
            "reenact_http_requests",
            "Requests by route, method and status.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "reenact_http_request_duration_seconds",
            "Seconds that requests took, without streams.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self.streams = Gauge("reenact_live_streams", "Streams of events that are open.", registry=registry)
        self.errors = Counter("reenact_errors", "Errors, by kind.", ("kind",), registry=registry)
        about = Gauge("reenact_build_info", "1, with the running version.", ("version",), registry=registry)
        about.labels(__version__).set(1)
        ProcessCollector(registry=registry)

    def note(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count a request; `seconds` is None for a stream."""
        self._count.labels(method, route, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(method, route).observe(seconds)


class MetricsPage:
    """Answers requests for the metrics.

    Args:
        registry: The registry to show.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        # A limiter of its own, because all threads for requests may be busy just when metrics are needed.
        self._limiter: CapacityLimiter | None = None

    async def answer(self, request: Request) -> Response:
        """Answer with all metrics, in the requested format."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(1)
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        body = await anyio.to_thread.run_sync(encode, self._registry, limiter=self._limiter)
        return Response(body, headers={"content-type": kind})


def shown(headers: Headers, token: str) -> bool:
    """Return True if a request has the token."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return (
        bool(token)
        and scheme.lower() == "bearer"
        and hmac.compare_digest(given.strip().encode(), token.encode())
    )


def local(request: Request) -> bool:
    """Return True if a request comes from this machine, and not through a proxy."""
    passed = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via"))
    try:
        return (
            not passed
            and request.client is not None
            and ipaddress.ip_address(request.client.host).is_loopback
        )
    except ValueError:
        return False
