"""Routes of a session's files: uploads for its pages, and their downloads."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from pydantic import BaseModel
from starlette.datastructures import UploadFile

from reenact.errors import UsageError
from reenact.server.access import Reader, Writer
from reenact.server.refusals import refusals
from reenact.server.routes.sessions import Done
from reenact.server.wire import responses
from reenact.server.wire.actions import files_of
from reenact.server.wire.hosted import Hosted, UnknownSessionError
from reenact.server.wire.routing import Hosts, SessionId, WireRoute
from reenact.server.wire.stored_files import File, SessionFiles, Source

router = APIRouter(
    prefix="/sessions/{id}/files",
    tags=["sessions"],
    route_class=WireRoute,
    responses=refusals(400, 401, 403, 404, 409),
)

FileId = Annotated[str, Path(pattern="^[0-9a-f]{24}$", description="The file's id.")]


class FilesPage(BaseModel):
    """Some of a session's files, the oldest first."""

    files: list[responses.FileInfo]
    total: int
    limit: int
    offset: int


_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


@router.post("", openapi_extra=_FORM)
async def upload(request: Request, access: Writer, hosts: Hosts, id: SessionId) -> responses.FileInfo:
    """Upload a file for `upload_file`; it replaces one of the same name."""
    hosted = hosts.find(access.project, id)
    hosted.live()
    async with request.form(max_files=1, max_fields=4) as form:
        given = form.get("file")
        if not isinstance(given, UploadFile) or not given.filename:
            raise UsageError("upload: a form with one field, file")
        kept = await run_in_threadpool(files_of(hosted).keep, given.filename, given.file)
    return _response(hosted, kept)


@router.get("")
def files(
    access: Reader,
    hosts: Hosts,
    id: SessionId,
    *,
    source: Source | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> FilesPage:
    """Return the session's files. They are deleted when the server ends, or after many sessions."""
    hosted = hosts.find(access.project, id)
    found = [one for one in files_of(hosted).all() if source in (None, one.source)]
    shown = [_response(hosted, one) for one in found[offset : offset + limit]]
    return FilesPage(files=shown, total=len(found), limit=limit, offset=offset)


@router.get("/{file_id}", response_class=FileResponse)
def download(access: Reader, hosts: Hosts, id: SessionId, file_id: FileId) -> FileResponse:
    """Return the content of a file."""
    found = _found(files_of(hosts.find(access.project, id)), file_id)
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
        "Cache-Control": "private",
    }
    return FileResponse(found.path, media_type="application/octet-stream", headers=headers)


@router.delete("/{file_id}")
def remove(access: Writer, hosts: Hosts, id: SessionId, file_id: FileId) -> Done:
    """Remove a file."""
    found = _found(files_of(hosts.find(access.project, id)), file_id)
    found.path.unlink(missing_ok=True)
    return Done(success=True, message=f"{found.name} was removed")


def _found(files: SessionFiles, id: str) -> File:
    found = files.find(id)
    if found is None:
        raise UnknownSessionError(f"there is no file {id} in this session")
    return found


def _response(hosted: Hosted, one: File) -> responses.FileInfo:
    return responses.file(hosted.id, one, one.created + timedelta(days=1))
