"""Check each request before its route: its host, origin, body size and key.

Recordings contain data that agents received, and any page that is open in a browser can send requests to a server on
the same machine. So, before a route runs:

- `Host` must contain an address or a name of this server. A foreign page whose own name resolves to 127.0.0.1 (DNS
  rebinding) sends that name.
- The request of a page must come from a page of this server. Links from other pages are allowed.
- A body must not be longer than its route needs.

The guard is an ASGI application around the server's, and passes streams on as they come.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reenact.core.web_address import is_address
from reenact.errors import UsageError
from reenact.server.access import Access
from reenact.server.keys import DEFAULT, Keys
from reenact.server.login import COOKIE, Logins
from reenact.server.projects import Projects
from reenact.server.rates import Rates
from reenact.server.settings import Settings
from reenact.server.traces.receiver import MOST
from reenact.team.ship import upload_format

PROTOCOL = "/protocol"
"""The prefix of WebSocket addresses of hosted browsers, before session id and key."""

BODY = 1_000_000
"""Most bytes of a request's body."""

UPLOADS = (
    ("PUT", re.compile(r"/api/v1/recordings/[^/]+/(files|blobs)/[^/]+"), 256_000_000),
    ("POST", re.compile(r"/api/v1/recordings/import"), 4_000_000_000),
    ("POST", re.compile(r"/api/v1/uploads"), upload_format.BODY),
    # One byte more, so that the route itself refuses longer bodies, with an error in OTLP's form.
    ("POST", re.compile(r"/v1/(traces|logs)"), MOST + 1),
    # A form with a file of 100 MB.
    ("POST", re.compile(r"(/api/v1)?/sessions/[^/]+/files"), 101_000_000),
)
"""Routes with larger bodies, which are written to disk as they come: method, path, bytes."""

PAGES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The content security policy of the console's pages: only their own scripts and styles."""

DATA = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""The content security policy of all other answers, which allows nothing."""

_DATA = ("/api/", "/files/")
_UNCOUNTED = ("/health", "/api/v1/health")
_SAFE = ("GET", "HEAD", "OPTIONS")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


@dataclass(frozen=True, slots=True)
class _Refusal(Exception):
    """A request's refusal: status, reason, and when to try again."""

    status: int
    why: str
    after: int = 0
    """Seconds after which to try again; 0 if that does not help."""


class _TooLong(Exception):
    """A body exceeds its limit."""


class Guard:
    """The ASGI application around the server's.

    Args:
        app: The application to guard.
        settings: The server's names, and if it requires keys.
        keys: The keys.
        logins: The cookies of browsers.
        projects: The projects of keys.
        elsewhere: The origin of videos in an object store; empty if this server sends them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        keys: Keys,
        logins: Logins,
        projects: Projects,
        elsewhere: str = "",
    ) -> None:
        self._app = app
        # The address of a video redirects to the store, and the policy must allow both.
        self._pages = PAGES.replace("media-src", f"media-src {elsewhere}") if elsewhere else PAGES
        self._settings = settings
        self._names = {name.lower() for name in settings.hosts}
        self._keys = keys
        self._logins = logins
        self._projects = projects
        self._rates = Rates(settings.rate) if settings.rate else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, and pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._socket(scope, receive, send)
            return
        told = _headed(send, self._pages if _is_page(scope["path"]) else DATA)
        try:
            limit = self._check(scope)
            scope.setdefault("state", {})["access"] = self._access(scope)
        except _Refusal as refusal:
            again = {"Retry-After": str(refusal.after)} if refusal.after else None
            await JSONResponse({"detail": refusal.why}, refusal.status, again)(scope, receive, told)
            return
        except UsageError as error:
            await JSONResponse({"detail": str(error)}, 503)(scope, receive, told)
            return
        await _within(limit, self._app, scope, receive, told)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one WebSocket. Only programs use them, and programs send no origin.

        The session's key is in the path.
        """
        headers = Headers(scope=scope)
        try:
            self._addressed(headers)
            self._count(scope, "")
            allowed = "origin" not in headers and scope["path"].startswith(f"{PROTOCOL}/")
        except _Refusal:
            allowed = False
        if allowed:
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    # -- request ---------------------------------------------------------------------------------------------

    def _check(self, scope: Scope) -> int:
        """Check a request; return the limit of its body in bytes. Raises _Refusal."""
        headers = Headers(scope=scope)
        self._addressed(headers)
        _same_origin(scope["method"], headers)
        if self._settings.keyless and any(name in headers for name in _FORWARDED):
            raise _Refusal(
                403,
                "this server needs no keys and answers only this machine; behind a proxy use: serve --keys",
            )
        limit = _limit(scope["method"], scope["path"])
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise _Refusal(400, "Content-Length is not a number")
        if int(length) > limit:
            raise _Refusal(413, _too_long(limit))
        return limit

    def _addressed(self, headers: Headers) -> None:
        """Refuse a request to another host name.

        Literal addresses are accepted, because a foreign page cannot use them for DNS rebinding.
        """
        given = headers.getlist("host")
        name = _name(given[0]) if len(given) == 1 else ""
        if name not in self._names and not is_address(name):
            raise _Refusal(
                421,
                f"this server does not serve the host {name or '(none)'!r}; to allow it: --host-name {name or 'NAME'}",
            )

    # -- key -------------------------------------------------------------------------------------------------

    def _access(self, scope: Scope) -> Access | None:
        headers = Headers(scope=scope)
        scheme, _, text = headers.get("authorization", "").partition(" ")
        key = None
        if scheme.lower() == "bearer" and text.strip():
            # A server without keys accepts any key, because some clients require one.
            key = self._keys.find(text.strip())
        elif cookie := _cookie(headers):
            id = self._logins.id_of(cookie)
            key = self._keys.known(id) if id is not None else None
        self._count(scope, key.id if key is not None else "")
        if key is not None:
            return Access(key.project, key.role, self._projects.library(key.project))
        if self._settings.keyless:
            return Access(DEFAULT, "admin", self._projects.library(DEFAULT))
        return None

    def _count(self, scope: Scope, key: str) -> None:
        """Refuse a request if its key, or its address without a key, has sent too many."""
        if self._rates is None or scope["path"] in _UNCOUNTED:
            return
        wait = self._rates.wait(key or f"at {(scope.get('client') or ('',))[0]}")
        if wait:
            raise _Refusal(
                429, f"more than {self._settings.rate:g} requests a second: try again in {wait} s", wait
            )


