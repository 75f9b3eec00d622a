"""The adapters: each turns one library's calls into effects at the boundary.

An adapter is installed when its library is imported, before or after Reenact, and stays installed. Outside of
recordings and replays, it costs one look at a context variable.
"""

from __future__ import annotations

import importlib
import threading
from types import ModuleType

from reenact.adapters.imports import when_imported
from reenact.adapters.native_sites import SITES
from reenact.core.store.writer import warn
from reenact.errors import ReenactError

LIBRARIES = {
    "asyncio": "reenact.adapters.event_loops",
    "concurrent.futures": "reenact.adapters.executors",
    "socket": "reenact.adapters.sockets",
    "concurrent.futures.process": "reenact.adapters.process_pools",
    "multiprocessing": "reenact.adapters.process_starts",
    "httpx": "reenact.adapters.http.httpx",
    "httpx2": "reenact.adapters.http.httpx",
    "sqlite3": "reenact.adapters.stdlib.sqlite",
    "http.client": "reenact.adapters.http.http_client",
    "urllib3.connectionpool": "reenact.adapters.http.urllib3",
    "aiohttp": "reenact.adapters.http.aiohttp",
    "websockets.asyncio.client": "reenact.adapters.websockets",
    "websockets.sync.client": "reenact.adapters.websockets",
    "multiprocessing.managers": "reenact.adapters.process_managers",
    "multiprocessing.shared_memory": "reenact.adapters.shared_objects",
    "multiprocessing.sharedctypes": "reenact.adapters.shared_objects",
    **dict.fromkeys(SITES, "reenact.adapters.native_network"),
    "uvloop": "reenact.adapters.loops",
    "trio": "reenact.adapters.loops",
    "pydantic_ai": "reenact.adapters.pydantic_ai",
    "pydantic_settings": "reenact.adapters.pydantic_settings",
    "mcp": "reenact.adapters.mcp",
    "mcp.client.websocket": "reenact.adapters.mcp",
    "mcp.shared.memory": "reenact.adapters.mcp",
    "langchain_core.language_models.chat_models": "reenact.adapters.langchain",
    "langchain_core.tools.base": "reenact.adapters.langchain",
    "langgraph.pregel.main": "reenact.adapters.langgraph",
    "langgraph.checkpoint.base": "reenact.adapters.langgraph.checkpoints",
    "agents": "reenact.adapters.openai_agents",
    "browser_use.browser.profile": "reenact.adapters.browser_use",
    "browser_use.browser.session": "reenact.adapters.browser_use",
    "browser_use.agent.service": "reenact.adapters.browser_use",
}
"""The adapter of each library; each has `install(module)`."""

STANDARD = (
    "reenact.adapters.concurrency",
    "reenact.adapters.stdlib.clock",
    "reenact.adapters.stdlib.entropy",
    "reenact.adapters.stdlib.environ",
    "reenact.adapters.stdlib.processes",
    "reenact.adapters.stdlib.seal",
    "reenact.adapters.stdlib.file_status",
    "reenact.adapters.stdlib.folders",
    "reenact.adapters.file_locks",
    "reenact.adapters.file_turns",
    "reenact.adapters.stdlib.named_pipes",
    "reenact.adapters.stdlib.unseen",
    "reenact.adapters.stdlib.signals",
)
"""Adapters of the standard library; each has `install()`."""

_lock = threading.Lock()
_installed: list[str] = []


def install() -> None:
    """Install every adapter, once in a process."""
    with _lock:
        if _installed:
            return
        for name in STANDARD:
            importlib.import_module(name).install()
            _installed.append(name)
        for library, adapter in LIBRARIES.items():
            when_imported(library, _Hook(adapter))


def installed() -> list[str]:
    """Return the names of the installed adapters, for a recording's header."""
    return sorted(_installed)


class _Hook:
    """Installs an adapter when its library is imported."""

    def __init__(self, adapter: str) -> None:
        self._adapter = adapter

    def __call__(self, module: ModuleType) -> None:
        try:
            installed = importlib.import_module(self._adapter).install(module)
        except ReenactError as error:
            # The program is importing the library: the import must not fail because of Reenact.
            warn(str(error))
            return
        except Exception as error:
            warn(f"{module.__name__} is not recorded: {type(error).__name__}: {error}")
            return
        if installed is False:
            # The program has a package of its own with the library's name.
            return
        _installed.append(f"{self._adapter} ({module.__name__})")
