"""Record the program's standard output beside the recording, and compare it after a replay."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FrameType
from typing import Any

from reenact.adapters.stdlib import callers
from reenact.adapters.stream_lock import StreamLock
from reenact.core.boundary import Run, current
from reenact.core.model.event import Tree
from reenact.core.patterns import lazy
from reenact.errors import ABSENT, Departure, Divergence, Mismatch
from reenact.run.stream_bytes import StreamBytes

KEPT = 64 * 1024
"""The maximum number of characters of output kept as text. The rest is compared by its hash."""

_SHOWN = 3
_DURATION = lazy(r"\b\d+(?:\.\d+)? ?(?:s|ms|us|µs|ns|secs?|seconds?|minutes?)\b")
TIME = lazy(r"(?<!\d)(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?!\d)")
_ADDRESS = lazy(r"\b0x[0-9a-f]{6,}\b")
ESCAPE = lazy(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
"""A control sequence of a terminal."""
_DRAWN = lazy(r"[\u2500-\u259f]")
_LAID_OUT = lazy(r"[\x1b\r\u2500-\u259f…]")
"""The marks of an output laid out for a terminal: colours, frames, bars, cut texts."""


_ANY_TIME = nullcontext()


class Output:
    """Records `sys.stdout.write`. The stream stays the same object.

    Attributes:
        NAME: The name of the stream in `sys` and in the seal.

    Args:
        run: Count only what the code of this run prints; None: all that the process prints.
    """

    NAME = "stdout"

    def __init__(self, run: Run | None = None) -> None:
        self._run = run
        self._stream: Any = None
        self._hash = hashlib.sha256()
        self._length = 0
        self._kept: list[str] = []
        self._left = KEPT
        self._threads = self._has_bytes = self._disordered = False
        self._turns = StreamLock(self.NAME)
        self._below: StreamBytes | None = None
        self.pid = os.getpid()
        self.write: Callable[[str], Any] = len
        """The stream's own `write`, which is not recorded."""

    def install(self) -> None:
        """Begin to listen."""
        stream = getattr(sys, self.NAME)
        try:
            self.write = stream.write
            stream.write = self._write
        except (AttributeError, TypeError):
            # Without a standard output, or with one that cannot be listened to, nothing is compared.
            return
        self._stream = stream
        self._below = StreamBytes.of(stream, self)

    def uninstall(self) -> None:
        """Stop listening."""
        stream, self._stream = self._stream, None
        if self._below is not None:
            self._below.uninstall()
        if stream is not None and stream.write == self._write:
            # Unless another listener has replaced `write`, and calls this one: then it stays, and counts nothing.
            stream.write = self.write

    def moved(self) -> None:
        """Go on in this process, a copy of the one that began."""
        self.pid = os.getpid()
        self._turns.at_fork()

    def again(self) -> None:
        """Count from here on, and forget the text so far."""
        self._hash, self._length, self._kept, self._left = hashlib.sha256(), 0, [], KEPT
        self._threads = self._has_bytes = self._disordered = False

    def print(self, text: str) -> None:
        """Write the text that a call printed which did not run, as the program's, in any order."""
        self._disordered = True
        self.write(text)
        self.heard(text)

    def _write(self, text: str) -> Any:
        caller = sys._getframe().f_back
        with self.turn(caller):
            count = self.write(text)
            if isinstance(text, str):
                self._counted(text, caller)
        return count

    def turn(self, caller: FrameType | None) -> AbstractContextManager[Any]:
        """Return the turn in which this code writes: among threads, a recorded one."""
        scope = current()
        if scope is None or self._run not in (None, scope.run):
            self._disordered = True
            return _ANY_TIME
        # At the interpreter's end, a thread that has the lock never releases it.
        if not scope.run.threaded or sys.is_finalizing():
            return _ANY_TIME
        if callers.program(caller) and self.pid == os.getpid():
            turn: AbstractContextManager[Any] = self._turns
            return turn
        self._disordered = True
        return _ANY_TIME

    def passed(self, text: str, caller: FrameType | None) -> None:
        """Count text that this code has written as bytes, past the text stream."""
        self._has_bytes = True
        self._counted(text, caller)

    def _counted(self, text: str, caller: FrameType | None) -> None:
        scope = current()
        if scope is not None and scope.call is not None and (self._run is None or scope.run is self._run):
            scope.run.handler.printed(scope, text)
        if self._run is None or (self._stream is not None and scope is not None and scope.run is self._run):
            self.heard(text)

    def heard(self, text: str) -> None:
        """Count text as written."""
        if self.pid != os.getpid():
            return
        self._hash.update(self._hashed(text).encode("utf-8", "surrogatepass"))
        self._length += len(text)
        self._threads |= threading.current_thread() is not threading.main_thread()
        if self._left > 0:
            self._kept.append(text[: self._left])
            self._left -= len(text)

    def _hashed(self, text: str) -> str:
        """Return the part of the text that its hash covers."""
        return text

    def tree(self) -> dict[str, Tree]:
        """Return the recorded output, for the recording's seal."""
        if self._below is not None:
            self.heard(self._below.rest())
        return {
            "sha256": self._hash.hexdigest(),
            "length": self._length,
            "text": "".join(self._kept),
            "threads": self._threads,
            "width": _width(),
            "bytes": self._has_bytes,
            "ordered": not (self._disordered or self._turns.given_up),
        }


