"""The handler that lets every effect go live and writes its question and its outcome.

An outcome is on its way to the disk before the program sees it. Nothing here may harm the agent: a value that does
not serialise leaves a hole in the recording, and a fault of the recorder costs a warning.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reenact.core.boundary import Answer, Handler, Scope, Ticket, ToolInside
from reenact.core.boundary.answer import End
from reenact.core.boundary.file_sensor import RedirectedView
from reenact.core.files.keeping import FileKeeper, Keeping
from reenact.core.model import codec
from reenact.core.model.event import TOOL, Effect, Failure, Outcome, Tree, Value
from reenact.core.model.exact import exact
from reenact.core.model.patch import clean_by
from reenact.core.record.byte_streams import CHUNK, ByteStreams
from reenact.core.record.header import header_line, marked
from reenact.core.record.own import signing
from reenact.core.record.places import Places
from reenact.core.record.printed import PrintRecorder
from reenact.core.record.question import QuestionWriter, number_of
from reenact.core.record.recorded_files import FileRecorder
from reenact.core.record.rewriting import Rewriting
from reenact.core.record.sidecar import SidecarFile
from reenact.core.record.snapshot import Snapshots
from reenact.core.redact import LateSecrets, Redactor
from reenact.core.store.writer import Writer, warn
from reenact.core.system import perf_counter
from reenact.core.trust import Identity

# The lines that are written most, in the shape that `codec.dumps` gives them.
_RETURNED = b'{"event":"returned","call":%d,"value":%b%b'
_STREAM, _WHOLE = b',"stream":true,"t":%.6f}', b',"t":%.6f}'
_UNRECORDED = b',"unrecorded":%b'
_ALL_RECORDED = _UNRECORDED % b"[]"
_FILES = b',"files":%b'
_FIRED = b'{"event":"fired",%b,"in":%b,%b,"t":%.6f}'
_DREW = b'{"event":"drew",%b,"in":%b,%b,"value":%b}'
_END = b'{"event":"%b","call":%d%b,"t":%.6f}'


class Recorder(Handler):
    """Lets every effect go live, and writes all events.

    Args:
        writer: Writes the events.
        redactor: Redacts every line before it is written.
        started: The value of `perf_counter` at the recording's beginning; times are written relative to it.
        first: The number of the first call.
        identity: The home's identity, which marks its own recordings; without one the header has no mark.
    """

    def __init__(
        self,
        writer: Writer,
        redactor: Redactor,
        *,
        started: float | None = None,
        first: int = 1,
        identity: Identity | None = None,
    ) -> None:
        self._writer = writer
        self._redactor = redactor
        self._identity = identity
        self.started = perf_counter() if started is None else started
        self._numbers = itertools.count(first)
        self._questions = QuestionWriter(redactor)
        self._streams = ByteStreams(redactor, writer.blob)
        self._sidecars: list[SidecarFile] = []
        self._warned: set[str] = set()
        self._order = threading.RLock()
        self.asked = 0
        """The number of questions in the file so far."""
        self.alone = True
        """False once another process writes to this recording."""
        self._printed = PrintRecorder(self.stamped)
        self.files: FileRecorder | None = None
        """Records the files of the program, if they are to be recorded."""
        self.snapshots = Snapshots(self.stamped, self._encoder, clean_by(redactor.line), self._hole)

    # -- the handler -----------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        return self.question(effect, scope, ordinal)

    def question(self, effect: Effect, scope: Scope, ordinal: int) -> Ticket:
        """Write a question; return the ticket of the call."""
        number, step = next(self._numbers), None
        try:
            self._printed.flush(scope.call)
            if self.files is not None:
                self.files.settle()
            tracked = scope.run.tracked
            if tracked is not None and (number >= tracked.due or self.snapshots.risky is not None):
                self.snapshots.before(number, effect, scope)
            self.snapshots.last = number
            line, step = self._called(number, effect, scope, ordinal)
            if scope.run.asked is not None:
                scope.run.asked(line, effect.label, number)
        except Exception as error:
            self.failed(error)
        if effect.source is None or effect.kind != TOOL:
            return Ticket(number, step=step, limits=effect.limits)
        return Ticket(number, tool=ToolInside(effect.source.unrecorded), step=step)

    def counted(self, write: Callable[[], bool]) -> int | None:
        """Write a question. Return the number of its step; None if it is not known or not written."""
        # Two threads may ask at once: the file's order is the order of the steps.
        with self._order:
            if not write():
                return None
            self.asked += 1
            return self.asked if self.alone else None

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        try:
            self._printed.flush(ticket.call)
            if self.files is not None:
                self.files.settle()
            self._left(ticket, outcome)
            if self.files is not None:
                self.files.left(ticket.call)
        except Exception as error:
            self.failed(error)

    def chunk(self, ticket: Ticket, value: Any) -> None:
        try:
            self._printed.flush(ticket.call)
            if isinstance(value, bytes):
                self._writer.append(self._streams.chunk(ticket.call or 0, value, self._seconds()))
                return
            unkept: list[str] = []
            self._append(CHUNK % (ticket.call or 0, self._json(unkept, value), self._seconds()))
            if unkept:
                self._note_unkept(unkept, ticket.call)
        except Exception as error:
            self.failed(error)

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        try:
            self._printed.flush(ticket.call)
            if rest := self._streams.end(ticket.call or 0, self._seconds()):
                self._writer.append(rest)
            if isinstance(how, str):
                inside = b"" if ticket.tool is None or how == "cancelled" else _unrecorded(ticket.tool)
                unkept: list[str] = []
                if isinstance(how, End):
                    inside += b',"value":' + self._json(unkept, how.value)
                append = self._append if inside else self._writer.append
                append(_END % (how.encode(), ticket.call or 0, inside, self._seconds()))
                if unkept:
                    self._note_unkept(unkept, ticket.call)
            else:
                self._left(ticket, Failure(how))
        except Exception as error:
            self.failed(error)

    def printed(self, scope: Scope, text: str) -> None:
        if scope.call is not None:
            self._printed.add(scope.call, text)

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        value = live()
        try:
            kept = self._redactor.env(source[4:], value) if source.startswith("env:") and value else value
            at, what = self._redactor.member("at", scope.path), self._redactor.member("source", source)
            data = exact(kept)
            if at is None or what is None or data is None:
                tree = codec.Encoder().encode(kept)
                self.write(
                    {"event": "drew", "at": scope.path, "in": scope.call, "source": source, "value": tree}
                )
                return value
            self._append(_DREW % (at.data, number_of(scope.call), what.data, data))
        except Exception as error:
            self.failed(error)
        return value

    def fire(self, scope: Scope, name: str) -> None:
        try:
            # Scopes and names mostly repeat, and were searched before.
            at, what = self._redactor.member("at", scope.path), self._redactor.member("name", name)
            if at is None or what is None:
                self.write(
                    {"event": "fired", "at": scope.path, "in": scope.call, "name": name, "t": self.seconds()}
                )
            else:
                self._writer.append(_FIRED % (at.data, number_of(scope.call), what.data, self._seconds()))
            if self.files is not None:
                self.files.waited()
        except Exception as error:
            self.failed(error)

    def locked(self, scope: Scope, lock: str, count: int | None) -> None:
        count = int(self._seconds() * 1e6) if count is None else count
        try:
            self.write({"event": "locked", "at": scope.path, "in": scope.call, "lock": lock, "count": count})
        except Exception as error:
            self.failed(error)

    def note(self, what: str, text: str, **more: Tree) -> None:
        self.write({"event": "noted", "what": what, "text": text, "t": self.seconds(), **more})

    def spawned(self, scope: Scope, process: str, command: Sequence[str]) -> None:
        """Write that the program starts a process; its own events go to a file of their own."""
        self.alone = False
        line: dict[str, Tree] = {"event": "spawned", "at": scope.path, "in": scope.call, "process": process}
        self.write({**line, "command": [word[:1000] for word in command], "t": self.seconds()})

    def open(self, header: dict[str, Tree]) -> None:
        """Write the header, the first line."""
        line = header_line(header, self._redactor)
        self._writer.append(line if self._identity is None else marked(line, self._identity))

    def seal(self, ending: dict[str, Tree]) -> None:
        """Write the last line and sync it to the disk."""
        if self.files is not None:
            self.files.finish()
        line = self._redactor.line(codec.dumps({"event": "sealed", **ending, "t": self.seconds()}))
        self._writer.seal(line, None if self._identity is None else signing(self._identity))

    def record_files(self, places: Places, salt: bytes, view: RedirectedView | None = None) -> FileRecorder:
        """Record the files in these folders from now on; `view` shows those of a redirected program."""
        keeping = Keeping(self._writer.blob, self._redactor.raw, salt, self.note)
        self.files = FileRecorder(
            places,
            FileKeeper(keeping),
            lambda line: self._writer.append(codec.dumps(line)),
            lambda: self.snapshots.last or None,
            self.failed,
            now=self.seconds,
            view=view,
        )
        return self.files

    def build_on(self, number: int, scope: str, label: str, args: Mapping[str, Tree]) -> None:
        """Write later arguments as differences from those of a recorded call (in a fork)."""
        self._questions.build_on(number, scope, label, args)

    def sidecar(self, name: str) -> SidecarFile:
        file = SidecarFile(self._writer.path.parent / name, self._redactor, started=self.started)
        self._sidecars.append(file)
        return file

    def snapshot(self, scope: Scope, label: str) -> None:
        self.snapshots.asked(scope, label)

    def secret(self, value: str, *, typed: bool = False) -> str:
        # In this order: a thread that takes a snapshot holds its lock while it waits to write.
        with self.snapshots.lock, self._order:
            token = self._redactor.secret("", value, typed=typed)
            late = self._redactor.late()
            if late is not None:
                try:
                    self._take_out(late)
                except Exception as error:
                    self.failed(error, "a secret stands in what was recorded before it was known")
        return token

    def encode(self, value: Any) -> Tree:
        """Return a value as it would be recorded (the run's output, its arguments)."""
        return self._encoder().encode(value)

    # -- internal --------------------------------------------------------------------------------------------

    def _take_out(self, late: LateSecrets) -> None:
        """Take secrets out of all that was written before they were known."""
        rewriting = Rewriting(late, self._writer.path.parent, self._writer.blob, self._redactor.salt)

        def lines(events: Sequence[bytes]) -> Sequence[bytes]:
            header, *rest = rewriting.lines(events)
            if header is not events[0] and self._identity is not None:
                header = marked(header, self._identity)
            return [header, *rest]

        if self._writer.rewrite(lines):
            # Both hold earlier texts, from which later ones are written as differences.
            self._questions = QuestionWriter(self._redactor)
            self.snapshots.forget()
        for file in self._sidecars:
            file.rewrite(rewriting)
        if self.files is not None:
            self.files.hide(rewriting.without_secret)
        rewriting.remove_blobs()

    def _called(self, number: int, effect: Effect, scope: Scope, ordinal: int) -> tuple[bytes, int | None]:
        unkept: list[str] = []

        def encode(value: Any) -> Tree:
            # Rarely called: most arguments are plain.
            encoder = self._encoder()
            tree = encoder.encode(value)
            unkept.extend(encoder.unkept)
            return tree

        step = None
        with self._order:
            line = self._questions.line(
                effect, scope, number=number, ordinal=ordinal, now=self._seconds(), encode=encode
            )
            if self._writer.append(line):
                self.asked += 1
                step = self.asked if self.alone else None
        if unkept:
            self._note_unkept(unkept, number)
        return line, step

    def _left(self, ticket: Ticket, outcome: Outcome) -> None:
        unkept: list[str] = []
        if isinstance(outcome, Value):
            end = (_STREAM if outcome.stream else _WHOLE) % self._seconds()
            if ticket.tool is not None and not outcome.stream:
                end = _unrecorded(ticket.tool) + end
            self._append(_RETURNED % (ticket.call or 0, self._json(unkept, outcome.value), end))
            if unkept:
                self._note_unkept(unkept, ticket.call)
        elif isinstance(outcome, Failure):
            # Parts of an exception (a response, a frame) may be unkept; its type and text are kept.
            tree = codec.encode_error(outcome.error, self._encoder())
            line_ = {"event": "raised", "call": ticket.call, "error": tree, "t": self.seconds()}
            line_ |= ticket.ended_by(outcome)
            if ticket.tool is not None:
                line_["unrecorded"] = ticket.tool.unrecorded
                if ticket.tool.files:
                    line_["files"] = ticket.tool.files
            self.write(line_)
        else:
            line_ = {"event": "cancelled", "call": ticket.call, "t": self.seconds()}
            self.write(line_ | ticket.ended_by(outcome))

    def _json(self, unkept: list[str], value: Any) -> bytes:
        """Return the JSON of any value; add the types that it could not keep to `unkept`."""
        data = exact(value)
        if data is None:
            encoder = self._encoder()
            data = codec.dumps(encoder.encode(value))
            unkept += encoder.unkept
        return data

    def append(self, line: bytes) -> bool:
        """Write an event that holds no secrets. Return False if writing has stopped."""
        return self._writer.append(line)

    def write(self, line: dict[str, Tree]) -> None:
        """Write an event, without its secrets."""
        self._append(codec.dumps(line))

    def _append(self, line: bytes) -> None:
        # No other thread learns a secret in between.
        with self._order:
            self._writer.append(self._redactor.line(line))

    def stamped(self, line: dict[str, Tree]) -> None:
        """Write an event with the present time."""
        self.write({**line, "t": self.seconds()})

    def _hole(self, text: str) -> None:
        self.note("hole", text)

    def _encoder(self) -> codec.Encoder:
        return codec.Encoder(raw=self._redactor.raw, blob=self._writer.blob)

    def seconds(self) -> float:
        """Return the seconds since the recording began."""
        return round(self._seconds(), 6)

    def _seconds(self) -> float:
        return perf_counter() - self.started

    def _note_unkept(self, unkept: list[str], call: int | None) -> None:
        for name in dict.fromkeys(unkept):
            self.note("hole", f"a value of type {name} could not be kept", call=call)
            if name not in self._warned:
                self._warned.add(name)
                warn(f"a value of type {name.replace(':', '.')} could not be recorded; a replay will say so")

    def failed(self, error: Exception, what: str = "an event was not recorded") -> None:
        """Warn, once, and stamp into the recording that an event could not be written."""
        text = f"{what} ({type(error).__name__}: {error})"
        if text not in self._warned:
            self._warned.add(text)
            warn(text)
        try:
            self.note("hole", text)
        except Exception:
            warn("and the recording could not note it")


def _unrecorded(tool: ToolInside) -> bytes:
    """Return the members for the unrecorded inputs of a tool's code."""
    if not tool.unrecorded:
        return _ALL_RECORDED
    files = _FILES % codec.dumps(tool.files) if tool.files else b""
    return _UNRECORDED % codec.dumps(tool.unrecorded) + files
