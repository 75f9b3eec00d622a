"""Routes of browser sessions that the server hosts: open, read, act, stop."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from reenact.browser.effects import operations
from reenact.browser.script.script import Workflow, WorkflowCode
from reenact.browser.video import render
from reenact.errors import SessionError, UsageError
from reenact.server.access import Access, Reader, Writer
from reenact.server.guard import PROTOCOL
from reenact.server.links import Lender
from reenact.server.refusals import refusals
from reenact.server.wire import requests, responses
from reenact.server.wire.actions import executed, files_of, scraped
from reenact.server.wire.hosted import Hosted, Hosting, UnknownSessionError
from reenact.server.wire.past import recalled
from reenact.server.wire.responses import Json
from reenact.server.wire.routing import BUSY, Asked, Foreign, Hosts, SessionId, WireRoute

GOOD_FOR = 3600.0
"""Seconds for which a video's address is valid."""


router = APIRouter(
    prefix="/sessions",
    tags=["sessions"],
    route_class=WireRoute,
    responses=refusals(400, 401, 403, 404, 409),
)


class Offset(BaseModel):
    """The number of actions of a session."""

    offset: int


class Steps(BaseModel):
    """The results of a session's actions, as recorded."""

    steps: list[dict[str, Json]]


class Logs(BaseModel):
    """The network requests and answers of a session's pages."""

    logs: list[dict[str, Json]]


class Cookies(BaseModel):
    """A browser's cookies, in Playwright's form."""

    cookies: list[dict[str, Json]]


class Done(BaseModel):
    """The confirmation of a change."""

    success: bool
    message: str


class Sockets(BaseModel):
    """Addresses of WebSockets; empty if there is none."""

    cdp: str
    recording: str = ""
    logs: str = ""


class TabResponse(BaseModel):
    """An open tab."""

    metadata: dict[str, Json]
    debug_url: str
    ws_url: str


class Debug(BaseModel):
    """The addresses of a session for people, and for programs on the server's machine."""

    debug_url: str
    ws: Sockets
    tabs: list[TabResponse]


class VideoAddresses(BaseModel):
    """A session's video: signed addresses that need no key, until they expire."""

    mp4_url: str
    vtt_url: str
    expires_at: str
    playlist_content: str
    video_start_ms: int
    video_duration_ms: int


class Picture(BaseModel):
    """A picture of the page, in base64."""

    screenshot: str
    mime_type: str


class Secret(BaseModel):
    """True if the text is kept out of the recording."""

    secret: bool


# -- start and stop ------------------------------------------------------------------------------------------------


@router.post("/start", responses=BUSY)
def start(
    request: Request, access: Writer, hosts: Hosts, foreign: Foreign, body: Asked
) -> responses.SessionResponse:
    """Open a session. It is recorded in the project of the key."""
    alone = request.app.state.settings.keyless
    options = requests.options_of(body, foreign=foreign, alone=alone)
    hosted = hosts.start(access.project, access.library.store.root, options)
    return responses.session(hosted, _viewer(request, hosted))


@router.get("", include_in_schema=False)
@router.get("/")
def sessions(
    request: Request,
    access: Reader,
    hosts: Hosts,
    *,
    only_active: bool = True,
    page: Annotated[int, Query(ge=1)] = 1,
    page_size: Annotated[int, Query(ge=1, le=200)] = 10,
) -> list[responses.SessionResponse]:
    """Return the project's sessions of this server's run, the newest first."""
    found = [one for one in hosts.of(access.project) if not only_active or one.closed is None]
    return [
        responses.session(one, _viewer(request, one))
        for one in found[(page - 1) * page_size : page * page_size]
    ]


@router.get("/{id}", response_model=responses.SessionResponse)
def session(
    request: Request, access: Reader, hosts: Hosts, id: SessionId
) -> responses.SessionResponse | RedirectResponse:
    """Return a session's status; a past one is closed.

    A browser is redirected to the console's page of it.
    """
    hosted = _find(access, hosts, id)
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(_viewer(request, hosted), 303)
    return responses.session(hosted, _viewer(request, hosted))


