"""MCP 2.x: a session has a dispatcher, which is wrapped."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from types import ModuleType
from typing import Any

import anyio
from mcp.shared.direct_dispatcher import DirectDispatcher
from mcp.shared.dispatcher import run_notify_intercept
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.transport_context import TransportContext
from mcp_types import INTERNAL_ERROR

from reenact.adapters.hooks import patch
from reenact.adapters.mcp.dispatcher import RecordedDispatcher
from reenact.adapters.mcp.inbox import McpVersion
from reenact.adapters.mcp.transport import hook, hookable
from reenact.core.dataclass import dataclass

_TRANSPORTS = (
    ("mcp.client.stdio", "stdio_client"),
    ("mcp.client.sse", "sse_client"),
    ("mcp.client.streamable_http", "streamable_http_client"),
)


def install() -> None:
    """Patch `ClientSession` and the transports, all or nothing.

    A session that starts its server in a replay would be worse than none. Raises ImportError or AttributeError if
    something is missing.
    """
    session, memory = import_module("mcp.client.session"), import_module("mcp.client._memory")
    transports = [getattr(import_module(place), name) for place, name in _TRANSPORTS]
    transports.append(memory.InMemoryTransport._connect)
    dispatcher = import_module("mcp.shared.dispatcher").Dispatcher
    absent = [name for name in ("run", "send_raw_request", "notify") if not hasattr(dispatcher, name)]
    if absent:
        raise AttributeError(f"Dispatcher has no {absent[0]}")
    if "dispatcher" not in inspect.signature(session.ClientSession.__init__).parameters:
        raise AttributeError("ClientSession takes no dispatcher")
    hookable(*transports)

    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def init(self: Any, *args: Any, **options: Any) -> None:
            original(self, *args, **options)
            inner = self._dispatcher
            self._dispatcher = RecordedDispatcher(
                inner, _LIBRARY, leaf=not isinstance(inner, DirectDispatcher)
            )

        return init

    patch(session.ClientSession, "__init__", wrapper, library="mcp")
    for transport in transports:
        hook(transport)


def install_late(module: ModuleType) -> bool:
    """Do nothing: `mcp` imports all hooked modules."""
    return False


@dataclass
class Given:
    """The context of a recorded message: it is not connected to the server."""

    request_id: Any = None
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="recorded", can_send_request=False)
    )
    message_metadata: Any = None
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        """Do nothing: there is no connection."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Do nothing: there is no connection."""

    async def send_raw_request(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> Any:
        """Raises NoBackChannelError."""
        raise NoBackChannelError(method)


_LIBRARY = McpVersion(
    given=Given,
    refusal=lambda text: MCPError(INTERNAL_ERROR, text),
    intercepted=run_notify_intercept,
)
