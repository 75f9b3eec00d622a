"""Record the lines that the program's own code writes to standard error."""

from __future__ import annotations

import os
import re
import threading
from types import FrameType
from typing import Any

from reenact.adapters.stdlib import callers
from reenact.core.boundary import Run, current
from reenact.core.model.event import Tree
from reenact.core.patterns import lazy
from reenact.errors import Divergence
from reenact.run.output import KEPT, TIME, Output, difference, masked, without_bytes

_WRITERS = frozenset({"click", "logging", "loguru", "structlog", "traceback", "typer", "warnings"})
"""Libraries that write for their caller."""

_LINE = lazy(r"(?<=\.py:)\d+")
_FOLDERS = lazy(r"(?<![\w./])/(?:[^\s/:\"']+/)+")
_AT_MOST = 8192
"""Characters of a line without an end that are kept until its end comes."""

_TRACEBACK = "Traceback (most recent call last):"
_CHAINED = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)


class ErrorOutput(Output):
    """Records what the program's own code writes to `sys.stderr`, outside of its recorded calls.

    Libraries write what a replay need not repeat: logs of connections, warnings of the garbage collector. Left out are
    the frames of tracebacks, what a line showed before it was drawn again, and the numbers of this process and its
    threads.
    """

    NAME = "stderr"

    def __init__(self, run: Run | None = None) -> None:
        super().__init__(run)
        self._lines: dict[int, _Lines] = {}

    def _counted(self, text: str, caller: FrameType | None) -> None:
        if _by_program(caller) and self._counts():
            self.heard(text)

    def _counts(self) -> bool:
        scope = current()
        if scope is None:
            return self._run is None
        return scope.call is None and "#" not in scope.path and self._run in (None, scope.run)

    def again(self) -> None:
        """Count from here on, and forget the text so far."""
        super().again()
        self._lines = {}

    def heard(self, text: str) -> None:
        """Count text as written, once its line is whole."""
        thread = threading.get_ident()
        lines = self._lines.get(thread)
        if lines is None:
            lines = self._lines[thread] = _Lines()
        for line in lines.whole(text):
            super().heard(line)

    def _hashed(self, text: str) -> str:
        return _masked(text)

    def tree(self) -> dict[str, Tree]:
        """Return the recorded text, for the recording's seal."""
        for lines in list(self._lines.values()):
            for line in lines.rest():
                super().heard(line)
        return super().tree()


class _Lines:
    """The lines of one thread."""

    def __init__(self) -> None:
        self._begun = ""
        self._held = ""
        self._traced = False

    def whole(self, text: str) -> list[str]:
        """Return the lines that this text ends."""
        *ended, self._begun = (self._begun + text).split("\n")
        if len(self._begun) > _AT_MOST:
            ended.append(self._begun)
            self._begun = ""
        return [f"{line}\n" for each in ended for line in self._kept(each)]

    def rest(self) -> list[str]:
        """Return what is left at the end."""
        left = self.whole("\n") if self._begun else []
        held, self._held = self._held, ""
        return [*left, *([f"{held}\n"] if held else [])]

    def _kept(self, line: str) -> list[str]:
        """Return the lines to keep: of a chain of tracebacks the last exception."""
        if line.endswith(_TRACEBACK):
            self._traced = True
            return []
        if self._traced:
            if line and not line[0].isspace():
                self._traced, self._held = False, _numberless(line)
            return []
        if self._held:
            if not line:
                return []
            held, self._held = self._held, ""
            self._traced = line in _CHAINED
            return [] if self._traced else [held, *self._kept(line)]
        return [_numberless(line.rpartition("\r")[2])]


def _numberless(line: str) -> str:
    for number in (threading.get_ident(), threading.get_native_id(), os.getpid()):
        if str(number) in line:
            line = re.sub(rf"(?<!\w){number}(?!\w)", "…", line)
    return line


def _masked(text: str) -> str:
    """Mask what differs between two runs in the lines of logs and warnings."""
    return masked(TIME.sub("…", _LINE.sub("…", _FOLDERS.sub("…/", text))))


def _by_program(frame: FrameType | None) -> bool:
    """Return True if the program writes, itself or through a library that writes for it.

    The interpreter writes the traceback that ends a program, without a frame.
    """
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _WRITERS:
        frame = frame.f_back
    return frame is not None and callers.kind_of(frame) == callers.OWN


def compare_errors(
    process: str, recorded: Any, actual: dict[str, Tree], *, silent: bool = False
) -> tuple[Divergence | None, str]:
    """Compare what a replay wrote to standard error with what was recorded.

    Return the difference and the applied rule. Times of day, durations, memory addresses, folders and the numbers of
    lines of source may differ.

    `actual` has its secrets removed. With `silent` any text will do, which is a rule as well.
    """
    if not isinstance(recorded, dict):
        return None, ""
    old, new = _masked(str(recorded.get("text"))), _masked(str(actual["text"]))
    whole = recorded.get("length", 0) <= KEPT and actual["length"] <= KEPT
    if old == new and (whole or recorded.get("sha256") == actual["sha256"]):
        return None, ""
    if silent:
        return None, "ignore stderr"
    if rule := without_bytes(ErrorOutput.NAME, recorded, actual):
        return None, rule
    if recorded.get("threads") or actual["threads"]:
        if not whole:
            return None, f"ignore stderr (threads, more than {KEPT // 1024} KB)"
        if sorted(old.splitlines()) == sorted(new.splitlines()):
            return None, "ignore the order of lines in stderr (threads)"
    return difference(process, ErrorOutput.NAME, old, new), ""
