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
from reenact.run.output import KEPT, TIME, Output, any_order, difference, masked, without_bytes

_WRITERS = frozenset({"click", "logging", "loguru", "structlog", "traceback", "typer", "warnings"})
"""Libraries that write for their caller."""

_LINE = lazy(r"(?<=\.py:)\d+|(?<=Exception in thread Thread-)\d+")
_FOLDERS = lazy(r"(?<![\w./])/(?:[^\s/:\"']+/)+")
_AT_MOST = 8192
"""The maximum number of kept characters of an unfinished line."""

_TRACEBACK = "Traceback (most recent call last):"
_OF_GROUP = lazy(r"^ +(?:\| )+(?=\S)")
"""The mark before an error of a group; its frames have more spaces."""
_END_OF_GROUP = lazy(r"^ +\+-{30,}$")
_CHAINED = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)


class ErrorOutput(Output):
    """Records the lines that the program's own code writes to `sys.stderr`, outside of calls.

    The output of libraries is not recorded, since a replay need not repeat it: logs of connections, warnings of the
    garbage collector. Frames of tracebacks, earlier states of a line that is drawn again, and the numbers of this
    process and its threads are left out. The error that ends the program, or one of its threads, counts as written by
    the program.
    """

    NAME = "stderr"

    def __init__(self, run: Run | None = None) -> None:
        super().__init__(run)
        self._lines: dict[tuple[int, str], _Lines] = {}
        self._ended = False

    def _counted(self, text: str, caller: FrameType | None) -> None:
        ends = _ends(caller)
        if (ends or _by_program(caller)) and self._counts():
            self._ended |= ends
            self.heard(text)

    def _counts(self) -> bool:
        scope = current()
        if scope is None:
            return self._run is None
        return scope.call is None and "#" not in scope.path and self._run in (None, scope.run)

    def again(self) -> None:
        """Count from here on, and forget the text so far."""
        super().again()
        self._lines, self._ended = {}, False

    def heard(self, text: str) -> None:
        """Count text as written, once its line is whole."""
        # Number and name: the number alone may be that of an ended thread, in one run and not in the other.
        thread = threading.get_ident(), threading.current_thread().name
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
        told = self._ended or any(lines.errors for lines in self._lines.values())
        return {**super().tree(), "errors": told}


class _Lines:
    """The lines of one thread.

    Attributes:
        errors: True if errors were kept that earlier versions left out: those of groups, and before another traceback.
    """

    __slots__ = ("_begun", "_held", "_traced", "errors")

    def __init__(self) -> None:
        self.errors = False
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
            held, self._held, self._traced = self._held, "", True
            self.errors |= bool(held)
            return [held] if held else []
        if self._traced:
            if _OF_GROUP.match(line):
                self.errors = True
                return [_numberless(line)]
            self._traced = _END_OF_GROUP.match(line) is None
            if self._traced and line and not line[0].isspace():
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
    """Mask the parts of lines of logs and warnings that differ between two runs."""
    return masked(TIME.sub("…", _LINE.sub("…", _FOLDERS.sub("…/", text))))


def _ends(frame: FrameType | None) -> bool:
    """Return True if the interpreter writes the error that ends the program or a thread.

    It writes without a frame at the end of the program, and from `threading` at the end of a thread; from Python 3.13
    on, through `traceback`.
    """
    while frame is not None and frame.f_globals.get("__name__") == "traceback":
        frame = frame.f_back
    if frame is None or frame.f_code.co_name != "invoke_excepthook":
        return frame is None
    return getattr(frame.f_locals.get("thread"), "_reenact_counts", False)


def _by_program(frame: FrameType | None) -> bool:
    """Return True if the program writes, itself or through a library that writes for it."""
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
    if actual["errors"] and "errors" not in recorded:
        return None, "ignore stderr (errors that end a program or a thread were not recorded)"
    if recorded.get("threads") or actual["threads"]:
        if not whole:
            return None, f"ignore stderr (threads, more than {KEPT // 1024} KB)"
        if any_order(recorded, actual) and sorted(old.splitlines()) == sorted(new.splitlines()):
            return None, "ignore the order of lines in stderr (threads)"
    return difference(process, ErrorOutput.NAME, old, new), ""
