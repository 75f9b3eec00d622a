"""browser-use: every agent's model requests, actions and page states.

A replay starts no browser.

A model is wrapped where an agent registers it, an action where the registry runs it, the browser at the methods of its
session. `docs/browser-use.md` says what is recorded, how it is matched, and what is not seen.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import patch, unknown
from reenact.adapters.stdlib import callers

_LIBRARY = "browser-use"

AGENT = "browser_use.agent.service"
"""Imports the session, and is complete only after that."""

PROFILE = "browser_use.browser.profile"
"""Draws the names of folders, also while the session is imported."""

_NEEDED = (
    ("browser_use.browser.session", "BrowserSession"),
    ("browser_use.browser._cdp_timeout", "TimeoutWrappedCDPClient.send_raw"),
    ("cdp_use.client", "CDPClient.send_raw"),
    ("browser_use.tools.registry.service", "Registry.execute_action"),
    ("browser_use.tokens.service", "TokenCost.register_llm"),
    ("browser_use.tokens.service", "TokenCost.add_usage"),
    ("browser_use.llm.views", "ChatInvokeCompletion"),
    ("browser_use.browser.views", "BrowserStateSummary.__dataclass_fields__"),
    ("browser_use.dom.views", "SerializedDOMState.__dataclass_fields__"),
    ("browser_use.dom.views", "EnhancedDOMTreeNode.__dataclass_fields__"),
)
"""The patched or required names: module and name. The session's own are in `session`."""

_PARAMETERS = ("action_name", "params", "browser_session", "page_extraction_llm", "file_system")


def install(module: ModuleType) -> None:
    """Patch the library once its session is imported, and its agent. Raises HookMissing."""
    from reenact.adapters.browser_use import action, browser_session, quiet, registered_models

    # An agent's own clock and ids (its steps' times, the date in its prompt, the names of its folders) count as the
    # program's; those of the browser do not.
    callers.own("browser_use.agent", PROFILE)
    if module.__name__ == PROFILE:
        return
    if module.__name__ == AGENT:
        browser_session.install_agent(module)
        return
    _check()

    browser_session.install(module.BrowserSession)
    for place, name in (
        ("cdp_use.client", "CDPClient"),
        ("browser_use.browser._cdp_timeout", "TimeoutWrappedCDPClient"),
    ):
        patch(
            getattr(importlib.import_module(place), name),
            "send_raw",
            browser_session.hooked_send,
            library=_LIBRARY,
        )
    registry: Any = importlib.import_module("browser_use.tools.registry.service").Registry
    patch(registry, "execute_action", action.hooked, library=_LIBRARY)
    tokens: Any = importlib.import_module("browser_use.tokens.service").TokenCost
    patch(tokens, "register_llm", registered_models.hooked_register, library=_LIBRARY)
    patch(tokens, "add_usage", action.hooked_usage, library=_LIBRARY)
    quiet.install()


def _check() -> None:
    """Check all names before any patch: half of an agent's calls would be worse than none."""
    missing = next((f"no {place}.{name}" for place, name in _NEEDED if not _there(place, name)), None)
    if missing is None:
        from reenact.adapters.browser_use import browser_session

        missing = browser_session.missing(
            importlib.import_module("browser_use.browser.session").BrowserSession
        )
    if missing is None:
        registry: Any = importlib.import_module("browser_use.tools.registry.service").Registry
        given = inspect.signature(registry.execute_action).parameters
        missing = next(
            (f"Registry.execute_action takes no {name}" for name in _PARAMETERS if name not in given), None
        )
    if missing is not None:
        raise unknown("browser-use", "browser-use", missing)


def _there(place: str, name: str) -> bool:
    try:
        found: Any = importlib.import_module(place)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return True
