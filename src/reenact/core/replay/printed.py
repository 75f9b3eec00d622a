"""Text that recorded effects printed, due when their answers reach the program."""

from __future__ import annotations

from collections import deque

from reenact.core.model.log import Log


class RecordedPrints:
    """The printed text of one process's recording.

    Args:
        log: The recorded process.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._inside: dict[int, list[int]] = {}
        self._due: dict[int, deque[tuple[int, int, str]]] = {}
        if log.printed:
            for call in log.calls.values():
                if call.within is not None and call.within < call.number:
                    self._inside.setdefault(call.within, []).append(call.number)

    def due(self, call: int, order: int | None = None) -> list[str]:
        """Return the text that an answered call and the calls in it printed, up to a place.

        The place is one in the run's order. Each text is returned once; without a place, all that is left.
        """
        if not self._log.printed:
            return []
        waiting = self._due.get(call)
        if waiting is None:
            waiting = self._due[call] = deque(sorted(self._of(call)))
        texts = []
        while waiting and (order is None or waiting[0][1] <= order):
            texts.append(waiting.popleft()[2])
        return texts

    def _of(self, call: int) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        pending = [call]
        while pending:
            number = pending.pop()
            found += self._log.printed.get(number, ())
            pending += self._inside.get(number, ())
        return found
