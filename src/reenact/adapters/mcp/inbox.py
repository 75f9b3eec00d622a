"""Messages that a server sends unasked: notifications, progress, and requests of its own.

They are one stream of the session, the effect `mcp:messages`. A replay delivers its chunks again, each in its recorded
turn:

    {"notification": "notifications/message", "params": {...}}
    {"progress": [0.5, 1.0, "half"], "of": "main/mcp:demo/tool:lookup#0"}
    {"request": "sampling/createMessage", "params": {...}, "id": 3}

The program's answer to a request is an effect of its own, named by the method, so that another answer in a replay is a
departure.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup

from reenact.adapters.mcp.server_request import KIND, MESSAGES
from reenact.core.boundary import Call, Scope, aperform, arrive, begin, entered, live_now
from reenact.core.dataclass import dataclass
from reenact.core.model.event import Effect

log = logging.getLogger(__name__)

_CANCELLED = "notifications/cancelled"
_PROGRESS = "notifications/progress"


Progressed = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True)
class McpVersion:
    """The differences between the versions of MCP's package.

    Attributes:
        given: Makes the context of a recorded message, from the request's id: it is not connected.
        refusal: Makes the error that answers a server's request, from its text.
        intercepted: Returns True if an interceptor has taken a notification: `(who, method, params)`.
    """

    given: Callable[[Any], Any]
    refusal: Callable[[str], Exception]
    intercepted: Callable[[Any, str, Mapping[str, Any] | None], bool]


class Inbox:
    """One session's messages from its server.

    Args:
        scope: Where the session was opened.
        on_request: Handles a request of the server's.
        on_notify: Handles a notification.
        intercept: Sees notifications first.
        library: The version of MCP's package.
    """

    def __init__(
        self, scope: Scope, on_request: Any, on_notify: Any, intercept: Any, *, library: McpVersion
    ) -> None:
        self.scope = scope
        self.library = library
        self.tasks: TaskGroup | None = None
        self._on_request = on_request
        self._on_notify = on_notify
        self._intercept = intercept
        self._call: Call | None = None
        self._waiting: dict[str, Progressed] = {}
        self._handling: dict[Any, anyio.CancelScope] = {}
        self._noted = False

    async def open(self, server: Scope) -> None:
        """Begin to record or replay messages, once the session has its server's name."""
        if self._call is not None or self.tasks is None:
            return
        with entered(server):
            call = self._call = begin(Effect(KIND, MESSAGES, {}, leaf=True))
        if call is None:
            return
        if call.answer is None:
            await call.areturned(None, stream=True)
        else:
            await call.recorded.aserve()
            self.tasks.start_soon(self._hand_out, call)

    async def over(self) -> None:
        """Note that the server has ended the connection."""
        if (call := self._live()) is not None:
            await call.aover()

    def close(self) -> None:
        """Note that the program has ended the connection. Harmless after the end."""
        if (call := self._live()) is not None:
            call.close()

    # -- as they come ----------------------------------------------------------------------------------------

    async def told(self, context: Any, method: str, params: Mapping[str, Any] | None) -> None:
        """Take a notification."""
        call = self._live()
        if call is None:
            # The progress of a call that ran for real has gone to its caller.
            if method == _PROGRESS or not self._past(f"{method} of an MCP server"):
                return
            if not self.library.intercepted(self._intercept, method, params):
                await self._on_notify(context, method, params)
            return
        handle: list[Callable[[], Coroutine[Any, Any, None]]] = []
        chunk = {"notification": method, "params": None if params is None else dict(params)}
        await call.achunk(chunk, lambda: self._notified(handle, context, method, params))
        for act in handle:
            await act()

    async def asked(self, context: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        """Take a request; return the program's answer."""
        call = self._live()
        if method == "ping":
            return await self._on_request(context, method, params)  # type: ignore[no-any-return]
        if call is None:
            if self._past(f"{method} of an MCP server"):
                return await self._on_request(context, method, params)  # type: ignore[no-any-return]
            raise self.library.refusal(f"{method} is not answered while a recording is replayed")
        at: list[Scope] = []
        chunk = {"request": method, "params": dict(params or {}), "id": context.request_id}
        await call.achunk(chunk, lambda: at.append(self.scope.child("asked")))
        return await self._answer(at[0], context, method, params)

    async def progressed(self, of: str, callback: Progressed, *values: Any) -> None:
        """Take the progress of a live call."""
        call = self._live()
        if call is None:
            # It runs for real in a replay, or began before the session had its server's name.
            await callback(*values)
            return
        at: list[Scope] = []
        chunk = {"progress": list(values), "of": of}
        await call.achunk(chunk, lambda: at.append(self.scope.child("progress")))
        with entered(at[0]):
            await callback(*values)

    # -- as recorded -----------------------------------------------------------------------------------------

    def hear(self, of: str, callback: Progressed) -> None:
        """Register the callback for the recorded progress of a call."""
        self._waiting[of] = callback

    def unhear(self, of: str) -> None:
        """Remove the callback of a call that is over, or has gone live."""
        self._waiting.pop(of, None)

    async def _hand_out(self, call: Call) -> None:
        async for chunk in arrive(call):
            self._deliver(chunk)
        # In the recording, the server ended the connection here.
        assert self.tasks is not None
        self.tasks.cancel_scope.cancel()

    def _deliver(self, chunk: Mapping[str, Any]) -> None:
        """Deliver a chunk in its turn: name the scope of its callback, and start it."""
        if "progress" in chunk:
            at, callback = self.scope.child("progress"), self._waiting.get(chunk["of"])
            if callback is not None:
                self._start(self._tell, at, partial(callback, *chunk["progress"]))
        elif "notification" in chunk:
            handle: list[Callable[[], Coroutine[Any, Any, None]]] = []
            self._notified(handle, self.library.given(None), chunk["notification"], chunk["params"])
            for act in handle:
                self._start(act)
            if chunk["notification"] == _CANCELLED:
                cancelled = self._handling.get((chunk["params"] or {}).get("requestId"))
                if cancelled is not None:
                    cancelled.cancel()
        else:
            self._start(self._handle, self.scope.child("asked"), chunk)

    async def _handle(self, at: Scope, chunk: Mapping[str, Any]) -> None:
        with anyio.CancelScope() as cancelled:
            self._handling[chunk["id"]] = cancelled
            try:
                await self._answer(at, self.library.given(chunk["id"]), chunk["request"], chunk["params"])
            except Exception:
                # Live, the server gets the error. The recorded answer is compared.
                log.debug("the program could not answer %s", chunk["request"], exc_info=True)
            finally:
                del self._handling[chunk["id"]]

    def _start(self, act: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> None:
        assert self.tasks is not None
        self.tasks.start_soon(act, *args)

    # -- both ------------------------------------------------------------------------------------------------

    def _notified(
        self, handle: list[Any], context: Any, method: str, params: Mapping[str, Any] | None
    ) -> None:
        at = self.scope.child("notified")
        if not self.library.intercepted(self._intercept, method, params):
            handle.append(partial(self._tell, at, partial(self._on_notify, context, method, params)))

    async def _tell(self, at: Scope, callback: Callable[[], Awaitable[None]]) -> None:
        with entered(at):
            try:
                await callback()
            except Exception:
                # As in the library: a callback that raises does not end the session.
                log.exception("a callback for a message of an MCP server raised")

    async def _answer(
        self, at: Scope, context: Any, method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        failed: Exception | None = None
        with entered(at):
            try:
                result = await self._on_request(context, method, params)
                reply: dict[str, Any] = {"result": result}
            except Exception as error:
                failed = error
                reply = {"error": {"type": type(error).__name__, "message": str(error)}}
            await aperform(Effect(KIND, method, {"asked": dict(params or {}), **reply}, leaf=True), _sent)
        if failed is not None:
            raise failed
        return result

    def _live(self) -> Call | None:
        return self._call if self._call is not None and live_now(self._call) else None

    def _past(self, what: str) -> bool:
        """Return True if an unrecorded message is delivered.

        It is unrecorded if the session is not open yet, or in a replay, which delivers the recorded messages.
        """
        if self._call is None:
            return True
        if not self._noted:
            self._noted = True
            self.scope.run.handler.remark(f"{what}, whose call ran for real: left out")
        return False


async def _sent() -> None:
    """Do nothing: the library sends the answer to the server."""
