"""MCP clients: a session's requests to its server, and the server's own messages.

`ClientSession` talks to its server by a dispatcher (2.x) or is one itself (1.x), whatever the transport. Each session's
dispatcher is wrapped: `tools/call` becomes an effect of kind `tool`, every other request one of kind `mcp`. A replay
starts no server and connects to none. `docs/mcp.md` says what is recorded, how it is matched, and what is not
reproduced.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import HookMissing, installed_version, patch
from reenact.adapters.scopes import listening
from reenact.core.store.writer import warn

_known: ModuleType | None = None
"""The adapter that is installed, of one version."""


def install(module: ModuleType) -> bool:
    """Patch `ClientSession` and the client transports. False if the version is not known.

    Frameworks import MCP for themselves, and most of their programs never use it.

    Args:
        module: `mcp`, or a module that 1.x does not import itself: `mcp.client.websocket`, `mcp.shared.memory`.
    """
    global _known
    if module.__name__ != "mcp":
        return _known is not None and bool(_known.install_late(module))
    try:
        known = import_module(f"reenact.adapters.mcp.{'v1' if _first() else 'v2'}")
        known.install()
    except (ImportError, AttributeError) as missing:
        _refuse_later(
            f"MCP {installed_version('mcp')} is not known to this version of Reenact ({missing}; "
            "it knows 1.23 to 2.3): calls to MCP servers are recorded by their HTTP requests only, and those over "
            "stdio not at all"
        )
        return False
    _known = known
    return True


def _first() -> bool:
    """Return True for MCP 1.x: its sessions have a base class that 2.0 has removed."""
    try:
        return hasattr(import_module("mcp.shared.session"), "BaseSession")
    except ImportError:
        return False


def _refuse_later(refusal: str) -> None:
    """Raise HookMissing, once, when a session is made that will not be recorded."""
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
                    scope.run.handler.remark(
                        "an MCP session of an unknown version: its server is called for real"
                    )
            original(self, *args, **options)

        return init

    try:
        session = import_module("mcp.client.session").ClientSession
    except (ImportError, AttributeError):
        raise HookMissing(refusal) from None
    patch(session, "__init__", wrapper, library="mcp")
