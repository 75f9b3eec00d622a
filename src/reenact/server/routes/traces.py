"""The route of traces over OTLP/HTTP, with a key.

It is `/v1/traces`, the default address of OTLP exporters.
"""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request, Response

from reenact.server.access import Writer
from reenact.server.collector import Collecting
from reenact.server.traces.receiver import PATHS, collected

router = APIRouter(tags=["traces"])


async def traces(request: Request, access: Writer) -> Response:
    """Store spans, or log records of the GenAI conventions, and acknowledge them."""
    collecting: Collecting = request.app.state.collecting
    take = partial(collecting.take, access.project)
    return await collected(request, take, collecting.gate(access.project))


for path in PATHS:
    router.post(path, include_in_schema=False)(traces)
