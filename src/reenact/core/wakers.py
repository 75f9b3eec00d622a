"""Wake an event loop from another thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress


def waker(event: asyncio.Event) -> Callable[..., None]:
    """Return a function for any thread that sets an event of the running loop.

    It takes any arguments, as a callback, and does nothing once the loop has ended.
    """
    loop = asyncio.get_running_loop()

    def wake(*_: object) -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(event.set)

    return wake
