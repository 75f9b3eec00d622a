"""Serve pages from a recording: answer requests without the network.

The k-th request for an address gets the k-th recorded answer, later requests the last one. A body that was not
recorded (a picture, a very large file) is requested live; only GET requests are ever sent.
"""

from __future__ import annotations

import html
import json
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag, urljoin

from playwright.async_api import BrowserContext, Error, Route

from reenact.browser.camera.footage import Footage
from reenact.errors import RecordingError

_DROPPED = {"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"}


@dataclass(frozen=True)
class RecordedResponse:
    """One recorded answer; `body` is None if it was not kept."""

    status: int
    headers: dict[str, str]
    body: bytes | None


class RecordedPages:
    """The answers of a recorded session, to be served again.

    Attributes:
        given: Requests answered from the recording; `live` those sent to the network, `refused` those aborted.
    """

    def __init__(self, footage: Footage) -> None:
        self._answers = _answers(footage)
        self._asked: dict[tuple[str, str], int] = defaultdict(int)
        self.given = self.live = self.refused = 0

    def __bool__(self) -> bool:
        return bool(self._answers)

    def again(self) -> None:
        """Start again with the first answer of each address."""
        self._asked.clear()

    async def attach(self, context: BrowserContext) -> None:
        """Answer all requests of this browser context."""
        await context.route("**/*", self._route)

    async def detach(self, context: BrowserContext) -> None:
        """Stop answering."""
        await context.unroute("**/*", self._route)

    async def _route(self, route: Route) -> None:
        request = route.request
        answer = self._next(request.method, request.url)
        with suppress(Error):  # the page may be left meanwhile
            if answer is not None and answer.body is None and 300 <= answer.status < 400:
                await self._redirect(route, answer)
            elif answer is not None and (answer.body is not None or answer.status in {204, 205, 304}):
                self.given += 1
                await route.fulfill(status=answer.status, headers=answer.headers, body=answer.body or b"")
            elif request.method == "GET":
                self.live += 1
                await route.continue_()
            else:
                self.refused += 1
                await route.abort("blockedbyclient")

    async def _redirect(self, route: Route, answer: RecordedResponse) -> None:
        target = urljoin(route.request.url, answer.headers.get("location", ""))
        self.given += 1
        if route.request.resource_type == "document":
            # A real redirect would bypass this route handler, so the page navigates by a script.
            place = json.dumps(target).replace("<", "\\u003c")
            go = f"<script>location.replace({place})</script><a href='{html.escape(target)}'></a>"
            kept = {name: text for name, text in answer.headers.items() if name == "set-cookie"}
            await route.fulfill(status=200, headers={**kept, "content-type": "text/html"}, body=go)
            return
        final = self._next("GET", target)
        if final is None or final.body is None:
            await route.continue_()
        else:
            await route.fulfill(status=final.status, headers=final.headers, body=final.body)

    def _next(self, method: str, url: str) -> RecordedResponse | None:
        key = (method, urldefrag(url)[0])
        known = self._answers.get(key)
        if not known:
            return None
        number = self._asked[key]
        self._asked[key] += 1
        return known[min(number, len(known) - 1)]


def _answers(footage: Footage) -> dict[tuple[str, str], list[RecordedResponse]]:
    asked: dict[Any, tuple[str, str]] = {}
    found: dict[Any, RecordedResponse] = {}
    for entry in footage.entries("request", "response"):
        if entry.event == "request":
            asked[entry["id"]] = (entry["method"], urldefrag(entry["url"])[0])
        elif entry["status"]:
            headers = {name: text for name, text in (entry["headers"] or {}).items() if name not in _DROPPED}
            found[entry["id"]] = RecordedResponse(entry["status"], headers, _body(footage, entry["body"]))
    answers: dict[tuple[str, str], list[RecordedResponse]] = defaultdict(list)
    for number, key in asked.items():
        if number in found:
            answers[key].append(found[number])
    return dict(answers)


def _body(footage: Footage, address: str | None) -> bytes | None:
    if address is None:
        return None
    try:
        return footage.blob(address)
    except RecordingError:
        return None
