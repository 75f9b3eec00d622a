"""The joined events of one process: its calls, draws, child processes and notes.

Arguments are restored and values decoded only on use: a long chat's recording opens in the time that its file takes
to parse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from reenact.core.dataclass import dataclass
from reenact.core.model import codec, delta
from reenact.core.model.blobs import BlobFiller
from reenact.core.model.event import Event, Tree
from reenact.errors import CorruptRecording

Received: TypeAlias = tuple[int, int] | tuple[str, str]
"""A chunk, by its call and its place there; or the end of a wait, by its scope and name."""

RESUMED = "resumed"
"""The kind of a note where a run was resumed; with a call: it was made again."""

SOURCE = "source"
"""The kind of a note about an input that is not recorded; a replay may still be faithful."""

RACE = "race"
"""The kind of a note about an order of threads or processes that is not recorded."""

_KEPT = 32


@dataclass(slots=True)
class CallRecord:
    """One effect with its outcome. `order` and the pieces' orders are places in the run's order.

    Attributes:
        number: The call's number within its process.
        place: The number of places in the order before its question.
        outcome: The entry that answered it (`returned`, `raised`, `cancelled`), or None: still in flight when the
            recording stops.
        pieces: A stream's chunks, as (order, seconds, tree).
        end: The end of a stream: `ended`, `closed`, `cancelled`, an error's tree, or None.
        limits: The time limits in seconds of a call that one of them ended, by name; else None.
        closing: The entry of a stream's end, or None.
        kind: `model`, `tool`, `http` and so on.
        label: `kind:name`, as filters name it.
    """

    number: int
    called: Mapping[str, Tree]
    place: int = 0
    outcome: Mapping[str, Tree] | None = None
    order: int | None = None
    pieces: list[tuple[int, float, Tree]] = field(default_factory=list)
    end: str | Tree | None = None
    ended: float | None = None
    end_order: int | None = None
    limits: Mapping[str, Tree] | None = None
    closing: Mapping[str, Tree] | None = None
    kind: str = field(init=False)
    label: str = field(init=False)

    def __post_init__(self) -> None:
        self.kind = kind = str(self.called["kind"])
        self.label = f"{kind}:{self.called['name']}"

    @property
    def name(self) -> str:
        """The name within its kind."""
        return str(self.called["name"])

    @property
    def scope(self) -> str:
        """The path of its scope."""
        return str(self.called["at"])

    @property
    def ordinal(self) -> int:
        """The number of earlier calls of its label in its scope."""
        return int(self.called["n"])

    @property
    def address(self) -> str:
        """Its identity in the run."""
        return f"{self.scope}/{self.label}#{self.ordinal}"

    @property
    def edited(self) -> bool:
        """True if its answer was edited, for a fork."""
        return bool((self.outcome or {}).get("edited"))

    @property
    def policy(self) -> str:
        """The mode by which a fork's policy gave its answer; empty without one."""
        mode = (self.outcome or {}).get("policy")
        return mode if isinstance(mode, str) else ""

    @property
    def within(self) -> int | None:
        """The number of the enclosing call, or None."""
        number: int | None = self.called["in"]
        return number

    @property
    def began(self) -> float:
        """Seconds since the recording began."""
        return float(self.called["t"])

    @property
    def duration(self) -> float | None:
        """Seconds from question to answer (a stream: to its end), or None while in flight."""
        if self.outcome is None:
            return None
        last = self.ended if self.ended is not None else float(self.outcome["t"])
        return round(last - self.began, 6)

    @property
    def inside(self) -> Mapping[str, Tree]:
        """The entry with what a tool's code used unrecorded: its outcome, or its stream's end."""
        outcome = self.outcome or {}
        return (self.closing or {}) if outcome.get("stream") else outcome

    @property
    def pending(self) -> bool:
        """True if more events may follow: no answer yet, or a stream that has not ended."""
        return self.outcome is None or (bool(self.pieces) and self.end is None)

    @property
    def status(self) -> Literal["ok", "error", "cancelled", "in flight"]:
        """`ok`, `error`, `cancelled`, or `in flight` where the recording stops before its answer."""
        if self.outcome is None:
            return "in flight"
        if self.outcome["event"] == "returned":
            return "error" if isinstance(self.end, dict) else "ok"
        return "error" if self.outcome["event"] == "raised" else "cancelled"


