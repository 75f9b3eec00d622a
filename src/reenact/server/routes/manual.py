"""The document of the API, to read."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from reenact.server.manual import STYLE, manual

router = APIRouter(include_in_schema=False)

_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@router.get("/docs", response_class=HTMLResponse)
def page(request: Request) -> HTMLResponse:
    """The document as a page."""
    return HTMLResponse(manual(request.app.openapi()), headers={"Content-Security-Policy": _POLICY})


@router.get("/docs.css")
def style() -> Response:
    """The stylesheet of the page."""
    return Response(STYLE, media_type="text/css")
