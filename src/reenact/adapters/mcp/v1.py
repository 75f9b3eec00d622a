"""MCP 1.x: wrap a session in the form of 2.x's dispatcher, since it is its own.

A 1.x session handles its server's messages one after the other, in its receive loop: while the program answers a
request, it receives nothing else. That stays so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import anyio

from reenact.adapters.hooks import patch
from reenact.adapters.mcp.dispatcher import RecordedDispatcher
from reenact.adapters.mcp.inbox import McpVersion
from reenact.adapters.mcp.transport import asked_in, beside, hook, hookable

# A type checker with 2.x does not have the module.
_types: Any = import_module("mcp.types")
_errors: Any = import_module("mcp.shared.exceptions")
_sessions: Any = import_module("mcp.shared.session")

_TRANSPORTS = (
    ("mcp.client.stdio", "stdio_client"),
    ("mcp.client.sse", "sse_client"),
    ("mcp.client.streamable_http", "streamablehttp_client"),
)
_SENDING = ["self", "request", "result_type", "request_read_timeout_seconds", "metadata", "progress_callback"]
_TELLING = ["self", "notification", "related_request_id"]
_WITHIN = ("_receive_loop", "_received_request", "_received_notification", "_handle_incoming")


def install() -> None:
    """Patch `ClientSession` and the transports, all or nothing.

    Raises ImportError or AttributeError if something is missing.
    """
    session = import_module("mcp.client.session").ClientSession
    for name, expected in (("send_request", _SENDING), ("send_notification", _TELLING)):
        if [*inspect.signature(getattr(session, name)).parameters] != expected:
            raise AttributeError(f"ClientSession.{name} takes other arguments")
    absent = [name for name in _WITHIN if not hasattr(session, name)]
    if absent:
        raise AttributeError(f"ClientSession has no {absent[0]}")
    transports = [getattr(import_module(place), name) for place, name in _TRANSPORTS]
    # The name since 1.24; the function of the older name calls it.
    transports += filter(None, [getattr(import_module(_TRANSPORTS[-1][0]), "streamable_http_client", None)])
    hookable(*transports)

    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def init(self: Any, *args: Any, **options: Any) -> None:
            original(self, *args, **options)
            _Hooks(self)

        return init

    patch(session, "__init__", wrapper, library="mcp")
    for transport in transports:
        # Over HTTP, a transport also returns the session's id, which the server chooses.
        hook(transport, *([_no_id] if "http" in transport.__name__ else []))


def install_late(module: ModuleType) -> bool:
    """Patch modules that `mcp` does not import: websockets, and a server in the same process."""
    if module.__name__ == "mcp.shared.memory":
        beside(module.create_connected_server_and_client_session, module.create_client_server_memory_streams)
    else:
        hook(module.websocket_client)
    return True


def _no_id() -> None:
    """Return no id: a session of a replay has none."""


class _Unanswered(Exception):
    """The program has not answered a server's request yet, and may do so later."""


