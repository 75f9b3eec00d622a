"""Text that recorded effects printed, due when their answers reach the program."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable

from reenact.core.boundary import Answer
from reenact.core.model.log import Log


class RecordedPrints:
    """The printed text of one process's recording; each text is printed once.

    Args:
        log: The recorded process.

    Attributes:
        write: Prints a text.
    """

    def __init__(self, log: Log) -> None:
        self.write: Callable[[str], object] = _print
        self._log = log
        self._inside: dict[int, list[int]] = {}
        self._due: dict[int, deque[tuple[int, int, str]]] = {}
        if log.printed:
            for call in log.calls.values():
                if call.within is not None and call.within < call.number:
                    self._inside.setdefault(call.within, []).append(call.number)

    def passed(self, answer: Answer, piece: int | None) -> None:
        """Print what a call printed before its outcome (None), a chunk (its number) or its end."""
        if not self._log.printed or answer.call is None:
            return
        order = answer.order
        if piece is not None:
            order = answer.pieces[piece].order if piece < len(answer.pieces) else None
        waiting = self._due.get(answer.call)
        if waiting is None:
            waiting = self._due[answer.call] = deque(sorted(self._of(answer.call)))
        while waiting and (order is None or waiting[0][1] <= order):
            self.write(waiting.popleft()[2])

    def _of(self, call: int) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        pending = [call]
        while pending:
            number = pending.pop()
            found += self._log.printed.get(number, ())
            pending += self._inside.get(number, ())
        return found


def _print(text: str) -> None:
    if sys.stdout is not None:
        sys.stdout.write(text)
