"""Routes of blobs: bytes that a recording stores by their hash.

They are served as files that a browser does not run. This server itself sends them, because it checks their hash; the
team's object store does not.
"""

from __future__ import annotations

import hashlib
from pathlib import Path as File
from typing import Annotated, BinaryIO

from fastapi import APIRouter, HTTPException, Path, Response
from fastapi.responses import FileResponse

from reenact.analysis.views.step_pictures import picture_kind
from reenact.core.store import shared
from reenact.errors import CorruptRecording
from reenact.server.access import Reader
from reenact.server.routes.common import MISSING, Id

router = APIRouter(tags=["blobs"])

Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="The SHA-256, in hex.")]

_BLOCK = 1 << 20


@router.get(
    "/recordings/{id}/blobs/{digest}",
    response_class=Response,
    responses=MISSING
    | {
        200: {
            "content": {"application/octet-stream": {}, "image/png": {}, "image/jpeg": {}},
            "description": "The bytes.",
        },
    },
)
def blob(access: Reader, id: Id, digest: Digest) -> Response:
    """Return a blob as a file to download; only pictures have a specific content type."""
    folder = access.library.folder(id)
    place = File("blobs", digest[:2], digest)
    for one in (folder, *shared.ancestors(folder)):
        if (one / place).is_file():
            break
    else:
        raise HTTPException(404, f"recording {id} has no blob {digest}")
    with (one / place).open("rb") as file:
        head = file.read(16)
        if _digest(file, head) != digest:
            raise CorruptRecording(f"blob {digest} of recording {id} is damaged: its bytes have another hash")
    return FileResponse(
        one / place,
        media_type=_kind(head),
        filename=digest[:16],
        content_disposition_type="attachment",
        headers={
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Cache-Control": "private, max-age=31536000, immutable",
        },
    )


def _digest(file: BinaryIO, head: bytes) -> str:
    found = hashlib.sha256(head)
    while block := file.read(_BLOCK):
        found.update(block)
    return found.hexdigest()


def _kind(head: bytes) -> str:
    kind = picture_kind(head)
    return "application/octet-stream" if kind is None else f"image/{kind}"
