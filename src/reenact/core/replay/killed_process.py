"""The replay of a process that was killed: it ends where its recording does."""

from __future__ import annotations

from collections.abc import Callable

from reenact.core.model.log import CallRecord, Log
from reenact.core.replay.cursor import Cursor


class KilledProcess:
    """The end of the recording of a process that was killed; it does nothing for others.

    Args:
        log: The recorded process.
        cursor: Knows the calls that were asked for.

    Attributes:
        on_caught_up: Called when a call is over and all recorded ones have been asked for.
        wait: Waits until the process is killed; returns if no process of the replay goes on.
    """

    def __init__(self, log: Log, cursor: Cursor) -> None:
        self._log = log
        self._cursor = cursor
        self.on_caught_up: Callable[[], None] | None = None
        self.wait: Callable[[], None] | None = None

    def before_call(self) -> None:
        """Wait before a call that comes after all recorded ones."""
        if self.wait is not None and self._all_asked():
            self.wait()

    def in_call(self, call: CallRecord | None) -> None:
        """Wait in a call that was under way when the process was killed."""
        if self.wait is not None and call is not None and call.outcome is None:
            self.wait()

    def after_call(self) -> None:
        """Note that a call is over."""
        if self.on_caught_up is not None and self._all_asked():
            self.on_caught_up()

    def _all_asked(self) -> bool:
        return len(self._cursor.asked) >= len(self._log.calls)
