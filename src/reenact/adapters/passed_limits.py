"""Time limits of asyncio and anyio that are over when they are set.

A limit is a time of the loop's clock. If it has passed, the library ends the block at once; else it sets a timer. A
replay cannot decide that by its own clock. So a limit that was over is recorded as `passed#0`, any other as a timer.
"""

from __future__ import annotations

import asyncio
import math
from asyncio import timeouts
from collections.abc import Callable
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import Replace
from reenact.adapters.imports import when_imported
from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope

_RULES = 7
"""The number of the matching rules from which such limits are recorded."""

_BACKEND = "anyio._backends._asyncio"


def install(replace: Replace) -> None:
    """Patch `asyncio.timeout` and the scopes of anyio."""
    replace(timeouts.Timeout, "reschedule", _reschedule)

    def loaded(module: ModuleType) -> None:
        replace(module.CancelScope, "_timeout", _set_timer)

    when_imported(_BACKEND, loaded)


def _reschedule(original: Callable[..., None], limit: Any, when: float | None) -> None:
    """`asyncio.Timeout.reschedule`."""
    scope = _recorded()
    if scope is None or when is None:
        original(limit, when)
        return
    original(limit, None)
    loop = asyncio.get_running_loop()
    over = _is_over(scope, loop, when)
    limit._when = when
    limit._timeout_handler = (
        loop.call_soon(limit._on_timeout) if over else loop.call_at(when, limit._on_timeout)
    )


def _set_timer(original: Callable[..., None], limit: Any) -> None:
    """`CancelScope._timeout` of anyio, which sets the timer, and is called by it."""
    scope, when = _recorded(), limit._deadline
    if scope is None or when == math.inf or limit._timeout_handle is not None:
        original(limit)
        return
    loop = asyncio.get_running_loop()
    if not _is_over(scope, loop, when):
        limit._timeout_handle = loop.call_at(when, limit._timeout)
        return
    limit._deadline = -math.inf
    try:
        original(limit)
    finally:
        limit._deadline = when


def _recorded() -> Scope | None:
    scope = listening()
    return None if scope is None or scope.run.rules < _RULES else scope


def _is_over(scope: Scope, loop: asyncio.AbstractEventLoop, when: float) -> bool:
    """Return True if a limit is over; in a replay, if it was over in the recording."""
    run, name = scope.run, f"passed#{scope.count('passed')}"
    order = run.handler.due(scope, name)
    over = order is not None if run.replaying else when <= loop.time()
    if over:
        run.turnstile.pass_sync(order, lambda: run.handler.fire(scope, name))
    return over