class _Dispatcher:
    """A session's own sending and receiving, in the form of 2.x's dispatcher."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._send_request, self._send_notification = session.send_request, session.send_notification
        self._loop = session._receive_loop
        self.asked: Any = None
        self.told: Any = None

    async def run(self, on_request: Any, on_notify: Any, *, task_status: Any) -> None:
        """Deal with the server's messages until the connection is closed."""
        self.asked, self.told = on_request, on_notify
        task_status.started()
        try:
            await self._loop()
        finally:
            # A cancelled loop does not do so itself.
            closed = _types.ErrorData(code=_types.CONNECTION_CLOSED, message="Connection closed")
            for key, waiting in [*self._session._response_streams.items()]:
                try:
                    waiting.send_nowait(_types.JSONRPCError(jsonrpc="2.0", id=key, error=closed))
                except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    continue

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ask the server. Raises McpError."""
        options = opts or {}
        request = options.get("request") or _types.ClientRequest.model_validate(
            {"method": method, "params": params}
        )
        return await self._send_request(  # type: ignore[no-any-return]
            request,
            _AsItIs,
            options.get("timeout"),
            options.get("metadata"),
            options.get("on_progress"),
        )

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: dict[str, Any] | None = None
    ) -> None:
        """Notify the server."""
        options = opts or {}
        await self._send_notification(options["notification"], options["related"])


class _Hooks:
    """The hooks of a session's own methods. Unrecorded calls go straight through."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._send_request, self._send_notification = session.send_request, session.send_notification
        self._loop, self._incoming = session._receive_loop, session._handle_incoming
        self._on_request, self._on_notification = session._received_request, session._received_notification
        self._inner = _Dispatcher(session)
        self._recorded = RecordedDispatcher(self._inner, _LIBRARY, leaf=True)
        session.send_request, session.send_notification = self.send_request, self.send_notification
        session._receive_loop, session._handle_incoming = self.receive_loop, self.incoming
        session._received_request, session._received_notification = self.asked, self.told

    # -- to the server ---------------------------------------------------------------------------------------

    async def send_request(
        self,
        request: Any,
        result_type: Any,
        request_read_timeout_seconds: Any = None,
        metadata: Any = None,
        progress_callback: Any = None,
    ) -> Any:
        if asked_in() is None:
            return await self._send_request(
                request, result_type, request_read_timeout_seconds, metadata, progress_callback
            )
        asked = _json(request)
        options = {"request": request, "timeout": request_read_timeout_seconds, "metadata": metadata}
        if progress_callback is not None:
            options["on_progress"] = progress_callback
        raw = await self._recorded.send_raw_request(asked["method"], asked.get("params"), options)
        return result_type.model_validate(raw)

    async def send_notification(self, notification: Any, related_request_id: Any = None) -> None:
        if asked_in() is None:
            await self._send_notification(notification, related_request_id)
        else:
            told = _json(notification)
            options = {"notification": notification, "related": related_request_id}
            await self._recorded.notify(told["method"], told.get("params"), options)

    # -- from the server -------------------------------------------------------------------------------------

    async def receive_loop(self) -> None:
        if asked_in() is None:
            await self._loop()
        else:
            await self._recorded.run(self._answer, self._hear)

    async def asked(self, responder: Any) -> None:
        """A request has come in."""
        if self._inner.asked is None:
            await self._on_request(responder)
            return
        request = _json(responder.request)
        context = SimpleNamespace(request_id=responder.request_id)
        try:
            reply = _AsItIs(await self._inner.asked(context, request["method"], request.get("params")))
        except _errors.McpError as error:
            reply = error.error
        except _Unanswered:
            return
        with responder:
            await responder.respond(reply)

    async def told(self, notification: Any) -> None:
        """A notification has come in."""
        if self._inner.told is None:
            await self._on_notification(notification)
        else:
            message = _json(notification)
            await self._inner.told(None, message["method"], message.get("params"))

    async def incoming(self, message: Any) -> None:
        """Deliver a message to the session's owner, unless it is recorded."""
        if self._inner.told is None or isinstance(message, Exception):
            await self._incoming(message)

    # -- as the session deals with it, recorded or live --------------------------------------------------------

    async def _answer(self, context: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        request = _types.ServerRequest.model_validate({"method": method, "params": params or None})
        reply = _Reply(self._session)
        responder = _sessions.RequestResponder(
            request_id=context.request_id,
            request_meta=request.root.params.meta if request.root.params else None,
            request=request,
            session=reply,
            on_complete=lambda _: None,
        )
        await self._on_request(responder)
        if not responder._completed:
            await self._incoming(responder)
        return reply.given()

    async def _hear(self, context: Any, method: str, params: Mapping[str, Any] | None) -> None:
        notification = _types.ServerNotification.model_validate({"method": method, "params": params})
        await self._on_notification(notification)
        await self._incoming(notification)


class _Reply:
    """Takes the program's answer to a request, in place of the session that would send it."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._response: Any = None
        self._late = False

    async def _send_response(self, request_id: Any, response: Any) -> None:
        if self._late:
            await self._session._send_response(request_id, response)
        else:
            self._response = response

    def given(self) -> dict[str, Any]:
        """Return the answer as JSON. Raises McpError for an error, _Unanswered without an answer."""
        if self._response is None:
            self._late = True
            raise _Unanswered
        if isinstance(self._response, _types.ErrorData):
            raise _errors.McpError(self._response)
        return _json(self._response)


class _AsItIs:
    """JSON in the form of one of the library's models."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """As it is."""
        return self._raw

    @staticmethod
    def model_validate(raw: dict[str, Any]) -> dict[str, Any]:
        """As it is."""
        return raw


def _json(model: Any) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)  # type: ignore[no-any-return]


def _refusal(text: str) -> Exception:
    return _errors.McpError(_types.ErrorData(code=_types.INTERNAL_ERROR, message=text))  # type: ignore[no-any-return]


_LIBRARY = McpVersion(
    given=lambda key: SimpleNamespace(request_id=key),
    refusal=_refusal,
    intercepted=lambda *_: False,
)