# -- origin ------------------------------------------------------------------------------------------------------


def _same_origin(method: str, headers: Headers) -> None:
    """Refuse a request from a page of another origin.

    Programs other than browsers send neither header.
    """
    site = headers.get("sec-fetch-site")
    if site is None:
        # Browsers leave out Sec-Fetch-Site for pages without TLS of another machine, but send the origin.
        origin = headers.get("origin")
        fine = origin is None or origin.partition("://")[2] == headers.get("host")
    else:
        followed = method in _SAFE and headers.get("sec-fetch-mode") == "navigate"
        framed = headers.get("sec-fetch-dest") in ("iframe", "frame", "embed", "object")
        fine = site in ("same-origin", "none") or (followed and not framed)
    if not fine:
        raise _Refusal(403, "this was sent by a page of another origin")


def _name(host: str) -> str:
    """Return the name in a `Host` header, without port and without brackets around IPv6."""
    matched = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:\d{1,5})?", host)
    return matched[1].strip("[]").lower() if matched is not None else ""


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie("; ".join(headers.getlist("cookie"))).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


# -- length ------------------------------------------------------------------------------------------------------


def _limit(method: str, path: str) -> int:
    return next((most for verb, paths, most in UPLOADS if verb == method and paths.fullmatch(path)), BODY)


def _too_long(limit: int) -> str:
    return f"the body is too large: at most {limit} bytes"


async def _within(limit: int, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Pass a request on, and stop it if its body exceeds the limit.

    The body may be longer than declared.
    """
    came, over, begun = 0, False, False

    async def counted() -> Message:
        nonlocal came, over
        message = await receive()
        came += len(message.get("body", b""))
        if came > limit:
            over = True
            raise _TooLong
        return message

    async def sent(message: Message) -> None:
        nonlocal begun
        if over and not begun:
            # Drop the route's answer to the broken body: the refusal is sent below.
            return
        begun = True
        await send(message)

    try:
        await app(scope, counted, sent)
    except _TooLong:
        pass
    if over and not begun:
        response = JSONResponse({"detail": _too_long(limit)}, 413, headers={"Connection": "close"})
        await response(scope, receive, send)


# -- headers of answers ------------------------------------------------------------------------------------------


def _is_page(path: str) -> bool:
    return not path.startswith(_DATA)


def _headed(send: Send, policy: str) -> Send:
    """Add the headers of all answers, except those that a route has set."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", policy)
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("X-Frame-Options", "DENY")
            headers.setdefault("Referrer-Policy", "no-referrer")
            headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
            headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sent
