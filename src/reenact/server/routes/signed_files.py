"""The route of files at signed addresses, which need no key until they expire."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from reenact.browser.session.file_server import TYPES
from reenact.server.links import FILES, HomeLinks

router = APIRouter(tags=["files"])

_PAGE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox allow-downloads"
"""The content security policy of a page made from a recording.

Inline styles and pictures are allowed, scripts are not.
"""

_REFUSED: dict[int | str, dict[str, Any]] = {
    307: {"description": "Redirect to the team's object store, valid as long as this address."},
    403: {"description": "Not signed, or expired."},
    404: {"description": "The file no longer exists."},
    416: {"description": "A range that the file does not have."},
}


@router.head(f"{FILES}/{{path:path}}", include_in_schema=False)
@router.get(
    f"{FILES}/{{path:path}}",
    responses={**_REFUSED, 200: {"content": {"application/octet-stream": {}}}},
    response_class=FileResponse,
)
def file(
    request: Request,
    path: str,
    expires: Annotated[str, Query(description="The time at which the address expires.")] = "",
    signature: Annotated[str, Query(description="The server's signature of the address.")] = "",
) -> Response:
    """Return a signed file: a video, an export, a report, a job's result. Ranges are supported."""
    links: HomeLinks = request.app.state.links
    found = links.lent(f"{FILES}/{path}", expires, signature)
    if found is None:
        raise HTTPException(403, "this address is not signed, or has expired")
    if not found.is_file():
        raise HTTPException(404, "this file no longer exists")
    name = path.rpartition("/")[2]
    suffix = name[name.rfind(".") :] if "." in name else ""
    kind = TYPES.get(suffix, "application/octet-stream")
    shown = "inline" if suffix in TYPES else "attachment"
    headers = {
        "Cache-Control": "private",
        "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(name, safe='')}",
    }
    lending = request.app.state.lending
    # The object store's address is signed for GET only.
    if lending is not None and request.method == "GET":
        there = {"Content-Type": kind, "Content-Disposition": headers["Content-Disposition"]}
        address = lending.address(found, name, there, expires)
        if address is not None:
            return RedirectResponse(address, 307, headers={"Cache-Control": "no-store"})
    if suffix == ".html":
        headers["Content-Security-Policy"] = _PAGE
    # Starlette supports ranges, which players need to seek.
    return FileResponse(found, media_type=kind, headers=headers)
