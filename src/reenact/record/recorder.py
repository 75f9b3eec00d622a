"""The handler that lets every effect go live and writes both of its ends down.

What an effect gave is on its way to the disk before the program sees it. Nothing here may harm the agent: a value
that does not serialise leaves a hole that says so, and a bug of ours a warning.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from reenact.boundary import Scope, Ticket
from reenact.model import codec, delta
from reenact.model.event import Cancelled, Effect, Failure, Outcome, Tree, Value
from reenact.redact import Redactor, StreamRedactor
from reenact.store.writer import Writer, warn

_BASES = 256
_WORTH_SHARING = 512
_SHORT = 1024


class Recorder:
    """Answers nothing, writes everything.

    Args:
        writer: Where the events go.
        redactor: What every line passes before it is written.
        started: The value of `perf_counter` at the recording's beginning; times are written relative to it.
        first: The number of the first call.
    """

    def __init__(
        self, writer: Writer, redactor: Redactor, *, started: float | None = None, first: int = 1
    ) -> None:
        self._writer = writer
        self._redactor = redactor
        self.started = perf_counter() if started is None else started
        self._numbers = itertools.count(first)
        self._bases: dict[str, tuple[int, dict[str, delta.Arg]]] = {}
        self._soiled: dict[str, set[str]] = {}
        self._clean: dict[bytes, bytes] = {}
        self._streams: dict[int, StreamRedactor] = {}
        self._warned: set[str] = set()

    # -- the handler -----------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Ticket:
        number = next(self._numbers)
        try:
            self._called(number, effect, scope, ordinal)
        except Exception as error:
            self._failed(error)
        return Ticket(number)

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        try:
            self._left(ticket, outcome)
        except Exception as error:
            self._failed(error)

    def chunk(self, ticket: Ticket, value: Any) -> None:
        try:
            line: dict[str, Tree] = {"event": "chunk", "call": ticket.call}
            encoder = self._encoder()
            if isinstance(value, bytes):
                encoder.raw = None
                line["value"] = encoder.encode(self._stream(ticket).chunk(value))
                line["t"] = self._now()
                self._writer.append(codec.dumps(line))
                return
            line["value"] = encoder.encode(value)
            line["t"] = self._now()
            self._write(line)
            self._note_unkept(encoder, ticket.call)
        except Exception as error:
            self._failed(error)

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        try:
            stream = self._streams.pop(ticket.call or 0, None)
            if stream is not None and (rest := stream.end()):
                # What the last chunk left out, because it might have been the beginning of a secret.
                value = codec.Encoder(blob=self._writer.blob).encode(rest)
                self._writer.append(
                    codec.dumps({"event": "chunk", "call": ticket.call, "value": value, "t": self._now()})
                )
            if isinstance(how, str):
                self._write({"event": how, "call": ticket.call, "t": self._now()})
            else:
                self._left(ticket, Failure(how))
        except Exception as error:
            self._failed(error)

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        value = live()
        try:
            kept = self._redactor.env(source[4:], value) if source.startswith("env:") and value else value
            tree = codec.Encoder().encode(kept)
            self._write(
                {"event": "drew", "at": scope.path, "in": scope.call, "source": source, "value": tree}
            )
        except Exception as error:
            self._failed(error)
        return value

    def fire(self, scope: Scope, name: str) -> None:
        try:
            self._write(
                {"event": "fired", "at": scope.path, "in": scope.call, "name": name, "t": self._now()}
            )
        except Exception as error:
            self._failed(error)

    def due(self, scope: Scope, name: str) -> None:
        return None

    def note(self, what: str, text: str, **more: Tree) -> None:
        """Stamp something into the recording that a careful reader must know."""
        self._write({"event": "noted", "what": what, "text": text, "t": self._now(), **more})

    def spawned(self, scope: Scope, process: str, command: Sequence[str]) -> None:
        """The program starts a process, whose own events go to a file of their own."""
        line: dict[str, Tree] = {"event": "spawned", "at": scope.path, "in": scope.call, "process": process}
        self._write({**line, "command": [word[:1000] for word in command], "t": self._now()})

    def read_on(self, answer: object) -> BaseException:
        raise AssertionError("nothing is served while recording")

    def stuck(self, answer: object) -> BaseException:
        raise AssertionError("nothing is served while recording")

    def open(self, header: dict[str, Tree]) -> None:
        """Write the header, the first line."""
        self._write({"event": "opened", **header})

    def seal(self, ending: dict[str, Tree]) -> None:
        """Write the last line and sync it to the disk."""
        self._write({"event": "sealed", **ending, "t": self._now()})
        self._writer.close()

    def build_on(self, number: int, scope: str, label: str, args: Mapping[str, Tree]) -> None:
        """Write the arguments of later calls against those of a call that the recording has already (a fork's)."""
        known = number, {name: delta.Arg.of(tree) for name, tree in args.items()}
        self._bases[f"{scope}|{label}"] = self._bases[label] = known

    def encode(self, value: Any) -> Tree:
        """A value as it would be recorded (the run's output, its arguments)."""
        return self._encoder().encode(value)

    # -- within ----------------------------------------------------------------------------------------------

    def _called(self, number: int, effect: Effect, scope: Scope, ordinal: int) -> None:
        encoder = self._encoder()
        args = {name: delta.Arg.of(encoder.encode(value)) for name, value in effect.args.items()}
        label = effect.label
        line: dict[str, Tree] = {
            "event": "called",
            "call": number,
            "in": scope.call,
            "at": scope.path,
            "kind": effect.kind,
            "name": effect.name,
            "n": ordinal,
            "args": None,
            "t": self._now(),
        }
        key = f"{scope.path}|{label}"
        base, earlier = self._bases.get(key) or self._bases.get(label) or (0, {})
        for name in self._soiled.get(label, ()):
            if name in args:
                args[name] = self._cleaned(name, args[name])
        line["args"] = _against(args, earlier, base)
        data = codec.dumps(line)
        clean = self._redactor.line(data)
        if clean is not data:
            # Secrets mostly stay where they are (a header). From now on these arguments are cleaned beforehand, and
            # shared with later calls like any other.
            cleaned = {name: self._cleaned(name, arg) for name, arg in args.items()}
            self._soiled.setdefault(label, set()).update(n for n in args if cleaned[n] is not args[n])
            args = cleaned
            line["args"] = _against(args, earlier, base)
            data = codec.dumps(line)
            clean = self._redactor.line(data)
        if clean is not data:
            # Rare, and no time to be clever: write it whole, and redact what later calls build upon.
            line["args"] = {name: arg.whole() for name, arg in args.items()}
            clean = self._redactor.line(codec.dumps(line))
            args = {name: delta.Arg.of(tree) for name, tree in codec.loads(clean)["args"].items()}
        self._writer.append(clean)
        if len(data) > _WORTH_SHARING or base:
            if len(self._bases) > _BASES:
                self._bases.clear()
            self._bases[key] = self._bases[label] = (number, args)
        self._note_unkept(encoder, number)

    def _cleaned(self, name: str, arg: delta.Arg) -> delta.Arg:
        """An argument without its secrets; the same object where it has none. Part by part, since most parts of one
        (the headers of a request) are those of the call before.
        """
        whole = arg.whole()
        if not isinstance(whole, dict):
            clean = self._without_secrets(name, whole)
            return arg if clean is whole else delta.Arg.of(clean)
        parts = {key: self._without_secrets(key, part) for key, part in whole.items()}
        return arg if all(parts[key] is part for key, part in whole.items()) else delta.Arg.of(parts)

    def _without_secrets(self, name: str, tree: Tree) -> Tree:
        data = codec.dumps({name: tree})
        clean = self._clean.get(data)
        if clean is None:
            clean = self._redactor.line(data)
            if len(data) < _SHORT:
                if len(self._clean) > _BASES:
                    self._clean.clear()
                self._clean[data] = clean
        return tree if clean == data else next(iter(codec.loads(clean).values()))

    def _left(self, ticket: Ticket, outcome: Outcome) -> None:
        encoder = self._encoder()
        line: dict[str, Tree] = {"event": "", "call": ticket.call}
        if isinstance(outcome, Value):
            line["event"] = "returned"
            line["value"] = encoder.encode(outcome.value)
            if outcome.stream:
                line["stream"] = True
        elif isinstance(outcome, Failure):
            line["event"] = "raised"
            line["error"] = codec.encode_error(outcome.error, encoder)
            # What an exception drags along (a response, a frame) may be unkept; its type and text are not.
            encoder.unkept.clear()
        elif isinstance(outcome, Cancelled):
            line["event"] = "cancelled"
        line["t"] = self._now()
        self._write(line)
        self._note_unkept(encoder, ticket.call)

    def _write(self, line: dict[str, Tree]) -> None:
        self._writer.append(self._redactor.line(codec.dumps(line)))

    def _encoder(self) -> codec.Encoder:
        return codec.Encoder(raw=self._redactor.raw, blob=self._writer.blob)

    def _stream(self, ticket: Ticket) -> StreamRedactor:
        number = ticket.call or 0
        stream = self._streams.get(number)
        if stream is None:
            stream = self._streams[number] = self._redactor.stream()
        return stream

    def _now(self) -> float:
        return round(perf_counter() - self.started, 6)

    def _note_unkept(self, encoder: codec.Encoder, call: int | None) -> None:
        for name in dict.fromkeys(encoder.unkept):
            self.note("hole", f"a value of type {name} could not be kept", call=call)
            if name not in self._warned:
                self._warned.add(name)
                warn(f"a value of type {name.replace(':', '.')} could not be recorded; a replay will say so")

    def _failed(self, error: Exception) -> None:
        text = f"an event was not recorded ({type(error).__name__}: {error})"
        if text not in self._warned:
            self._warned.add(text)
            warn(text)
        try:
            self.note("hole", text)
        except Exception:
            warn("and the recording could not be told so")


def _against(args: dict[str, delta.Arg], earlier: dict[str, delta.Arg], base: int) -> dict[str, Tree]:
    """The arguments as they are written: against those of an earlier call, as far as it had them."""
    return {
        name: arg.against(earlier[name], base) if name in earlier else arg.whole()
        for name, arg in args.items()
    }
