"""Send requests to a Reenact server over HTTP. Its errors are raised as local ones."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from reenact import errors
from reenact.errors import SessionError, UsageError

if TYPE_CHECKING:
    import httpx

KEY = "REENACT_API_KEY"
"""The environment variable with the default key."""

ERROR = "x-reenact-error"
"""The response header with the name of the error class."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class Server:
    """A server's address and key.

    Attributes:
        url: Its address, without a slash at its end.
        key: The API key; empty for a server that needs none.
    """

    url: str
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, url: str, key: str | None = None) -> Self:
        """Parse a server's address. Raises UsageError if it is invalid."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"server={url!r}: it is the address of a server, such as http://127.0.0.1:8090")
        return cls(url.rstrip("/").removesuffix("/api/v1"), os.environ.get(KEY, "") if key is None else key)

    @property
    def headers(self) -> dict[str, str]:
        """The authorization header."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def near(self) -> bool:
        """True if the server is on this machine: then no proxy is used."""
        return urlsplit(self.url).hostname in _LOOPBACK


class ServerConnection:
    """Sends requests to a server, on one event loop.

    Args:
        server: The server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._http: httpx.AsyncClient | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request, as JSON.

        Args:
            method: `GET`, `POST` or `DELETE`.
            path: Below `/api/v1/`.
            body: Sent as JSON, unless it is None.

        Raises:
            SessionError: The server cannot be reached, refuses, or reports that the session has ended.
            UsageError: The server reports an invalid request.
        """
        import httpx  # noqa: PLC0415 - sessions of this machine need none

        if self._http is None:
            # An action may take as long as its own timeout, and a model takes any time.
            patience = httpx.Timeout(600, connect=10)
            self._http = httpx.AsyncClient(
                headers=self._server.headers, timeout=patience, trust_env=not self._server.near
            )
        url = f"{self._server.url}/api/v1/{path}"
        try:
            answer = await self._http.request(method, url, json=body)
        except httpx.HTTPError as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise SessionError(f"the server {self._server.url} does not answer: {said}") from None
        if answer.status_code != httpx.codes.OK:
            raise _raised(self._server, answer)
        return answer.json()

    async def close(self) -> None:
        """Close the connections. Later requests open new ones."""
        if self._http is not None:
            http, self._http = self._http, None
            await http.aclose()


def _raised(server: Server, answer: httpx.Response) -> Exception:
    """Return the error that an answer stands for."""
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = f"status {answer.status_code}"
    said = detail if isinstance(detail, str) else str(detail)
    if answer.headers.get(ERROR) == UsageError.__name__:
        return UsageError(said)
    kind = getattr(errors, answer.headers.get(ERROR, ""), None)
    if isinstance(kind, type) and issubclass(kind, errors.RecordingError):
        return kind(said)
    known = ERROR in answer.headers
    return SessionError(said if known else f"the server {server.url} refuses: {said}")
