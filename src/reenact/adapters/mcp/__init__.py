"""MCP clients: what a session asks its server, and what the server says unasked.

`ClientSession` talks to its server by a dispatcher, whatever the transport. Each session's dispatcher is wrapped:
`tools/call` becomes an effect of kind `tool`, every other request one of kind `mcp`. In a replay no server is started
and none is connected to. `docs/mcp.md` says what is recorded, how it is matched, and what is not reproduced.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import HookMissing, installed_version, patch
from reenact.adapters.scopes import listening
from reenact.store.writer import warn

_TRANSPORTS = (
    ("mcp.client.stdio", "stdio_client"),
    ("mcp.client.sse", "sse_client"),
    ("mcp.client.streamable_http", "streamable_http_client"),
)


def install(module: ModuleType) -> bool:
    """Patch `ClientSession` and the client transports. False where the version is not known: the first session says so.

    Frameworks import MCP for themselves, and most of their programs never use it.
    """
    try:
        session, memory, transports = _found()
    except HookMissing as refusal:
        _refuse_later(str(refusal))
        return False
    from reenact.adapters.mcp.dispatcher import Recorded
    from reenact.adapters.mcp.transport import hook

    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def init(self: Any, *args: Any, **options: Any) -> None:
            original(self, *args, **options)
            self._dispatcher = Recorded(self._dispatcher)

        return init

    patch(session.ClientSession, "__init__", wrapper, library="mcp")
    for transport in (*transports, memory.InMemoryTransport._connect):
        hook(transport)
    return True


def _refuse_later(refusal: str) -> None:
    """Say the refusal where a session is made that will not be recorded, once. Raises HookMissing."""
    from importlib import import_module

    said = False

    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def init(self: Any, *args: Any, **options: Any) -> None:
            nonlocal said
            scope = listening()
            if scope is not None:
                if not said:
                    said = True
                    warn(refusal)
                if scope.run.replaying:
                    handler: Any = scope.run.handler
                    handler.note(
                        "an MCP session, of a version that is not known: its server is asked for real"
                    )
            original(self, *args, **options)

        return init

    try:
        session = import_module("mcp.client.session").ClientSession
    except (ImportError, AttributeError):
        raise HookMissing(refusal) from None
    patch(session, "__init__", wrapper, library="mcp")


def _found() -> tuple[Any, Any, list[Any]]:
    """All or nothing: a session whose server is started in a replay would be worse than none."""
    from importlib import import_module

    missing = None
    try:
        from mcp.shared.dispatcher import Dispatcher

        session, memory = import_module("mcp.client.session"), import_module("mcp.client._memory")
        transports = [getattr(import_module(place), name) for place, name in _TRANSPORTS]
        connecting = [*transports, memory.InMemoryTransport._connect]
    except (ImportError, AttributeError) as error:
        missing = str(error)
    else:
        absent = [name for name in ("run", "send_raw_request", "notify") if not hasattr(Dispatcher, name)]
        if absent:
            missing = f"Dispatcher has no {absent[0]}"
        elif "dispatcher" not in inspect.signature(session.ClientSession.__init__).parameters:
            missing = "ClientSession takes no dispatcher"
        elif any("func" not in item.__code__.co_freevars for item in connecting):
            missing = "a client transport is no context manager of contextlib's"
    if missing is not None:
        raise HookMissing(
            f"MCP {installed_version('mcp')} is not known to this version of Reenact ({missing}; it knows 2.3): calls "
            f"to MCP servers are recorded by their HTTP requests only, and those over stdio not at all"
        )
    return session, memory, transports
