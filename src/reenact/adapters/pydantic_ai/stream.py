"""Streamed answers: the live stream, recorded event by event, and the stream of a replay."""

from __future__ import annotations

import copy
from asyncio import CancelledError
from collections import deque
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any

from pydantic_ai.messages import (
    FinalResultEvent,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.usage import RequestUsage

from reenact.core.boundary import Call, entered

_DERIVED = {"model_name", "provider_name", "provider_url", "timestamp", "usage"}


class Tee:
    """The events of a live stream, each recorded before the program sees it.

    A class rather than a generator: after a cancelled wait the program can read on, and it can be closed from another
    task.
    """

    def __init__(self, call: Call, stream: StreamedResponse) -> None:
        self._call = call
        self._stream = stream
        self._source = aiter(stream)
        self._held: ModelResponseStreamEvent | None = None
        self._ready: deque[ModelResponseStreamEvent] = deque()
        self._asked = False
        """True if the program waits for an event, or gave up while it did."""
        self._over = False

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        return self

    async def __anext__(self) -> ModelResponseStreamEvent:
        self._asked = True
        if not self._ready:
            if self._held is None:
                self._held = await self._draw()
            await self._call.achunk((self._stream, self._held), self._deliver)
        self._asked = False
        return self._ready.popleft()

    async def aclose(self) -> None:
        """Note that the program stops reading."""
        self.close()
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()

    def close(self) -> None:
        """Report that the program stops reading. Harmless after the end."""
        self._call.close(cancelled=self._asked)

    def _deliver(self) -> None:
        assert self._held is not None
        self._ready.append(self._held)
        self._held = None

    async def _draw(self) -> ModelResponseStreamEvent:
        try:
            with entered(self._call.inner):
                return await anext(self._source)
        except StopAsyncIteration:
            if not self._over:
                await self._call.achunk(self._stream.get(), self._end)
            raise
        except CancelledError:
            self.close()
            raise
        except Exception as error:
            await self._call.aover(error)
            raise

    def _end(self) -> None:
        self._over = True
        self._call.over_at_once()


class ReplayedStream(StreamedResponse):
    """A recorded stream: the same events, each with its usage, finish reason and details."""

    def __init__(self, call: Call, head: Mapping[str, Any], parameters: ModelRequestParameters) -> None:
        super().__init__(parameters)
        self._call = call
        self._head: dict[str, Any] = {}
        self._whole: ModelResponse | None = None
        self._applied = 0
        self._say(head)

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        if self._event_iterator is None:
            self._event_iterator = _Events(self)
        return self._event_iterator

    async def draw(self) -> ModelResponseStreamEvent | None:
        """Return the next recorded event, or None at the recorded end."""
        got: list[Any] = []
        while await self._call.recorded.apiece(got.append):
            chunk = got.pop()
            self._say(chunk.get("news") or {})
            if (event := chunk.get("event")) is not None:
                self._apply(event, self._call.recorded.served)
                return event  # type: ignore[no-any-return]
            self._whole = chunk["response"]
        self._finished = not self._cancelled
        return None

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        # The base class would derive events of its own from these, which are recorded as derived.
        for event in tuple[ModelResponseStreamEvent]():
            yield event

    async def close_stream(self) -> None:
        """Do nothing: there is no connection to close."""

    def get(self) -> ModelResponse:
        """Return the response so far; after its end, exactly the recorded one."""
        if self._whole is None:
            return super().get()
        # A new object each time, as in the base class: the framework writes into it.
        response = copy.copy(self._whole)
        response.parts = list(response.parts)
        return response

    def _apply(self, event: ModelResponseStreamEvent, count: int) -> None:
        """Apply an event, the `count`-th chunk, to the parts so far."""
        if count > self._applied:
            self._applied = count
            _follow(self._parts_manager, event)
        if isinstance(event, FinalResultEvent):
            self.final_result_event = event
        elif isinstance(event, PartEndEvent) and event.next_part_kind is not None:
            # The end of a part is reported when the next one begins: live, that one is among the parts already.
            pieces = self._call.answer.pieces if self._call.answer is not None else ()
            following = (
                self._call.wire.load(pieces[count].value).get("event") if count < len(pieces) else None
            )
            if isinstance(following, PartStartEvent):
                self._applied = count + 1
                _follow(self._parts_manager, following)

    def _say(self, news: Mapping[str, Any]) -> None:
        for name, item in news.items():
            if name == "usage":
                self._usage = item
            elif name in _DERIVED:
                self._head[name] = item
            else:
                setattr(self, name, item)

    @property
    def model_name(self) -> str:
        """As recorded."""
        return self._head.get("model_name", "")  # type: ignore[no-any-return]

    @property
    def provider_name(self) -> str | None:
        """As recorded."""
        return self._head.get("provider_name")

    @property
    def provider_url(self) -> str | None:
        """As recorded."""
        return self._head.get("provider_url")

    @property
    def timestamp(self) -> datetime:
        """As recorded."""
        return self._head["timestamp"]  # type: ignore[no-any-return]

    @property
    def usage(self) -> RequestUsage:
        """As recorded at this point of the stream."""
        return self._usage


def _follow(manager: Any, event: ModelResponseStreamEvent) -> None:
    """Apply an event to the parts so far."""
    if hasattr(manager, "apply_event"):
        manager.apply_event(event)
    # Versions before 2.62 have no method for it.
    elif isinstance(event, PartStartEvent):
        manager.handle_part(vendor_part_id=event.index, part=copy.copy(event.part))
    elif isinstance(event, PartDeltaEvent):
        part = manager._parts[manager._vendor_id_to_part_index[event.index]]
        manager.handle_part(vendor_part_id=event.index, part=event.delta.apply(part))


class _Events:
    """Iterates a replayed stream. A cancelled reader can read on."""

    def __init__(self, stream: ReplayedStream) -> None:
        self._stream = stream
        self._over = False

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        return self

    async def __anext__(self) -> ModelResponseStreamEvent:
        event = None if self._over else await self._stream.draw()
        if event is None:
            self._over = True
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""
