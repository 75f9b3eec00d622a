"""The inside of a running tool: the inputs there that no recording holds.

A tool without such an input has been recorded whole: a replay can run its code again, with everything that it asks
answered from the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_MOST = 8


class ToolInside:
    """The inputs and effects of one running tool that crossed no boundary.

    Args:
        known: Inputs that the tool's code is known to have, in words.
        again: True if a replay runs the tool again: then nothing in it may act on the world.
        free: True if everything inside may happen, by the user's word.

    Attributes:
        unrecorded: The inputs so far, in words, at most eight.
        files: The inputs that are files or folders with recorded content, which a replay can lay out again.
        permit: Called with an act on the world before it happens; raises `Halt` if it may not. None: all may.
    """

    __slots__ = ("_seen", "again", "free", "permit")

    def __init__(self, known: Iterable[str] = (), *, again: bool = False, free: bool = False) -> None:
        self._seen = dict.fromkeys(known, False)
        self.again = again
        self.free = free
        self.permit: Callable[[str], None] | None = None

    def saw(self, what: str, *, kept: bool = False) -> None:
        """Note an input or effect that crossed no boundary; `kept`: on files that are recorded."""
        if what in self._seen:
            self._seen[what] = self._seen[what] and kept
        elif len(self._seen) < _MOST:
            self._seen[what] = kept
        elif not kept and self.files:
            # The list is full, and this input decides that the tool cannot run again.
            del self._seen[self.files[-1]]
            self._seen[what] = False

    def acts(self, what: str, *, kept: bool = False) -> None:
        """Note an act that crossed no boundary. Raises `Halt` if it may not happen."""
        self.saw(what, kept=kept)
        if self.permit is not None:
            self.permit(what)

    @property
    def unrecorded(self) -> list[str]:
        return list(self._seen)

    @property
    def files(self) -> list[str]:
        return [what for what, kept in list(self._seen.items()) if kept]


ENDS: list[Callable[[Any, ToolInside], None]] = []
"""Called with the run when a recorded tool has run, before its outcome is written."""
