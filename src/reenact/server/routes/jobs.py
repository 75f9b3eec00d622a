"""Routes of jobs: start, watch and cancel them, and read their results."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from reenact.core.wakers import waker
from reenact.server import jobs
from reenact.server.access import Access, Reader, Writer
from reenact.server.jobs import ENDED, Status
from reenact.server.links import Lender, Links
from reenact.server.orders import AnyOrder, results
from reenact.server.projects import Projects
from reenact.server.refusals import refusals

router = APIRouter(prefix="/jobs", tags=["jobs"])

GOOD_FOR = 3600.0
"""Seconds for which the address of a job's file is valid."""

_LOOK = 2.0
"""Seconds between two checks of a job of another server, which sends no events."""

Id = Annotated[str, Path(pattern=r"^[0-9a-z]{10}$", description="The job's id.")]


JobResult: Any = results()
"""The result of a job of any kind."""


class JobProgress(BaseModel):
    """The progress of a job: done and total, if known, and the current work."""

    done: int
    total: int | None
    label: str


class JobFile(BaseModel):
    """A file that a job has made, at a signed address that is valid for an hour."""

    name: str
    url: str


class Job(BaseModel):
    """A job and its status."""

    id: str
    kind: str
    title: str
    recordings: list[str]
    status: Status
    progress: JobProgress
    result: JobResult = Field(
        description="The result, as the command prints it with --json. Null in a list of jobs."
    )
    error: str | None
    files: list[JobFile]
    created: str
    began: str | None
    ended: str | None


class JobList(BaseModel):
    """The jobs of a project."""

    items: list[Job]


@router.get("", responses=refusals(401))
def listed(request: Request, access: Reader, links: Lender) -> JobList:
    """Return the jobs of the project, the newest first, without their results."""
    known = _of(request)
    items = [replace(job, result=None) for job in known.all(access.project)]
    return JobList(items=[shown(known, access.project, job, links) for job in items])


@router.post(
    "", status_code=201, response_model_exclude_unset=True, responses=refusals(400, 401, 403, 404, 409)
)
def start(request: Request, access: Writer, links: Lender, order: Annotated[AnyOrder, Field()]) -> Job:
    """Start a job, or queue it. The server must allow jobs that run programs."""
    if order.runs and not request.app.state.settings.running:
        raise HTTPException(
            403, f"{order.kind} runs programs, which this server does not allow: reenact serve --running"
        )
    known = _of(request)
    return shown(known, access.project, known.start(access.project, order), links)


@router.get("/{id}", response_model_exclude_unset=True, responses=refusals(401, 404))
def one(request: Request, access: Reader, links: Lender, id: Id) -> Job:
    """Return a job's status and its result."""
    return shown(_of(request), access.project, _found(request, access, id), links)


@router.delete("/{id}", status_code=204, responses=refusals(401, 403, 404))
def end(request: Request, access: Writer, id: Id) -> None:
    """Cancel a job; delete an ended one with its files."""
    known = _of(request)
    if _found(request, access, id).status in ENDED:
        known.remove(access.project, id)
    else:
        known.cancel(access.project, id)


@router.get(
    "/{id}/live",
    response_class=EventSourceResponse,
    responses={**refusals(401, 404), 200: {"content": {"text/event-stream": {}}}},
)
async def live(request: Request, access: Reader, links: Lender, id: Id) -> EventSourceResponse:
    """Stream `job` events, each a whole Job, until the job has ended."""
    await asyncio.to_thread(_found, request, access, id)
    return EventSourceResponse(_events(_of(request), access.project, id, links))


async def _events(known: jobs.Jobs, project: str, id: str, links: Links) -> AsyncIterator[ServerSentEvent]:
    changed = asyncio.Event()
    wake = waker(changed)

    def told(where: str, job: jobs.RunningJob) -> None:
        if (where, job.id) == (project, id):
            wake()

    stop = known.listen(told)
    try:
        while True:
            changed.clear()
            job = await asyncio.to_thread(known.find, project, id)
            if job is None:
                return
            yield ServerSentEvent(
                shown(known, project, job, links).model_dump_json(exclude_unset=True), event="job"
            )
            if job.status in ENDED:
                return
            # A job of another server sends no events, so check again after a while.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), _LOOK)
    finally:
        stop()


def shown(known: jobs.Jobs, project: str, job: jobs.RunningJob, links: Links) -> Job:
    """Describe a job, with addresses of its files."""
    files = [
        JobFile(name=name, url=links.lend(name.rpartition("/")[2], path, GOOD_FOR)[0])
        for name, path in known.files(project, job)
    ]
    progress = JobProgress(done=job.progress.done, total=job.progress.total, label=job.progress.label)
    return Job(
        id=job.id, kind=job.kind, title=job.title or job.kind, recordings=list(job.recordings), status=job.status,
        progress=progress, result=job.result, error=job.error, files=files, created=job.created, began=job.began,
        ended=job.ended,
    )  # fmt: skip


def announce(known: jobs.Jobs, projects: Projects, links: Links) -> None:
    """Send each project a `job` event when one of its jobs changes, without its result."""

    def told(project: str, job: jobs.RunningJob) -> None:
        def tell() -> dict[str, Any] | None:
            newest = known.find(project, job.id)
            if newest is None:
                return None
            return shown(known, project, replace(newest, result=None), links).model_dump(mode="json")

        projects.library(project).feed.say("job", job.id, tell)

    known.listen(told)


def _of(request: Request) -> jobs.Jobs:
    found: jobs.Jobs = request.app.state.jobs
    return found


def _found(request: Request, access: Access, id: str) -> jobs.RunningJob:
    job = _of(request).find(access.project, id)
    if job is None:
        raise HTTPException(404, f"there is no job {id}")
    return job
