"""An agent's log: one line for each step, readable from any thread or loop as it grows."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

from reenact.core.wakers import waker


class StepLog:
    """The lines, and the readers that wait for the next one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.closed = False
        self._changed = threading.Condition()
        self._wakers: list[Callable[[], None]] = []

    def add(self, line: str) -> None:
        """Add a line."""
        self._change(line)

    def close(self) -> None:
        """Note that no more lines will come."""
        self._change(None)

    def _change(self, line: str | None) -> None:
        with self._changed:
            if line is None:
                self.closed = True
            else:
                self.lines.append(line)
            self._changed.notify_all()
            wakers, self._wakers = self._wakers, []
        for wake in wakers:
            wake()

    def __iter__(self) -> Iterator[str]:
        """Yield all lines as they come, until the agent has ended."""
        place = 0
        while True:
            with self._changed:
                while place >= len(self.lines) and not self.closed:
                    self._changed.wait()
                new = self.lines[place:]
            if not new:
                return
            yield from new
            place += len(new)

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield all lines as they come, in a loop."""
        place = 0
        while True:
            changed = asyncio.Event()
            with self._changed:
                new, closed = self.lines[place:], self.closed
                if not new and not closed:
                    self._wakers.append(waker(changed))
            if new:
                for line in new:
                    yield line
                place += len(new)
            elif closed:
                return
            else:
                await changed.wait()


class LogStream:
    """The result of `watch_logs`: a log that can be iterated or awaited.

    Iterate over it (`for` or `async for`) for the lines, or await it to print them and get the agent's last status.
    """

    def __init__(self, log: StepLog, last: Callable[[], Any]) -> None:
        self._log = log
        self._last = last

    def __iter__(self) -> Iterator[str]:
        return iter(self._log)

    def __aiter__(self) -> AsyncIterator[str]:
        return aiter(self._log)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._printed().__await__()

    async def _printed(self) -> Any:
        async for line in self._log:
            sys.stderr.write(line + "\n")
        return self._last()
