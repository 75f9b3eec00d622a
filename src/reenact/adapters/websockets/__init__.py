"""websockets: connecting, each message and closing are effects, in asyncio and in threads.

Each message has its place in the order of the run, and an address below its connection. Messages that are sent are
compared with the recorded ones; received ones come from the recording. The old `websockets.legacy` is not hooked.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from reenact.adapters import hooks
from reenact.adapters.websockets import aio, threaded

_METHODS = ("recv", "recv_streaming", "send", "close", "ping", "pong")


def install(module: ModuleType) -> None:
    """Patch the asyncio or sync client of websockets. Raises HookMissing before any change."""
    in_asyncio = ".asyncio." in module.__name__
    library: Any = module
    missing = [name for name in ("ClientConnection", "connect") if not hasattr(module, name)]
    if not missing:
        methods = (*_METHODS, *(("wait_closed",) if in_asyncio else threaded.methods(library)))
        owner = library.ClientConnection.__mro__[1]
        missing = [f"Connection.{name}" for name in methods if name not in vars(owner)]
        if in_asyncio:
            wanted = ("__init__", aio.opener(library.connect))
            missing += [f"connect.{name}" for name in wanted if name not in vars(library.connect)]
        elif hasattr(library, "reconnect") and "connect" not in vars(library.reconnect):
            missing.append("reconnect.connect")
    if missing:
        raise hooks.HookMissing(
            f"websockets {hooks.installed_version('websockets')} is not known to this version of Reenact (it has no "
            f"{missing[0]}): its connections are not recorded (and a replay refuses them)"
        )
    (aio if in_asyncio else threaded).install(library)