class Log:
    """The events of one process, joined.

    Attributes:
        empty: True without any event: the process was killed before it wrote its header.
        sealed: The last entry as it was written, with its member `signed` if it has one; None: unsealed.
        files: The entries of files, each with the number of calls that had begun before it.
        printed: Text printed inside a call, by its number, each as (number of the text in its file, places in the
            order before it, text).
        void: The places of answers that were cut off in the middle, and asked for again.
        seal_digest: The sum that the seal's signature covers, as 32 hex digits for all lines; empty without a seal,
            and in format 1.
    """

    def __init__(self, events: Iterable[Event], blob: Callable[[str], bytes]) -> None:
        self._blob = blob
        self.empty = True
        self.opened: Mapping[str, Tree] = {}
        self.sealed: Mapping[str, Tree] | None = None
        self.seal_digest = ""
        self.calls: dict[int, CallRecord] = {}
        self.draws: dict[tuple[str, str], list[Tree]] = {}
        self.fired: dict[tuple[str, str], list[int]] = {}
        self.locked: dict[tuple[str, int], tuple[str, int | None]] = {}
        """The takers of locks, by lock and count: the scope's path, and the call around."""
        self.fired_within: list[tuple[int | None, int]] = []
        self.notes: list[Mapping[str, Tree]] = []
        self.printed: dict[int, list[tuple[int, int, str]]] = {}
        self.spawned: dict[str, Mapping[str, Tree]] = {}
        self.snapshots: dict[str, list[Mapping[str, Tree]]] = {}
        self.files: list[tuple[int, Received | None, Mapping[str, Tree]]] = []
        """Each with the number of calls before it, and the last thing that the program received."""
        self._received: Received | None = None
        self.states: dict[tuple[str, int], Tree] = {}
        self.times: list[float] = []
        self.void: list[int] = []
        self._prints = 0
        self.last = 0.0
        self._whole: dict[int, dict[str, Tree]] = {}
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """Add the next event of the file."""
        data = event.data
        self.empty = False
        seconds = data.get("t", 0.0)
        if seconds > self.last:
            self.last = float(seconds)
        handle = _HANDLERS.get(event.event)
        if handle is not None:
            handle(self, data)
        if event.digest:
            self.seal_digest = event.digest

    def _place(self, data: Mapping[str, Tree]) -> int:
        places = self.times
        places.append(float(data["t"]))
        return len(places) - 1

    def _on_opened(self, data: Mapping[str, Tree]) -> None:
        self.opened = data

    def _on_called(self, data: Mapping[str, Tree]) -> None:
        self.calls[data["call"]] = CallRecord(data["call"], data, len(self.times))
        self._received = None

    def _on_returned(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is not None:
            call.outcome, call.order = data, self._place(data)

    def _on_raised(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is None:
            return
        call.limits = data.get("limits")
        if call.outcome is None:
            call.outcome, call.order = data, self._place(data)
        else:
            call.end, call.ended, call.end_order = data["error"], float(data["t"]), self._place(data)
            call.closing = data

    def _on_cancelled(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is None:
            return
        call.limits = data.get("limits")
        if call.outcome is None:
            call.outcome = data
        else:
            call.end, call.ended = "cancelled", float(data["t"])

    def _on_chunk(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is not None:
            self._received = call.number, len(call.pieces)
            call.pieces.append((self._place(data), float(data["t"]), data["value"]))

    def _on_ended(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is not None:
            call.end, call.ended, call.closing = data["event"], float(data["t"]), data
            if data["event"] == "ended":
                # The end of a stream wakes the program; `closed` is the program's own act.
                call.end_order = self._place(data)

    _on_closed = _on_ended

    def _on_drew(self, data: Mapping[str, Tree]) -> None:
        self.draws.setdefault((data["at"], data["source"]), []).append(data["value"])

    def _on_fired(self, data: Mapping[str, Tree]) -> None:
        place = self._place(data)
        self._received = data["at"], data["name"]
        self.fired.setdefault((data["at"], data["name"]), []).append(place)
        self.fired_within.append((data.get("in"), place))

    def _on_locked(self, data: Mapping[str, Tree]) -> None:
        self.locked[data["lock"], data["count"]] = data["at"], data.get("in")

    def _on_spawned(self, data: Mapping[str, Tree]) -> None:
        self.spawned[data["process"]] = data

    def _on_snapshot(self, data: Mapping[str, Tree]) -> None:
        self.snapshots.setdefault(data["name"], []).append(data)

    def _on_files(self, data: Mapping[str, Tree]) -> None:
        received = None if data.get("ended") else self._received
        self.files.append((len(self.calls), received, data))

    def _on_printed(self, data: Mapping[str, Tree]) -> None:
        self._prints += 1
        texts = self.printed.setdefault(data["call"], [])
        texts.append((self._prints, len(self.times), data["text"]))

    def _on_noted(self, data: Mapping[str, Tree]) -> None:
        self.notes.append(data)
        call = self.calls.get(data["call"]) if data["what"] == RESUMED and "call" in data else None
        if call is not None:
            # Its answer so far is void.
            orders = [call.order, *(order for order, _, _ in call.pieces)]
            self.void += [order for order in orders if order is not None]
            call.outcome, call.order, call.pieces = None, None, []
            self.printed.pop(call.number, None)

    def remark_on(self, call: int) -> str:
        """Return the note about a question with an input that is not recorded, or an empty text."""
        return next((str(n["text"]) for n in self.notes if n["what"] == SOURCE and n.get("call") == call), "")

    def _on_sealed(self, data: Mapping[str, Tree]) -> None:
        self.sealed = data

    @property
    def process(self) -> str:
        """The scope path of this process, `main` for the one that the recording began in."""
        return str(self.opened.get("process") or "main")

    def args(self, call: CallRecord) -> dict[str, Tree]:
        """Return a call's arguments as whole trees: parts stored with an earlier call are put back."""
        known = self._whole.get(call.number)
        if known is None:
            known = call.called["args"] if _base(call) is None else self._restore(call)
        return known

    def blob(self, address: str) -> bytes:
        """Return the bytes of an address. Raises CorruptRecording."""
        return self._blob(address)

    def value(self, tree: Tree) -> Any:
        """Return the value of a tree for reading, blobs fetched, with inert views of objects."""
        return codec.view(self.filled(tree))

    def rebuilt(self, tree: Tree) -> Any:
        """Return the value of a tree, blobs fetched and classes restored, for a replay."""
        return codec.rebuild(self.filled(tree))

    def _restore(self, call: CallRecord) -> dict[str, Tree]:
        chain = [call]
        while (base := _base(chain[-1])) is not None and base not in self._whole:
            if base not in self.calls:
                raise CorruptRecording(
                    f"the arguments of call {call.number} cannot be read: they are written against call {base}, "
                    "which is missing"
                )
            chain.append(self.calls[base])
        for link in reversed(chain):
            args = {}
            for name, tree in link.called["args"].items():
                number = delta.base_of(tree)
                args[name] = tree if number is None else self._from_base(link.number, name, tree, number)
            if len(self._whole) >= _KEPT:
                # The chain needs only the newest; older arguments are restored again on use.
                for old in list(self._whole)[: _KEPT // 2]:
                    del self._whole[old]
            self._whole[link.number] = args
        return args

    def _from_base(self, call: int, name: str, tree: Tree, base: int) -> Tree:
        try:
            return delta.restore(tree, self._whole[base][name])
        except (KeyError, ValueError, TypeError):
            raise CorruptRecording(
                f"the argument {name!r} of call {call} cannot be read: it does not fit that of call {base}, "
                "which it is written against"
            ) from None

    def filled(self, tree: Tree) -> Tree:
        """Return a tree with its blobs fetched and put in; the tree itself if it has none.

        Raises CorruptRecording, and TooLarge if they exceed half a gigabyte.
        """
        return BlobFiller(self._blob).tree(tree)


_HANDLERS: Mapping[str, Callable[[Log, Mapping[str, Tree]], None]] = {
    name.removeprefix("_on_"): handle for name, handle in vars(Log).items() if name.startswith("_on_")
}
"""The method of each event."""


def _base(call: CallRecord) -> int | None:
    for tree in call.called["args"].values():
        number = delta.base_of(tree) if type(tree) is dict else None
        if number is not None:
            return number
    return None


def is_exec(path: str) -> bool:
    """Return True for a program that took the place of another one in its process."""
    return path.rpartition("/")[2].startswith("exec:")
