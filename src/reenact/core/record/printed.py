"""Record the text that code inside effects prints.

A replay prints it where it answers such an effect without running it.
"""

from __future__ import annotations

from collections.abc import Callable

from reenact.core.model.event import Tree

KEPT = 4 << 20
"""Characters of one process that are kept."""


class PrintRecorder:
    """Collects printed text by call, and writes it before the call's next event.

    Args:
        write: Writes one event.
    """

    def __init__(self, write: Callable[[dict[str, Tree]], None]) -> None:
        self._write = write
        self._waiting: dict[int, list[str]] = {}
        self._left = KEPT

    def add(self, call: int, text: str) -> None:
        """Take text that was printed inside a call."""
        if self._left > 0:
            self._waiting.setdefault(call, []).append(text[: self._left])
            self._left -= len(text)

    def flush(self, call: int | None) -> None:
        """Write the text of a call that is still waiting."""
        if self._waiting and call is not None and (texts := self._waiting.pop(call, None)):
            self._write({"event": "printed", "call": call, "text": "".join(texts)})
