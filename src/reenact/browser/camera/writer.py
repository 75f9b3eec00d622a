"""Write the session's file by the recording's clock; keep faults from the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

from reenact.core.boundary import Sidecar
from reenact.core.store.writer import warn

P = ParamSpec("P")
LONG_AGO = 30.0
"""Most seconds until a picture arrives from a slow browser."""


class FootageWriter:
    """The session's file, and the camera's own background work.

    A fault of the camera causes one warning and a noted hole in the file; the agent's run goes on.
    """

    def __init__(self, beside: Sidecar) -> None:
        self._beside = beside
        self._tasks: set[asyncio.Task[None]] = set()
        self._said: set[str] = set()
        self.closed = False
        """True once the camera has stopped: nothing more is written."""

    def write(self, event: str, *, t: float | None = None, **members: Any) -> None:
        """Append one line, with the current time by default."""
        if not self.closed:
            self._beside.write(event, t=t, **members)

    def blob(self, data: bytes) -> str:
        """Keep a picture; return its address."""
        return self._beside.blob(data)

    def text(self, text: str) -> str:
        """Keep a text without its secrets; return its address."""
        return self._beside.text(text)

    def body(self, data: bytes) -> str:
        """Keep a server's response body without its secrets; return its address."""
        return self._beside.blob(self.redacted(data))

    def redacted(self, data: bytes) -> bytes:
        """Return bytes without their secrets."""
        return self._beside.raw(data)

    def clean(self, text: str) -> str:
        """Return a text without its secrets."""
        return self._beside.raw(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def now(self) -> float:
        """Seconds since the recording began."""
        return self._beside.now()

    def at(self, milliseconds: float) -> float:
        """Convert a moment of the browser's clock (milliseconds since 1970) to the recording's time.

        A time in the future, or more than `LONG_AGO` ago, means that the wall clock was changed: it becomes now.
        """
        now = self._beside.now()
        t = self._beside.at(milliseconds / 1000)
        return t if now - LONG_AGO < t <= now else now

    def left_out(self, what: str, text: str, **members: Any) -> None:
        """Note once in the file that data of this kind is missing."""
        if what not in self._said:
            self._said.add(what)
            self.write("noted", what="hole", text=text, **members)

    def failed(self, where: str, error: BaseException) -> None:
        """Report a fault of the camera once for each place, on standard error and in the file."""
        if where not in self._said and not self.closed:
            reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(
                ": "
            )
            warn(f"the browser session's footage has a hole ({where}: {reason}); the session goes on")
            self.left_out(where, f"the camera failed: {where}: {reason}")

    def guarded(self, act: Callable[P, Any]) -> Callable[P, None]:
        """Wrap a function for a page event: an exception becomes a hole in the file."""

        @wraps(act)
        def guard(*args: P.args, **kwargs: P.kwargs) -> None:
            if self.closed:
                return
            try:
                act(*args, **kwargs)
            except Exception as error:
                self.failed(act.__name__.strip("_"), error)

        return guard

    def start(self, work: Coroutine[Any, Any, None], where: str) -> None:
        """Run a coroutine in the background, until `stop`."""
        if self.closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(self._run(work, where))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Coroutine[Any, Any, None], where: str) -> None:
        try:
            await work
        except Exception as error:
            self.failed(where, error)

    async def stop(self) -> None:
        """Stop writing, and cancel the background work."""
        self.closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
