"""Routes that receive recordings while other machines write them (`REENACT_SERVER`)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel

from reenact.core.store.base import Damaged
from reenact.server import request_memory
from reenact.server.access import Writer
from reenact.server.measuring import Measures
from reenact.server.request_memory import TooManyRequestsError
from reenact.team.ship import upload_format

router = APIRouter(tags=["uploads"])

AGAIN = 60
"""Seconds after which a client may try again if there was no room."""


class PieceSaid(BaseModel):
    """The reason of a refusal."""

    detail: str


class TakenPiece(BaseModel):
    """The result of a piece: only `ok` is stored on the disk."""

    status: upload_format.Status
    length: int
    detail: str


class Acknowledged(BaseModel):
    """The results of the pieces, in their order."""

    pieces: list[TakenPiece]


class UploadQuestion(BaseModel):
    """The recordings of the question."""

    recordings: list[str]


class Files(BaseModel):
    """The length of each file; unknown recordings are left out."""

    recordings: dict[str, dict[str, int]]


class Length(BaseModel):
    """The new length of the file."""

    length: int


_BYTES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_PIECES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {upload_format.TYPE: {"schema": {"type": "string", "format": "binary"}}},
    }
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": PieceSaid, "description": "The piece is not valid."},
    401: {"model": PieceSaid, "description": "No key."},
    403: {"model": PieceSaid, "description": "The key may only read."},
    410: {"model": PieceSaid, "description": "The recording was deleted, and is not accepted again."},
    413: {"model": PieceSaid, "description": "Too large for one request, or for one recording."},
    422: {"model": PieceSaid, "description": "A line is damaged: its sum does not fit. It is named."},
    429: {"model": PieceSaid, "description": "Too many uploads of the project at once: see `Retry-After`."},
    507: {"model": PieceSaid, "description": "No room left: see the header `Retry-After`."},
}
_OFFSET: dict[int | str, dict[str, Any]] = {
    409: {
        "model": PieceSaid,
        "description": "The file has another length (header `Upload-Length`), or other bytes.",
    }
}


def no_room(why: str) -> HTTPException:
    """Return the error that there is no room now, with the time to try again."""
    return HTTPException(507, why, headers={"Retry-After": str(AGAIN)})


Id = Annotated[str, InPath(pattern=rf"^{upload_format.ID.pattern}$", description="The recording's id.")]
Name = Annotated[str, InPath(pattern=rf"^(?:{upload_format.FILE.pattern})$", description="The file's name.")]
Digest = Annotated[str, InPath(pattern=r"^[0-9a-f]{64}$", description="The sha256 of the bytes.")]


async def _body(request: Request, access: Writer) -> AsyncIterator[bytes]:
    """Read the body, up to the limit of its length; it counts as held until the answer."""
    parts: list[bytes] = []
    size, memory = 0, access.library.uploads
    try:
        async for part in request.stream():
            if size + len(part) > upload_format.BODY:
                raise HTTPException(413, f"a request may have at most {upload_format.BODY} bytes")
            memory.hold(len(part))
            size += len(part)
            parts.append(part)
        yield b"".join(parts)
    except TooManyRequestsError as error:
        raise HTTPException(429, str(error), headers={"Retry-After": str(request_memory.AGAIN)}) from None
    finally:
        memory.release(size)


Body = Annotated[bytes, Depends(_body)]


@router.post("/uploads", openapi_extra=_PIECES, responses=_ERRORS)
def upload(request: Request, access: Writer, body: Body) -> Acknowledged:
    """Append pieces of many recordings' files.

    The body's first line describes the pieces that follow; `docs/uploads.md` has its form. Each piece has its own
    answer.
    """
    try:
        pieces, live = upload_format.unpacked(body)
    except upload_format.Malformed as error:
        raise HTTPException(400, str(error)) from None
    taken = _taken(request, access, pieces)
    access.library.intake.heard(live)
    if taken and all(one.status == "full" for one in taken):
        raise no_room(taken[0].detail)
    return Acknowledged(
        pieces=[TakenPiece(status=one.status, length=one.length, detail=one.detail) for one in taken]
    )


@router.post("/uploads/lengths", responses=_ERRORS)
def lengths(access: Writer, asked: UploadQuestion) -> Files:
    """Return the stored lengths of these recordings' files."""
    if len(asked.recordings) > 1000:
        raise HTTPException(413, "at most 1000 recordings in one request")
    return Files(recordings=access.library.intake.lengths(asked.recordings))


@router.put("/recordings/{id}/files/{name}", openapi_extra=_BYTES, responses={**_ERRORS, **_OFFSET})
def append(
    request: Request,
    access: Writer,
    *,
    id: Id,
    name: Name,
    body: Body,
    offset: Annotated[int, Query(ge=0, lt=1 << 62)] = 0,
) -> Length:
    """Append whole lines to one file; `offset` must be its length."""
    return _one(request, access, upload_format.Piece(id, name, offset, body))


@router.head(
    "/recordings/{id}/files/{name}",
    responses={401: _ERRORS[401], 403: _ERRORS[403], 404: {"description": "There is none."}},
)
def length(access: Writer, id: Id, name: Name) -> Response:
    """Return the length of a file, in the header `Upload-Length`."""
    found = access.library.intake.lengths([id]).get(id, {}).get(name)
    if found is None:
        raise HTTPException(404, "there is no such file")
    return Response(headers={"Upload-Length": str(found)})


@router.put("/recordings/{id}/blobs/{digest}", openapi_extra=_BYTES, responses=_ERRORS)
def blob(request: Request, access: Writer, id: Id, digest: Digest, body: Body) -> Length:
    """Store a blob; its name must be the hash of its bytes."""
    return _one(request, access, upload_format.Piece(id, f"sha256:{digest}", 0, body))


def _taken(
    request: Request, access: Writer, pieces: Sequence[upload_format.Piece]
) -> Sequence[upload_format.PieceTaken]:
    begun = time.perf_counter()
    taken = access.library.intake.take(pieces)
    measures: Measures = request.app.state.measures
    measures.took(access.project, pieces, taken, time.perf_counter() - begun)
    return taken


def _one(request: Request, access: Writer, piece: upload_format.Piece) -> Length:
    (taken,) = _taken(request, access, [piece])
    if taken.status in {"gap", "differs"}:
        raise HTTPException(409, taken.detail, headers={"Upload-Length": str(taken.length)})
    if taken.status == "full":
        raise no_room(taken.detail)
    if taken.status == "large":
        raise HTTPException(413, taken.detail)
    if taken.status == "gone":
        raise HTTPException(410, taken.detail)
    if isinstance(taken, Damaged):
        raise HTTPException(422, taken.detail)
    if taken.status == "refused":
        raise HTTPException(400, taken.detail)
    return Length(length=taken.length)
