"""Write the parent's part of a fork: references, in the order of the fork."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reenact.core.boundary import Answer
from reenact.core.model import codec, delta
from reenact.core.model.event import Tree, Value
from reenact.core.model.log import CallRecord, Log
from reenact.core.record.recorder import Recorder
from reenact.core.replay.watch import Edit
from reenact.core.system import perf_counter
from reenact.run.fork.event_lines import EventLines


class Sharing:
    """Writes the parent's part of a fork.

    Args:
        recorder: Writes the new events.
        lines: The line numbers of the parent's file.
        log: The parent's process.
        write: Writes a reference to a line of the parent's; returns False if writing has stopped.

    Attributes:
        written: The parent's calls whose questions are in the child, with the numbers of their steps there.
    """

    def __init__(self, recorder: Recorder, lines: EventLines, log: Log, write: Callable[[int], bool]) -> None:
        self.written: dict[int, int | None] = {}
        self._shared: set[int] = set()
        self._least = 0.0
        self._recorder = recorder
        self._lines = lines
        self._log = log
        self._write = write

    def share(self, line: int) -> bool:
        """Refer to a parent's line that happens again. Return False if writing has stopped."""
        self._shared.add(line)
        written = self._write(line)
        t = self._lines.time(line)
        if t is not None:
            # Later times continue from there; a line of files may come late.
            self._recorder.started = perf_counter() - max(t, self._least)
        return written

    def go_on(self, t: float) -> None:
        """Write nothing with an earlier time from here on: the parent's processes had ended by then."""
        self._least = max(t, self._recorder.seconds())
        self._recorder.started = perf_counter() - self._least

    def _aside(self, line: int) -> None:
        """Write a line that comes along with others, once."""
        if line not in self._shared:
            self.share(line)

    def question(self, number: int) -> None:
        """Write a question of the parent's, once."""
        if number in self.written:
            return
        for line in self._lines.before.get(number, ()):
            self._aside(line)
        call, args = self._log.calls[number], self._log.args(self._log.calls[number])
        bases = {delta.base_of(tree) for tree in call.called["args"].values()}
        if bases - {None} <= self.written.keys():
            step = self._recorder.counted(lambda: self.share(self._lines.called[number]))
        else:
            # The line that it refers to has not happened here.
            whole = codec.dumps({**call.called, "args": args})
            step = self._recorder.counted(lambda: self._recorder.append(whole))
        self.written[number] = step
        self._share_holes(number, self._lines.outcome.get(number))

    def files_before(self, number: int) -> None:
        """Write what became of files before a call that is made now, and not answered."""
        for line in self._lines.files_before(number):
            self._aside(line)

    def came(self, answer: Answer, number: int, piece: int | None) -> None:
        """Write down that an outcome, a chunk or an end of the parent's reaches the program."""
        lines = self._lines
        chunks, end = lines.pieces.get(number, []), lines.end.get(number)
        if piece is None:
            self.ran(number)
        elif piece < len(chunks):
            self._share_printed(number, chunks[piece])
            self.share(chunks[piece])
        elif end is not None and answer.end != "closed":
            self._share_printed(number, end)
            self.share(end)
        if piece is not None and number in lines.holes:
            self._share_holes(number, next(iter([*chunks, end][piece + 1 :]), None))
        # That the program stops reading is no event of its own here.
        count = 0 if piece is None else piece + 1
        streams = isinstance(answer.outcome, Value) and answer.outcome.stream
        if streams and answer.end == "closed" and count == len(chunks) and end is not None:
            self.share(end)

    def ran(self, number: int) -> None:
        """Write down that a call has ended: all that is recorded inside of it, and its outcome."""
        lines = self._lines
        for line in sorted([*lines.inside(number), *self._printed(number, lines.outcome.get(number))]):
            inner = lines.call_at(line)
            if inner is None:
                self._aside(line)
            else:
                self.question(inner)
        if number in lines.outcome:
            self.share(lines.outcome[number])
        if number in lines.holes:
            self._share_holes(number, next(iter(lines.pieces.get(number, [])), lines.end.get(number)))

    def _printed(self, number: int, before: int | None) -> list[int]:
        """Return the lines of text that a call printed before a line of its own."""
        lines = self._lines.printed.get(number, [])
        return lines if before is None else [line for line in lines if line < before]

    def _share_holes(self, number: int, before: int | None) -> None:
        """Write the remarks on missing parts of a call that stand before a line of its own."""
        for line in self._lines.holes.get(number, ()):
            if before is None or line < before:
                self._aside(line)

    def _share_printed(self, number: int, before: int) -> None:
        for line in self._printed(number, before):
            self._aside(line)

    def edited(self, call: CallRecord, edit: Edit, piece: int | None) -> None:
        """Write an edited answer."""
        line: dict[str, Tree]
        if piece is not None and piece < len(edit.pieces or ()):
            line = {"event": "chunk", "value": (edit.pieces or ())[piece]}
        elif piece is not None:
            line = {"event": "ended"}
        elif edit.error is not None:
            line = {"event": "raised", "error": edit.error}
        else:
            line = {"event": "returned", "value": edit.value}
            if edit.pieces is not None:
                line["stream"] = True
        outcome: Mapping[str, Tree] = call.outcome or {}
        self.go_on(float(outcome.get("t", 0.0)))
        t = self._recorder.seconds()
        self._recorder.write({**line, "call": call.number, "edited": True, "t": round(t, 6)})
