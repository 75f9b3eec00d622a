"""The running event loop, and its cancellation, without an import of asyncio.

The import takes longer than a short program runs. A program that has not imported asyncio has no event loop.
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


_find: list[Any] = [None]
"""asyncio's function, once it is there."""


def running_loop() -> AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    find = _find[0]
    if find is None:
        # Another thread may be in the middle of the import: only the function in C is the final one.
        find = getattr(sys.modules.get("asyncio.events"), "_get_running_loop", None)
        if find is None:
            return None
        if type(find) is BuiltinFunctionType:
            _find[0] = find
    loop: AbstractEventLoop | None = find()
    return loop


def this_loop() -> AbstractEventLoop:
    """Return the event loop that runs in this thread. Raises RuntimeError where none does."""
    loop = running_loop()
    if loop is None:
        raise RuntimeError("no running event loop")
    return loop


def cancellations(*others: type[BaseException]) -> tuple[type[BaseException], ...]:
    """Return the class of asyncio's cancellation, if it can have been raised, and others."""
    kind = getattr(sys.modules.get("asyncio.exceptions"), "CancelledError", None)
    return others if kind is None else (kind, *others)


def real_call_at(loop: AbstractEventLoop) -> Any:
    """Return the loop's own `call_at`, whatever is in its place."""
    method: Any = sys.modules["asyncio.base_events"].BaseEventLoop.call_at
    return (method.__wrapped__ if getattr(method, "_reenact", False) else method).__get__(loop)
