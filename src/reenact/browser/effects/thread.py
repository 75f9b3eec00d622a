"""The thread of a session's browser: Playwright's asynchronous API on its own loop.

Frames and page events keep coming in while the program blocks, sleeps or waits for a model. Nothing here belongs to
the recorded run: the thread has no scope, its loop runs on the real clock, and a caller waits on a plain lock, which
no turnstile takes for a wait of the program.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from typing import Any, Generic, TypeVar

from reenact.errors import SessionError

T = TypeVar("T")

Make = Callable[[], Coroutine[Any, Any, T]]
"""A function that makes a coroutine; it is called in the browser's thread."""


class BrowserThread:
    """A thread with an event loop, for one session. It ends with the process at the latest."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = os.getpid()
        self._up = threading.Lock()
        self._up.acquire()
        self._thread = threading.Thread(target=self._run, name="reenact browser", daemon=True)
        # The thread is not the program's, so a replay must not keep it from the network.
        self._thread.reenact_own = True  # type: ignore[attr-defined]
        Context().run(self._thread.start)
        self._up.acquire()

    @property
    def here(self) -> bool:
        """True in the process that started the thread: a forked process has no copy of it."""
        return self._pid == os.getpid()

    def call(self, make: Make[T]) -> T:
        """Await a coroutine in the thread, and block until it is done."""
        job = self._submit(make)
        try:
            job.done.acquire()
        except BaseException:
            # Ctrl-C must leave nothing running in the background.
            self._cancel(job)
            raise
        return job.outcome()

    async def acall(self, make: Make[T]) -> T:
        """Await a coroutine in the thread, without blocking this loop."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not waiting.done():
                waiting.set_result(None)

        def done() -> None:
            with suppress(RuntimeError):  # the program's loop may be closed by now
                loop.call_soon_threadsafe(wake, context=Context())

        job = self._submit(make, done)
        try:
            await waiting
        except BaseException:
            self._cancel(job)
            raise
        return job.outcome()

    def stop(self) -> None:
        """End the thread. May be called again."""
        loop = self._loop
        if loop is None or not self.here or loop.is_closed():
            return
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop, context=Context())
        self._thread.join(5)

    def _submit(self, make: Make[T], finished: Callable[[], None] | None = None) -> _Job[T]:
        if not self.here:
            raise SessionError(
                "this session's browser belongs to the process that started it; start another session"
            )
        if threading.current_thread() is self._thread:
            raise SessionError(
                "a session cannot be used from within its own browser's thread (a page's callback)"
            )
        job = _Job(make, finished)
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(job.begin, context=Context())
        except RuntimeError:
            raise SessionError("the session is closed") from None
        return job

    def _cancel(self, job: _Job[Any]) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(job.cancel, context=Context())

    def _run(self) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._loop.call_soon(self._up.release)
        try:
            self._loop.run_forever()
        finally:
            _wind_up(self._loop)


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    with suppress(Exception):
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


class _Job(Generic[T]):
    """A coroutine on the thread's loop, and its caller in another thread."""

    def __init__(self, make: Make[T], finished: Callable[[], None] | None) -> None:
        self._make = make
        self._finished = finished
        self._task: asyncio.Task[T] | None = None
        self._error: BaseException | None = None
        self._value: T
        self.done = threading.Lock()
        self.done.acquire()

    def begin(self) -> None:
        """Start it; called on the loop."""
        self._task = asyncio.get_running_loop().create_task(self._make())
        self._task.add_done_callback(self._over)

    def cancel(self) -> None:
        """Cancel it; called on the loop."""
        if self._task is not None:
            self._task.cancel()

    def outcome(self) -> T:
        """Return its value or raise its error, once it is done."""
        if self._error is not None:
            raise self._error
        return self._value

    def _over(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self._error = SessionError("the session was closed meanwhile")
        elif (error := task.exception()) is not None:
            self._error = error
        else:
            self._value = task.result()
        self.done.release()
        if self._finished is not None:
            self._finished()
