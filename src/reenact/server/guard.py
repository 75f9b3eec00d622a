"""Check each request before its route: its host, origin, body size and key.

Recordings hold data that agents received, and any page that is open in a browser may send requests to a server
on the same machine. So, before a route runs:

- A request must name, in `Host`, an address or a name of this server. A page elsewhere that makes its own name
  resolve to 127.0.0.1 (DNS rebinding) sends its own name.
- A request that a page sends must come from a page of this server. Links from anywhere may lead here.
- A body must not be longer than its route can need.

It is an ASGI application around the other one, and passes streams on as they come.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
"""The prefix of WebSocket addresses of hosted browsers; session id and key follow."""

BODY = 1_000_000
"""Bytes that a request may have."""

UPLOADS = (
    ("PUT", re.compile(r"/api/v1/recordings/[^/]+/(files|blobs)/[^/]+"), 256_000_000),
    ("POST", re.compile(r"/api/v1/recordings/import"), 4_000_000_000),
    ("POST", re.compile(r"/api/v1/uploads"), upload_format.BODY),
    # One byte more: what is too long is refused in the words of OTLP.
    ("POST", re.compile(r"/v1/(traces|logs)"), MOST + 1),
    # A form around a file of 100 MB.
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
"""The content security policy of all other answers: opened as a page, they can do nothing."""

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
    """Seconds after which to try again; 0 where that does not help."""


class _TooLong(Exception):
    """A body went on beyond its limit."""


class Guard:
    """The ASGI application around the server's own.

    Args:
        app: The application to guard.
        settings: The server's names, and its need of keys.
        keys: The keys.
        logins: The cookies of browsers.
        projects: The projects of keys.
        elsewhere: The origin of videos in an object store; empty where this server sends them.
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
        # A video at an address of ours leads on to the store's, and a policy is asked about both.
        self._pages = PAGES.replace("media-src", f"media-src {elsewhere}") if elsewhere else PAGES
        self._settings = settings
        self._names = {name.lower() for name in settings.hosts}
        self._keys = keys
        self._logins = logins
        self._projects = projects
        self._rates = Rates(settings.rate) if settings.rate else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
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
        """Check one WebSocket: only programs use them, which send no origin.

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

    # -- what is asked ---------------------------------------------------------------------------------------

    def _check(self, scope: Scope) -> int:
        """Return the limit of the body in bytes. Raises _Refusal for a request to refuse."""
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

        A literal address is accepted: a page elsewhere cannot make it mean this server.
        """
        given = headers.getlist("host")
        name = _name(given[0]) if len(given) == 1 else ""
        if name not in self._names and not _is_address(name):
            raise _Refusal(
                421,
                f"this server does not serve the host {name or '(none)'!r}; to allow it: --host-name {name or 'NAME'}",
            )

    # -- who asks --------------------------------------------------------------------------------------------

    def _access(self, scope: Scope) -> Access | None:
        headers = Headers(scope=scope)
        scheme, _, text = headers.get("authorization", "").partition(" ")
        key = None
        if scheme.lower() == "bearer" and text.strip():
            # Clients that want a key have one, if any: where none is asked for, it may be anything.
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
        """Refuse too many requests of a key, or of an address without a key."""
        if self._rates is None or scope["path"] in _UNCOUNTED:
            return
        wait = self._rates.wait(key or f"at {(scope.get('client') or ('',))[0]}")
        if wait:
            raise _Refusal(
                429, f"more than {self._settings.rate:g} requests a second: try again in {wait} s", wait
            )


# -- where it comes from -----------------------------------------------------------------------------------------


def _same_origin(method: str, headers: Headers) -> None:
    """Refuse a request that a page of another origin sent.

    Programs other than browsers send neither header.
    """
    site = headers.get("sec-fetch-site")
    if site is None:
        # Browsers leave it out where a page has come without TLS from another machine; then they say this.
        origin = headers.get("origin")
        fine = origin is None or origin.partition("://")[2] == headers.get("host")
    else:
        followed = method in _SAFE and headers.get("sec-fetch-mode") == "navigate"
        framed = headers.get("sec-fetch-dest") in ("iframe", "frame", "embed", "object")
        fine = site in ("same-origin", "none") or (followed and not framed)
    if not fine:
        raise _Refusal(403, "this was sent by a page of another origin")


def _name(host: str) -> str:
    """The name in a `Host` header, without its port, an IPv6 address without its brackets."""
    matched = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:\d{1,5})?", host)
    return matched[1].strip("[]").lower() if matched is not None else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie("; ".join(headers.getlist("cookie"))).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


# -- how long it is ----------------------------------------------------------------------------------------------


def _limit(method: str, path: str) -> int:
    return next((most for verb, paths, most in UPLOADS if verb == method and paths.fullmatch(path)), BODY)


def _too_long(limit: int) -> str:
    return f"the body is too large: at most {limit} bytes"


async def _within(limit: int, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Pass a request on, and stop it when its body exceeds the limit.

    This covers bodies that are longer than declared.
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


# -- what is said with every answer ------------------------------------------------------------------------------


def _is_page(path: str) -> bool:
    return not path.startswith(_DATA)


def _headed(send: Send, policy: str) -> Send:
    """Add the headers of every answer; a header that a route has set stays."""

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
