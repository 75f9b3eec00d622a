"""The route of the API document as a page."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from reenact.analysis.pages.html import POLICY, page_html
from reenact.server.manual import manual

router = APIRouter(include_in_schema=False)


@router.get("/docs", response_class=HTMLResponse)
def page(request: Request) -> HTMLResponse:
    """Return the document as a page."""
    policy = f"{POLICY}; frame-ancestors 'none'"
    return HTMLResponse(page_html(manual(request.app.openapi())), headers={"Content-Security-Policy": policy})
