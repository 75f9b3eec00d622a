"""Detect that no model is available, from the libraries' errors."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from typing import Any

from reenact.core.messages import asks_model
from reenact.core.model.event import Effect, Failure, Outcome, Value
from reenact.core.model.putback import SECRET_BEGINS

_UNREACHABLE = {
    errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN, errno.EADDRNOTAVAIL,
}  # fmt: skip
_NAMES = {
    "APIConnectionError", "ClientConnectorDNSError", "ClientConnectorError", "ConnectError", "ConnectTimeout",
    "ConnectTimeoutError", "NameResolutionError", "NewConnectionError",
}  # fmt: skip
"""The errors of HTTP libraries and SDKs for it; none of them need be installed."""

_KEYS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")


def keyless(effect: Effect) -> str:
    """Return the reason that a model's request cannot be sent, or an empty text.

    The reason is that its key is only the recording's token for a secret.
    """
    headers = effect.args.get("headers")
    if effect.kind != "http" or not asks_model(effect.kind, effect.name) or not isinstance(headers, dict):
        return ""
    for name in _KEYS:
        if SECRET_BEGINS in str(headers.get(name) or ""):
            return "recordings contain no API keys, and none is set here"
    return ""


def unanswered(outcome: Outcome) -> str:
    """Return the reason that no model is available, from a model's outcome; else an empty text."""
    if isinstance(outcome, Value):
        status = outcome.value.get("status") if isinstance(outcome.value, dict) else None
        return f"it refused the key (HTTP {status})" if status in (401, 403) else ""
    if not isinstance(outcome, Failure):
        return ""
    for error in _chain(outcome.error):
        status = getattr(error, "status_code", None)
        if status in (401, 403):
            return f"it refused the key (HTTP {status})"
        if _unreachable(error):
            return f"it cannot be reached ({_first_line(error)})"
        if "api_key" in str(error).lower() and type(error).__name__ in ("OpenAIError", "UserError"):
            return f"no API key ({_first_line(error)})"
    return ""


def _unreachable(error: BaseException) -> bool:
    if isinstance(error, (ConnectionRefusedError, socket.gaierror)):
        return True
    if isinstance(error, OSError) and error.errno in _UNREACHABLE:
        return True
    return any(kind.__name__ in _NAMES for kind in type(error).__mro__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and all of its causes."""
    todo: list[Any] = [error]
    seen: set[int] = set()
    while todo:
        found = todo.pop(0)
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        todo += [found.__cause__, found.__context__, *getattr(found, "exceptions", ())]


def _first_line(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0][:160]
    return text or type(error).__name__