def compare(
    process: str, recorded: Any, actual: dict[str, Tree], *, silent: bool = False
) -> tuple[Divergence | None, str]:
    """Compare a replay's output with the recorded one.

    Return the difference and the applied rule.

    `actual` has its secrets removed. With `silent` any output will do, which is a rule as well.
    """
    if not isinstance(recorded, dict):
        return None, ""
    old, new = str(recorded.get("text")), str(actual["text"])
    whole = recorded.get("length", 0) <= KEPT and actual["length"] <= KEPT
    if old == new and (whole or recorded.get("sha256") == actual["sha256"]):
        return None, ""
    if silent:
        return None, "ignore stdout"
    if rule := without_bytes(Output.NAME, recorded, actual):
        return None, rule
    if rule := _lenient(recorded, actual, old, new, whole=whole):
        return None, rule
    return difference(process, Output.NAME, old, new), ""


def any_order(recorded: dict[str, Any], actual: dict[str, Tree]) -> bool:
    """Return True if threads wrote, and some of it without a turn."""
    return bool(recorded.get("threads") or actual["threads"]) and not (
        recorded.get("ordered") and actual["ordered"]
    )


def without_bytes(name: str, recorded: dict[str, Any], actual: dict[str, Tree]) -> str:
    """Return the rule for bytes, of which an earlier version recorded only the text."""
    return f"ignore {name} (bytes were not recorded)" if actual["bytes"] and "bytes" not in recorded else ""


def difference(process: str, name: str, old: str, new: str) -> Divergence:
    """Return the divergence of two texts of a stream, with the first lines that differ."""
    detail = "every answer was the recorded one, but the output differs"
    if old == new:
        detail += f" after the first {KEPT // 1024} KB"
    differing = _differing(name, old.splitlines(), new.splitlines())
    hint = f"to leave it out of the comparison: ignore=['{name}']"
    return Divergence(Departure.CHANGED, f"{process}/{name}", None, differing, detail, hint)


def _lenient(recorded: dict[str, Any], actual: dict[str, Tree], old: str, new: str, *, whole: bool) -> str:
    """Return the rule by which two different outputs count as equal, or an empty text."""
    lines = masked(old).splitlines(), masked(new).splitlines()
    if whole and lines[0] == lines[1]:
        return "ignore durations and memory addresses in stdout"
    timeless = [[TIME.sub("…", line) for line in side] for side in lines]
    if whole and timeless[0] == timeless[1]:
        # Libraries read the real clock for the lines of their logs.
        return "ignore times of day in stdout"
    if whole and any_order(recorded, actual) and sorted(lines[0]) == sorted(lines[1]):
        return "ignore the order of lines in stdout (threads)"
    if recorded.get("width") == actual["width"]:
        return ""
    # On another terminal, or none, a program may lay out its output differently; its words should be the same.
    terminals = f"recorded on {_terminal(recorded.get('width'))}, replayed on {_terminal(actual['width'])}"
    if whole and _words(old) == _words(new):
        return f"ignore the layout of stdout ({terminals})"
    if _LAID_OUT.search(old) or _LAID_OUT.search(new):
        return f"ignore stdout ({terminals})"
    return ""


def _words(text: str) -> list[str]:
    return masked(_DRAWN.sub(" ", ESCAPE.sub("", text))).split()


def _terminal(width: Any) -> str:
    return f"a terminal of {width} columns" if width else "no terminal"


def masked(text: str) -> str:
    """Mask texts that differ in every run: pytest's `in 1.26s`, an object's address."""
    return _ADDRESS.sub("0x…", _DURATION.sub("… s", text))


def _differing(name: str, old: list[str], new: list[str]) -> tuple[Mismatch, ...]:
    from difflib import SequenceMatcher  # noqa: PLC0415 - most outputs are equal

    found = []
    then, now = ([TIME.sub("…", masked(line)) for line in side] for side in (old, new))
    if then == now:
        then, now = old, new
    for kind, a, b, c, d in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for place in range(max(b - a, d - c)):
            left = old[a + place] if a + place < b else ABSENT
            right = new[c + place] if c + place < d else ABSENT
            found.append(Mismatch(f"{name} line {a + place + 1}", left, right))
            if len(found) == _SHOWN:
                return tuple(found)
    return tuple(found)


def _width() -> int:
    """Return the width of the output's terminal in columns; 0 without one."""
    stream = sys.__stdout__
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream is not None and stream.isatty() else 0
    except (OSError, ValueError):
        return 0
