"""The client of a server, for a shipper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar

import httpx
import orjson

from reenact.errors import ReenactError
from reenact.team.ship.destination import KEY, Destination
from reenact.team.ship.upload_format import API, TYPE, Piece, PieceTaken, packed

T = TypeVar("T")

_MANY = 500
_STRANGE = "this is not a Reenact server, or another version of it"


class Away(ReenactError):
    """The server does not answer or cannot accept uploads now; try again.

    Args:
        why: The reason, in one line.
        after: Seconds after which the server wants to be asked again; 0 if it named none.
    """

    def __init__(self, why: str, after: float = 0.0) -> None:
        super().__init__(why)
        self.after = after


class Refused(ReenactError):
    """The server refuses all requests of this client until a person removes the cause."""


class Sender:
    """A connection to a server.

    Args:
        to: The server, and the key.
    """

    def __init__(self, to: Destination) -> None:
        self._to = to
        self._client = httpx.Client(
            base_url=to.server + API,
            headers={**to.headers, "User-Agent": "reenact-ship"},
            timeout=httpx.Timeout(30, connect=5),
        )

    def lengths(self, ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return the lengths of these recordings' files on the server. Raises Away, Refused."""
        found: dict[str, dict[str, int]] = {}
        for at in range(0, len(ids), _MANY):
            body = orjson.dumps({"recordings": list(ids[at : at + _MANY])})
            answer = self._ask("POST", "/uploads/lengths", body, "application/json")
            found |= _read(answer, self._to, lambda told: dict(told["recordings"]))
        return found

    def send(self, pieces: Sequence[Piece], live: Iterable[str] = ()) -> list[PieceTaken]:
        """Send pieces; return the server's answer to each. Raises Away, Refused."""
        answer = self._ask("POST", "/uploads", packed(pieces, list(live)), TYPE)
        taken = _read(answer, self._to, lambda told: [PieceTaken(**one) for one in told["pieces"]])
        if len(taken) != len(pieces):
            raise Refused(f"{self._to.server}: {_STRANGE}")
        return taken

    def greet(self) -> str:
        """Return the project of the key. Raises Away, Refused."""
        return _read(self._ask("GET", "/me"), self._to, lambda told: str(told["project"]))

    def close(self) -> None:
        """End the connection."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> httpx.Response:
        try:
            headers = {"Content-Type": kind} if kind else {}
            answer = self._client.request(method, path, content=body or None, headers=headers)
        except httpx.InvalidURL as error:
            raise Refused(f"{self._to.server} is no address: {error}") from None
        except httpx.HTTPError as error:
            why = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
            raise Away(f"{self._to.server} does not answer ({why})") from None
        status = answer.status_code
        if status == 200:
            return answer
        said = _detail(answer)
        if status in {408, 425, 429} or status >= 500:
            why = f"{self._to.server} cannot accept uploads now: {said} (HTTP {status})"
            raise Away(why, _after(answer))
        if status == 401:
            what = "does not know the key in" if self._to.key else "wants a key; set"
            raise Refused(f"{self._to.server} {what} {KEY}")
        if status == 403:
            raise Refused(f"{self._to.server} does not allow writing with the key in {KEY} ({said})")
        if status in {404, 405} or answer.is_redirect:
            raise Refused(f"{self._to.server}: {_STRANGE} (HTTP {status})")
        raise Refused(f"{self._to.server} refuses the upload: {said} (HTTP {status})")


def _read(answer: httpx.Response, to: Destination, take: Callable[[Any], T]) -> T:
    try:
        return take(orjson.loads(answer.content))
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{to.server}: {_STRANGE}") from None


def _after(answer: httpx.Response) -> float:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _detail(answer: httpx.Response) -> str:
    try:
        return str(orjson.loads(answer.content)["detail"])[:200]
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