@router.delete("/{id}/stop")
def stop(
    request: Request,
    access: Writer,
    hosts: Hosts,
    id: SessionId,
    close_reason: Literal["manual", "error"] = "manual",
) -> responses.SessionResponse:
    """End a session and its recording. An ended session does not change."""
    hosted = _find(access, hosts, id)
    hosts.stop(hosted, cause=close_reason)
    return responses.session(hosted, _viewer(request, hosted))


# -- actions so far ------------------------------------------------------------------------------------------------


@router.get("/{id}/offset")
def offset(access: Reader, hosts: Hosts, id: SessionId) -> Offset:
    """Return the number of its actions so far."""
    return Offset(offset=_find(access, hosts, id).session.offset())


@router.get("/{id}/steps")
def steps_of(access: Reader, hosts: Hosts, id: SessionId, offset: Annotated[int, Query(ge=0)] = 0) -> Steps:
    """Return the results of its actions, from a number on."""
    return Steps(steps=[dict(one) for one in _find(access, hosts, id).session.outcomes[offset:]])


@router.get("/{id}/network/logs")
def network(
    access: Reader,
    hosts: Hosts,
    id: SessionId,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> Logs:
    """Return its network requests and answers: recorded lines, without secrets."""
    footage = _find(access, hosts, id).session.core.recording.footage(id)
    found = []
    for number, entry in enumerate(footage.entries("request", "response", "failed")):
        if offset <= number < offset + limit:
            found.append(dict(entry.data))
    return Logs(logs=found)


@router.get("/{id}/workflow/code")
def code(access: Reader, hosts: Hosts, id: SessionId) -> WorkflowCode:
    """Return its actions, as a script and as data."""
    return Workflow(_find(access, hosts, id).session).code()


@router.get("/{id}/replay")
def replay(
    request: Request,
    access: Reader,
    hosts: Hosts,
    links: Lender,
    *,
    id: SessionId,
    pace: Literal["real", "compact"] = "real",
) -> VideoAddresses:
    """Return a running or ended session as a video, with secrets covered."""
    video = render(_find(access, hosts, id).session.core.recording.footage(id), pace=pace)
    base = str(request.base_url).rstrip("/")
    address, expires = links.lend(f"session-{id}{video.path.suffix}", video.path, GOOD_FOR)
    captions, _ = links.lend(f"session-{id}.vtt", video.captions, GOOD_FOR)
    url = address if "://" in address else base + address
    return VideoAddresses(
        mp4_url=url,
        vtt_url=captions if "://" in captions else base + captions,
        expires_at=expires.isoformat(),
        playlist_content=f"#EXTM3U\n#EXTINF:{video.duration_ms / 1000:.3f},Browser session {id}\n{url}\n",
        video_start_ms=video.start_ms,
        video_duration_ms=video.duration_ms,
    )


# -- its browser ---------------------------------------------------------------------------------------------------


@router.get("/{id}/debug")
def debug(request: Request, access: Writer, hosts: Hosts, id: SessionId) -> Debug:
    """Return the console's page of the session, and with `cdp` the WebSocket for other programs.

    The WebSocket's address contains the session's own key.
    """
    hosted = hosts.find(access.project, id)
    driver = hosted.live().core.driver
    live = driver.live
    cdp = None
    if live is not None and driver.call(live.address).block() is not None:
        at = str(request.base_url).rstrip("/").replace("http", "ws", 1)
        cdp = f"{at}{PROTOCOL}/{id}/{hosted.key}"
    viewer = _viewer(request, hosted)
    tabs = [
        TabResponse(metadata={"tab_id": number, "title": "", "url": url}, debug_url=viewer, ws_url=cdp or "")
        for number, url in sorted(driver.tabs.items())
    ]
    return Debug(debug_url=viewer, ws=Sockets(cdp=cdp or ""), tabs=tabs)


@router.get("/{id}/cookies")
def cookies(request: Request, access: Writer, hosts: Hosts, id: SessionId) -> Cookies:
    """Return the browser's cookies."""
    found = hosts.find(access.project, id).live().get_cookies()
    own = _own(request)
    return Cookies(cookies=[dict(one) for one in found if not own(_host_of(one))])


@router.post("/{id}/cookies")
def add_cookies(request: Request, access: Writer, hosts: Hosts, id: SessionId, body: Cookies) -> Done:
    """Add cookies to the browser."""
    live, own = hosts.find(access.project, id).live(), _own(request)
    for one in body.cookies:
        if own(_host_of(one)):
            raise UsageError("cookies of the server itself cannot be set in its browsers")
    live.set_cookies(body.cookies)
    return Done(success=True, message=f"{len(body.cookies)} cookies were set")


@router.post("/{id}/page/execute")
def execute(access: Writer, hosts: Hosts, id: SessionId, body: Asked) -> responses.ExecutionResponse:
    """Do one action. A failure on the page is an answer with `success` false."""
    return executed(hosts.find(access.project, id), body)


@router.post("/{id}/page/observe")
def observe(
    access: Writer, hosts: Hosts, id: SessionId, body: Asked | None = None
) -> responses.ObservationResponse:
    """Return the content of the page and its possible actions."""
    live = hosts.find(access.project, id).live()
    began = datetime.now(UTC)
    if (url := (body or {}).get("url")) is not None:
        requests.check_address(str(url))
    seen = live.observe(url=url)
    return responses.observation(seen, live.core.driver.front, began, datetime.now(UTC))


@router.post("/{id}/page/scrape")
def scrape(access: Writer, hosts: Hosts, id: SessionId, body: Asked) -> responses.DataResponse:
    """Read the page as Markdown, pictures, or data from a model."""
    return scraped(hosts.find(access.project, id), body)


@router.post("/{id}/page/screenshot")
def screenshot(access: Writer, hosts: Hosts, id: SessionId) -> Picture:
    """Return a picture of the page, with secrets covered."""
    picture = hosts.find(access.project, id).live().page.screenshot()
    return Picture(screenshot=base64.b64encode(picture).decode(), mime_type="image/png")


@router.post("/{id}/page/secret")
def secret(access: Writer, hosts: Hosts, id: SessionId, body: Asked) -> Secret:
    """Check if the field of an action is secret, without doing the action."""
    hosted = hosts.find(access.project, id)
    action, driver = requests.action_of(body, files_of(hosted)), hosted.live().core.driver
    live = driver.live
    if live is None:
        raise SessionError("the session's browser is gone")
    return Secret(secret=driver.call(lambda: operations.secret_of(live, action)).block())


# -- within --------------------------------------------------------------------------------------------------------


def _find(access: Access, hosts: Hosting, id: str) -> Hosted:
    """Return a session that is open, has ended, or is in a recording of the project."""
    try:
        return hosts.find(access.project, id)
    except UnknownSessionError:
        return recalled(access.project, access.library.store.root, id)


def _own(request: Request) -> Callable[[str], bool]:
    """Return a function that recognises names of this server."""
    settings = request.app.state.settings
    names = set() if settings.keyless else {*settings.hosts, request.url.hostname or ""}
    return lambda host: bool(host) and host in {name.lower() for name in names}


def _host_of(cookie: Mapping[str, Json]) -> str:
    """Return the host of a cookie in lower case; empty if it names none."""
    try:
        named = cookie.get("domain") or urlsplit(str(cookie.get("url") or "")).hostname or ""
    except ValueError:
        return ""
    return str(named).lower().strip("[].")


def _viewer(request: Request, hosted: Hosted) -> str:
    """Return the console's page of the session, or of its recording if that is its own."""
    recording, _, number = hosted.id.partition(".")
    page = f"{str(request.base_url).rstrip('/')}/r/{recording}"
    return f"{page}/session/{number}" if number else page
