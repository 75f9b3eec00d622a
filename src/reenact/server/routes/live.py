"""Server-sent events of a project's recordings and jobs, and of one recording's steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from reenact.analysis.views.base import fields
from reenact.analysis.views.steps import RowsView
from reenact.core.wakers import waker
from reenact.errors import ReenactError
from reenact.server.access import Reader
from reenact.server.cache import Loaded
from reenact.server.feed import Feed
from reenact.server.library import ProjectLibrary
from reenact.server.routes.common import MISSING, REFUSED, Id

router = APIRouter(tags=["live"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "Server-sent events.",
    }
}
_PACE = 0.2
_PING = 15
_MOST = 500
_AGAIN = 50

_State = tuple[bool, int, bool]

LastId = Annotated[str, Header(alias="Last-Event-ID", max_length=100)]


@router.get("/live", response_class=EventSourceResponse, responses=REFUSED | _STREAM)
async def live(access: Reader, last: LastId = "") -> EventSourceResponse:
    """Stream `hello` {version}, then `recording` (a new or changed line), `gone` {id} and `job`.

    A request with `Last-Event-ID` gets the missed events, or `reset` {} if they are lost: read the list again.
    """
    await run_in_threadpool(access.library.start)
    return EventSourceResponse(_news(access.library, last), ping=_PING)


@router.get("/recordings/{id}/live", response_class=EventSourceResponse, responses=MISSING | _STREAM)
async def recording_live(
    access: Reader,
    id: Id,
    after: Annotated[
        int, Query(ge=0, le=1 << 31, description="The last step that the client already has.")
    ] = 0,
) -> EventSourceResponse:
    """Stream `rows` {items, total}: new or changed steps, from `after` on.

    `anew` {} means that step numbers have changed: read them again. `sealed` {status} is the end of the run; `gone`
    its deletion.
    """
    library = access.library
    await run_in_threadpool(library.folder, id)
    return EventSourceResponse(_rows(library, id, after), ping=_PING)


async def _news(library: ProjectLibrary, last: str) -> AsyncIterator[ServerSentEvent]:
    feed, woken = library.feed, asyncio.Event()
    end = feed.listen(waker(woken))
    try:
        known = feed.number_of(last) if last else feed.number
        if known is None or feed.since(known) is None:
            known = feed.number
            yield _event("reset", {}, feed, known)
        yield _event("hello", {"version": library.version}, feed, known)
        while True:
            woken.clear()
            news = feed.since(known)
            if news is None:
                known = feed.number
                yield _event("reset", {}, feed, known)
                continue
            for one in news:
                data = await run_in_threadpool(one.tell)
                known = one.number
                if data is not None:
                    yield _event(one.kind, data, feed, known)
            await woken.wait()
            # Collect events that come together.
            await asyncio.sleep(_PACE)
    finally:
        end()


def _event(kind: str, data: Any, feed: Feed, number: int) -> ServerSentEvent:
    return ServerSentEvent(data=_json(data), event=kind, id=f"{feed.epoch}-{number}")


def _json(data: Any) -> str:
    return orjson.dumps(data, default=fields).decode()


async def _rows(library: ProjectLibrary, id: str, after: int) -> AsyncIterator[ServerSentEvent]:
    listener = _Listener(after)
    while True:
        try:
            rules = await run_in_threadpool(library.rules, id)
            listener, told = await library.read(id, _look, id, listener, rules)
        except (ReenactError, OSError) as error:
            yield ServerSentEvent(data=orjson.dumps({"detail": str(error)}).decode(), event="gone")
            return
        for kind, data in told:
            yield ServerSentEvent(data=_json(data), event=kind)
        if listener.sealed:
            return
        await asyncio.sleep(_PACE)


def _look(
    library: ProjectLibrary, id: str, listener: _Listener, rules: Mapping[int, tuple[str, ...]] | None
) -> tuple[_Listener, list[tuple[str, Any]]]:
    """Return a listener's next state, and the events since its last state."""
    with library.opened(id) as loaded:
        return listener, listener.look(loaded, rules)


class _Listener:
    """The state of one listener of a recording: the steps sent so far. It can be pickled."""

    def __init__(self, after: int) -> None:
        # Earlier steps may have been unfinished when they were read, so send them again.
        self._told = max(after - _AGAIN, 0)
        self._open: dict[int, _State] = {}
        self._last: tuple[str, int] | None = None
        self._state = -1
        self._behind = True
        self.sealed = False

    def look(self, loaded: Loaded, rules: Mapping[int, tuple[str, ...]] | None) -> list[tuple[str, Any]]:
        """Return the events since the last call."""
        if self._state == loaded.state and not self._behind:
            return []
        self._state = loaded.state
        steps, found = loaded.facts.steps, list[tuple[str, Any]]()
        if self._last is not None and self._last != _name(loaded, self._told):
            found.append(("anew", {}))
            self._told, self._open = len(steps), {}
        numbers = self._numbers(loaded)
        if numbers:
            items = [loaded.row(number, rules) for number in numbers]
            found.append(("rows", RowsView(items=tuple(items), total=len(steps))))
        if loaded.following.sealed() and not self._behind:
            self.sealed = True
            found.append(("sealed", {"status": loaded.recording.status}))
        return found

    def _numbers(self, loaded: Loaded) -> list[int]:
        """Return the steps to send: unfinished ones that have changed, and new ones."""
        last = len(loaded.facts.steps)
        changed = [number for number, state in self._open.items() if state != _state(loaded, number)]
        until = min(last, self._told + _MOST)
        numbers = [*changed, *range(self._told + 1, until + 1)]
        for number in numbers:
            self._open[number] = _state(loaded, number)
            if not loaded.facts.steps[number - 1].call.pending:
                del self._open[number]
        self._told = max(self._told, until)
        self._behind = until < last
        self._last = _name(loaded, self._told)
        return numbers


def _state(loaded: Loaded, number: int) -> _State:
    call = loaded.facts.steps[number - 1].call
    return call.outcome is not None, len(call.pieces), call.pending


def _name(loaded: Loaded, number: int) -> tuple[str, int] | None:
    """Return the process and the call number of a step, which do not change with its number."""
    if not 0 < number <= len(loaded.facts.steps):
        return None
    step = loaded.facts.steps[number - 1].step
    return step.log.process, step.call.number
