"""Routes of browser sessions in recordings: film, video, pictures, and the live view."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi import Path as InPath
from fastapi.responses import Response
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from reenact.browser.camera.footage import Footage
from reenact.browser.video import Video as Made
from reenact.browser.video import means, one_of
from reenact.browser.video.pace import Kind
from reenact.browser.video.render import kept
from reenact.browser.watch.engine import engine
from reenact.browser.watch.film import Film
from reenact.core.store import local
from reenact.errors import CorruptRecording, FutureFormat, MissingExtra, RecordingError
from reenact.server.access import Reader
from reenact.server.films import FilmPage, Frame, film_of, followed, page_at, picture_at
from reenact.server.jobs import Jobs
from reenact.server.jobs import RunningJob as Jobbed
from reenact.server.links import Lender, Links
from reenact.server.orders import ORDERS, Order
from reenact.server.refusals import refusals
from reenact.server.routes.common import MISSING, Id
from reenact.server.routes.jobs import Job, shown

GOOD_FOR = 3600.0
"""Seconds for which a video's address is valid."""

router = APIRouter(prefix="/recordings/{id}/sessions/{number}", tags=["sessions in recordings"])
selectors = APIRouter()

Number = Annotated[int, InPath(ge=1, le=100_000, description="The number of its browser session, from 1.")]


class SessionVideo(BaseModel):
    """A session's video.

    `segments` are pairs of a time in the video and the time in the session, both in milliseconds; times between two
    pairs are interpolated.
    """

    url: str
    vtt_url: str
    expires_at: datetime
    start_ms: int
    duration_ms: int
    width: int
    height: int
    segments: list[tuple[int, int]]


@router.get("/film", responses=MISSING)
def the_film(access: Reader, id: Id, number: Number) -> Film:
    """Return a session's steps, requests, console lines and accessibility trees, by one clock."""
    folder = access.library.folder(id)
    with _sought():
        one_of(folder, number)
    return access.library.apart(id, _film, folder, number)


def _film(folder: Path, number: int) -> Film:
    return film_of(local.load(folder), folder, number)


@router.get(
    "/frames",
    responses={**MISSING, 200: {"content": {"image/jpeg": {}}}},
    response_class=Response,
)
def frame(
    access: Reader,
    id: Id,
    number: Number,
    at: Annotated[float, Query(ge=0, le=1e12, description="Milliseconds since the session began.")],
    width: Annotated[int | None, Query(ge=16, le=640, description="Of a thumbnail, in pixels.")] = None,
) -> Response:
    """Return the picture at a moment, full or small: a JPEG with secrets covered."""
    folder = access.library.folder(id)
    with _sought():
        data = picture_at(folder, number, at, width)
    headers = {"Cache-Control": "private, max-age=60", "X-Content-Type-Options": "nosniff"}
    return Response(data, media_type="image/jpeg", headers=headers)


@router.get("/pages/{page}", responses=MISSING)
def the_page(
    access: Reader,
    id: Id,
    number: Number,
    page: Annotated[int, InPath(ge=0, le=1_000_000, description="Its number, from the film's `moments`.")],
) -> FilmPage:
    """Return the content of a page at a moment, without scripts, typed values and secrets."""
    folder = access.library.folder(id)
    with _sought():
        return access.library.apart(id, page_at, folder, number, page)


@selectors.get("/selectors.js", include_in_schema=False)
def selectors_script(access: Reader) -> Response:
    """Return the console's code for selectors, from the installed Playwright."""
    return Response(f"export default {engine()};\n", media_type="text/javascript")


@router.get("/live", responses={**MISSING, 200: {"content": {"text/event-stream": {}}}})
async def live(access: Reader, id: Id, number: Number) -> EventSourceResponse:
    """Follow a session: `frame` (a Frame) for each picture, `grown` (a Grown) for new content."""
    with _sought():
        footage = one_of(access.library.folder(id), number)
    return EventSourceResponse(_events(footage), headers={"Cache-Control": "no-store"})


async def _events(footage: Footage) -> AsyncIterator[ServerSentEvent]:
    async for item in followed(footage):
        kind = "frame" if isinstance(item, Frame) else "grown"
        yield ServerSentEvent(item.model_dump_json(), event=kind)


# -- the video -----------------------------------------------------------------------------------------------


@router.get(
    "/video",
    responses={**refusals(401, 404, 409), 202: {"model": Job, "description": "The video is being made."}},
)
def video(
    request: Request,
    response: Response,
    *,
    access: Reader,
    links: Lender,
    id: Id,
    number: Number,
    pace: Kind = "real",
) -> SessionVideo | Job:
    """Return a video at a signed address, or (202) the job that makes it."""
    with _sought():
        footage = one_of(access.library.folder(id), number)
    if means() == "page":
        raise HTTPException(409, str(MissingExtra("a video", "browser")))
    found = kept(footage, pace)
    if found is not None:
        return _lent(links, found, number)
    jobs: Jobs = request.app.state.jobs
    order = ORDERS.validate_python(
        {"kind": "video", "recording": id, "options": {"session": number, "pace": pace}}
    )
    job = _making(jobs, access.project, order) or jobs.start(access.project, order)
    if job.status == "failed":
        raise HTTPException(409, f"no video could be made of it (job {job.id}): {job.error}")
    response.status_code = 202
    return shown(jobs, access.project, job, links)


def _making(jobs: Jobs, project: str, order: Order) -> Jobbed | None:
    """Return the job that is making this video, or has failed to."""
    alike = (job for job in jobs.all(project) if job.kind == "video" and job.recordings == tuple(order.ids))
    wanted = (job for job in alike if job.status in ("queued", "running", "failed"))
    return next((job for job in wanted if jobs.order(project, job.id) == order), None)


def _lent(links: Links, video: Made, number: int) -> SessionVideo:
    try:
        url, expires = links.lend(f"session {number}.mp4", video.path, GOOD_FOR)
        captions, _ = links.lend(f"session {number}.vtt", video.captions, GOOD_FOR)
    except ValueError:
        raise HTTPException(409, "this recording is read-only, so its video is stored elsewhere") from None
    return SessionVideo(
        url=url, vtt_url=captions, expires_at=expires, start_ms=video.start_ms, duration_ms=video.duration_ms,
        width=video.size[0], height=video.size[1], segments=list(video.segments),
    )  # fmt: skip


@contextmanager
def _sought() -> Iterator[None]:
    """Answer 404 for a missing part of a recording; raise other errors unchanged."""
    try:
        yield
    except (CorruptRecording, FutureFormat):
        raise
    except RecordingError as error:
        raise HTTPException(404, str(error)) from None
