"""Routes of recordings as files: export at a signed address, and import."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from functools import partial
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from reenact.analysis.views.listing import OriginView, origin_view
from reenact.core import private
from reenact.core.store import bundle
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import LocalStore, load
from reenact.core.trust.consent import standing_of
from reenact.errors import CorruptRecording, FutureFormat, NotARecording, RecordingError, TooLarge
from reenact.server.access import Access, Reader, Writer
from reenact.server.library import ProjectLibrary
from reenact.server.links import Lender
from reenact.server.readers import LARGE, ReaderCall, Readers
from reenact.server.refusals import refusals
from reenact.server.routes.common import MISSING, Id
from reenact.server.routes.uploads import no_room
from reenact.verbs.export_html import packed
from reenact.verbs.interface import Context

router = APIRouter(tags=["recordings"])

LARGEST = 2 << 30
"""Most bytes of an imported file."""

_PACKED = 1_000_000
"""Bytes of a file above which its list of members is read in another process."""

_LOOK = 16 << 20
"""Bytes of an import after which the room on the disk is read again."""

_GOOD = 3600.0
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class Export(BaseModel):
    """A signed address of the exported file, and the time when it expires (ISO 8601, UTC)."""

    url: str
    expires_at: str


class Imported(BaseModel):
    """The imported recording, and its origin for this server."""

    id: str
    origin: OriginView | None


@router.get("/recordings/{id}/export", responses=MISSING)
def export(access: Reader, links: Lender, id: Id) -> Export:
    """Export a recording as one file, at an address that is valid for an hour without a key."""
    path = _exported(access.library, id)
    known = access.library.entry(id) or access.library.indexed(id)
    name = known.summary.name if known is not None else access.library.store.load(id).name
    url, expires = links.lend(f"{f'{name}-' if name else ''}{id}.reenact", path, _GOOD)
    return Export(url=url, expires_at=expires.isoformat())


@router.post(
    "/recordings/import",
    status_code=201,
    responses=refusals(400, 401, 403, 409, 413, 422),
    openapi_extra=_BODY,
)
async def import_(access: Writer, request: Request) -> Imported:
    """Import an exported recording; the body is the `.reenact` file."""
    folder = access.library.store.root
    await run_in_threadpool(private.folder, folder)
    part = folder / f"incoming-{secrets.token_hex(8)}.reenact"
    intake = access.library.intake
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            size, most = 0, min(LARGEST, request.app.state.settings.limits.recording)
            looked = 0
            async for block in request.stream():
                size += len(block)
                if size > most:
                    raise HTTPException(413, f"a recording may have at most {most} bytes")
                if size > looked and isinstance(intake, LocalIntake):
                    # Other imports take room at the same time.
                    looked = size + _LOOK
                    if not await run_in_threadpool(intake.room):
                        raise no_room("there is no room for another recording")
                await run_in_threadpool(file.write, block)
        if isinstance(intake, LocalIntake):
            refused = await run_in_threadpool(intake.no_room, part.name, size)
            if refused is not None:
                raise no_room(refused.detail)
            # The packed file also takes room until it is unpacked.
            most = await run_in_threadpool(intake.room)
        return await run_in_threadpool(_brought, request.app.state.readers, access, part, most)
    finally:
        part.unlink(missing_ok=True)
        # A process that was ended may have left the folder.
        await run_in_threadpool(shutil.rmtree, _beside(part), ignore_errors=True)


def _brought(readers: Readers, access: Access, part: Path, limit: int) -> Imported:
    home = access.library.store.root
    try:
        large = part.stat().st_size > _PACKED or bundle.unpacked(part) > LARGE
        work = (home, part, limit)
        id, origin = readers.imported(ReaderCall(_unpacked, work)).result() if large else _unpacked(*work)
    except NotARecording:
        raise HTTPException(400, "the body is no exported recording (`reenact export` makes one)") from None
    except RecordingError as error:
        # The temporary name of the file means nothing to the client.
        text = str(error).replace(f"{part}: ", "").replace(str(part), "the file")
        if isinstance(error, (CorruptRecording, FutureFormat)):
            raise HTTPException(422, text) from None
        status = 413 if isinstance(error, TooLarge) else 409 if "is already in the store" in text else 400
        raise HTTPException(status, text) from None
    except OSError as error:
        raise no_room(f"the recording cannot be written here: {error.strerror}") from None
    access.library.touched(id)
    return Imported(id=id, origin=origin)


def _unpacked(home: Path, part: Path, limit: int) -> tuple[str, OriginView | None]:
    """Import a file; return the recording's id and its origin."""
    store = LocalStore(home)
    id = bundle.bring(store, part, limit=limit, fresh=_beside(part))
    return id, origin_view(standing_of(load(store.folder(id)), home))


def _beside(part: Path) -> Path:
    """Return the folder to which a file is unpacked."""
    return part.with_name(f"{part.stem}-unpacked")


def _exported(library: ProjectLibrary, id: str) -> Path:
    """Make the file, and remove older ones whose addresses have expired."""
    folder = library.folder(id)
    exports = library.store.root / "exports"
    exports.mkdir(mode=0o700, exist_ok=True)
    for old in exports.glob("*.reenact"):
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > 2 * _GOOD:
                old.unlink()
    target = exports / f"{id}.reenact"
    return library.apart(id, _export, library.store, folder, target, state=_state(folder))


def _state(folder: Path) -> str:
    """Return size and time of a large recording's files, with pictures; "" for a small one."""
    known = [one.stat() for one in folder.rglob("*") if one.is_file()]
    size = sum(one.st_size for one in known)
    return f"{size}.{max(one.st_mtime_ns for one in known)}" if size > LARGE else ""


def _export(store: LocalStore, folder: Path, target: Path) -> Path:
    # Without a video, which would take longer than a request may.
    page = partial(packed, context=Context(store.root), frames=True)
    return bundle.export(store, str(folder), target, force=True, page=page)
