"""The route that reads one page in a new session."""

from __future__ import annotations

from fastapi import APIRouter

from reenact.errors import SessionError, UsageError
from reenact.server.access import Writer
from reenact.server.refusals import refusals
from reenact.server.wire import requests, responses
from reenact.server.wire.actions import executed, scraped
from reenact.server.wire.routing import BUSY, Asked, Foreign, Hosts, WireRoute

router = APIRouter(tags=["sessions"], route_class=WireRoute, responses=refusals(400, 401, 403, 409))


@router.post("/scrape", responses=BUSY)
def scrape(access: Writer, hosts: Hosts, foreign: Foreign, body: Asked) -> responses.DataResponse:
    """Read one page as Markdown, pictures, or data from a model."""
    asked = dict(body)
    url = asked.pop("url", None)
    if not isinstance(url, str) or not url:
        raise UsageError("scrape: give the url of a page")
    model = asked.pop("model", None)
    options = requests.options_of({"model": model} if model else {}, foreign=foreign)
    hosted = hosts.start(access.project, access.library.store.root, options)
    try:
        went = executed(hosted, {"type": "goto", "url": url})
        if not went.success:
            raise SessionError(went.message)
        return scraped(hosted, asked)
    finally:
        hosts.stop(hosted)
