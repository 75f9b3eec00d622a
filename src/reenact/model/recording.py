"""A recording as read back: its processes, their calls with both ends, and the steps that a debugger walks.

Built from events alone. Arguments are restored and values decoded only where somebody looks at them: a long chat's
recording opens in the time that its file takes to parse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from reenact.model import codec, delta
from reenact.model.event import Event, Tree
from reenact.model.state import State, state_at

if TYPE_CHECKING:
    from reenact.analyze.anomalies import Anomaly

_KEPT = 32

_VERBS = {
    "anomalies": "reenact.api.diagnosing",
    "restore": "reenact.api.state",
    "resume": "reenact.api.state",
}
"""What can be done with a recording and is built on top of this layer: imported when somebody first does it."""


@dataclass(slots=True)
class CallRecord:
    """One effect with its outcome. `order` and the pieces' orders are places in the order of the run.

    Attributes:
        number: The call's number within its process.
        place: How many places of the order came before its question.
        outcome: The entry that answered it (`returned`, `raised`, `cancelled`), or None: still in flight when the
            recording stops.
        pieces: A stream's chunks, as (order, seconds, tree).
        end: How a stream ended: `ended`, `closed`, `cancelled`, an error's tree, or None.
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

    @property
    def kind(self) -> str:
        """`model`, `tool`, `http` …"""
        return str(self.called["kind"])

    @property
    def name(self) -> str:
        """Which of its kind."""
        return str(self.called["name"])

    @property
    def label(self) -> str:
        """`kind:name`, as filters name it."""
        return f"{self.kind}:{self.name}"

    @property
    def scope(self) -> str:
        """The path of the scope that it was called in."""
        return str(self.called["at"])

    @property
    def ordinal(self) -> int:
        """How many of its label came before it in its scope."""
        return int(self.called["n"])

    @property
    def address(self) -> str:
        """Its identity in the run."""
        return f"{self.scope}/{self.label}#{self.ordinal}"

    @property
    def edited(self) -> bool:
        """Whether somebody put its answer in the place of the recorded one, for a fork."""
        return bool((self.outcome or {}).get("edited"))

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
    def pending(self) -> bool:
        """Whether more may come of it: no answer yet, or a stream that has not ended."""
        return self.outcome is None or (bool(self.pieces) and self.end is None)

    @property
    def status(self) -> str:
        """`ok`, `error`, `cancelled`, or `in flight` where the recording stops before its answer."""
        if self.outcome is None:
            return "in flight"
        if self.outcome["event"] == "returned":
            return "error" if isinstance(self.end, dict) else "ok"
        return "error" if self.outcome["event"] == "raised" else "cancelled"


class Log:
    """The events of one process, joined."""

    def __init__(self, events: Iterable[Event], blob: Callable[[str], bytes]) -> None:
        self._blob = blob
        self.opened: Mapping[str, Tree] = {}
        self.sealed: Mapping[str, Tree] | None = None
        self.calls: dict[int, CallRecord] = {}
        self.draws: dict[tuple[str, str], list[Tree]] = {}
        self.fired: dict[tuple[str, str], list[int]] = {}
        self.fired_within: list[tuple[int | None, int]] = []
        self.notes: list[Mapping[str, Tree]] = []
        self.spawned: dict[str, Mapping[str, Tree]] = {}
        self.snapshots: dict[str, list[Mapping[str, Tree]]] = {}
        self.states: dict[tuple[str, int], Tree] = {}
        self.times: list[float] = []
        self.last = 0.0
        self._whole: dict[int, dict[str, Tree]] = {}
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """One more event, the next of its file."""
        data = event.data
        self.last = max(self.last, float(data.get("t", 0.0)))
        handle = getattr(self, f"_on_{event.event}", None)
        if handle is not None:
            handle(data)

    def _place(self, data: Mapping[str, Tree]) -> int:
        self.times.append(float(data["t"]))
        return len(self.times) - 1

    def _on_opened(self, data: Mapping[str, Tree]) -> None:
        self.opened = data

    def _on_called(self, data: Mapping[str, Tree]) -> None:
        self.calls[data["call"]] = CallRecord(data["call"], data, len(self.times))

    def _on_returned(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is not None:
            call.outcome, call.order = data, self._place(data)

    def _on_raised(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is None:
            return
        if call.outcome is None:
            call.outcome, call.order = data, self._place(data)
        else:
            call.end, call.ended, call.end_order = data["error"], float(data["t"]), self._place(data)

    def _on_cancelled(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is not None and call.outcome is None:
            call.outcome = data
        elif call is not None:
            call.end, call.ended = "cancelled", float(data["t"])

    def _on_chunk(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is not None:
            call.pieces.append((self._place(data), float(data["t"]), data["value"]))

    def _on_ended(self, data: Mapping[str, Tree]) -> None:
        call = self.calls.get(data["call"])
        if call is not None:
            call.end, call.ended = data["event"], float(data["t"])
            if data["event"] == "ended":
                # That nothing more comes wakes the program too; that it stopped reading is its own doing.
                call.end_order = self._place(data)

    _on_closed = _on_ended

    def _on_drew(self, data: Mapping[str, Tree]) -> None:
        self.draws.setdefault((data["at"], data["source"]), []).append(data["value"])

    def _on_fired(self, data: Mapping[str, Tree]) -> None:
        place = self._place(data)
        self.fired.setdefault((data["at"], data["name"]), []).append(place)
        self.fired_within.append((data.get("in"), place))

    def _on_spawned(self, data: Mapping[str, Tree]) -> None:
        self.spawned[data["process"]] = data

    def _on_snapshot(self, data: Mapping[str, Tree]) -> None:
        self.snapshots.setdefault(data["name"], []).append(data)

    def _on_noted(self, data: Mapping[str, Tree]) -> None:
        self.notes.append(data)

    def _on_sealed(self, data: Mapping[str, Tree]) -> None:
        self.sealed = data

    @property
    def process(self) -> str:
        """The scope path of this process, `main` for the one that the recording began in."""
        return str(self.opened.get("process") or "main")

    def args(self, call: CallRecord) -> dict[str, Tree]:
        """A call's arguments as trees, whole: what was stored once with an earlier call is put back."""
        known = self._whole.get(call.number)
        if known is None:
            known = self._restore(call)
        return known

    def value(self, tree: Tree) -> Any:
        """The Python value of a tree, blobs fetched."""
        return codec.decode(self._filled(tree))

    def filled(self, tree: Tree) -> Tree:
        """A tree with its blobs fetched and put in."""
        return self._filled(tree)

    def _restore(self, call: CallRecord) -> dict[str, Tree]:
        chain = [call]
        while (base := _base(chain[-1])) is not None and base not in self._whole:
            chain.append(self.calls[base])
        for link in reversed(chain):
            args = {}
            for name, tree in link.called["args"].items():
                number = delta.base_of(tree)
                args[name] = tree if number is None else delta.restore(tree, self._whole[number][name])
            if len(self._whole) >= _KEPT:
                # The chain goes on from the newest; what is older is restored again when asked for.
                for old in list(self._whole)[: _KEPT // 2]:
                    del self._whole[old]
            self._whole[link.number] = args
        return args

    def _filled(self, tree: Tree) -> Tree:
        if isinstance(tree, dict):
            if "$blob" in tree and len(tree) == 1:
                return codec.Encoder().encode(self._blob(tree["$blob"]))
            return {key: self._filled(item) for key, item in tree.items()} if _has_blob(tree) else tree
        if isinstance(tree, list):
            return [self._filled(item) for item in tree] if _has_blob(tree) else tree
        return tree


@dataclass(frozen=True, slots=True)
class Step:
    """A debugger's view: one effect with its outcome, numbered from 1 over the whole recording."""

    number: int
    log: Log
    call: CallRecord

    @property
    def label(self) -> str:
        """`kind:name` of what it asked."""
        return self.call.label

    @property
    def args(self) -> dict[str, Any]:
        """The arguments, as Python values."""
        return {name: self.log.value(tree) for name, tree in self.log.args(self.call).items()}

    @property
    def output(self) -> Any:
        """What it returned (a stream: its head), or None."""
        outcome = self.call.outcome
        return self.log.value(outcome["value"]) if outcome is not None and "value" in outcome else None

    @property
    def chunks(self) -> list[Any]:
        """A stream's chunks."""
        return [self.log.value(tree) for _, _, tree in self.call.pieces]

    @property
    def error(self) -> BaseException | None:
        """What it raised, or None."""
        outcome = self.call.outcome
        tree = outcome["error"] if outcome is not None and "error" in outcome else self.call.end
        return codec.decode_error(self.log._filled(tree)) if isinstance(tree, dict) else None


class Recording:
    """What one run of an agent left behind.

    Args:
        id: The recording's id.
        logs: Each process's events; the first is the process that the recording began in.
        path: Where it lies, for messages.
        torn: What had to be left out in reading (a torn last line), one sentence each.
    """

    def __init__(self, id: str, logs: list[Log], path: str, torn: tuple[str, ...] = ()) -> None:
        self.id = id
        self.logs = logs
        self.path = path
        self.torn = torn

    @property
    def header(self) -> Mapping[str, Tree]:
        """The first line: format, program, versions."""
        return self.logs[0].opened

    @property
    def name(self) -> str:
        """The name that the run was given."""
        return str(self.header.get("name") or "")

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that the run was given."""
        return tuple(self.header.get("tags") or ())

    @property
    def status(self) -> str:
        """`ok`, `error`, or `unsealed` where the run was cut off (or is still going on)."""
        sealed = self.logs[0].sealed
        return str(sealed["status"]) if sealed is not None else "unsealed"

    @property
    def started(self) -> str:
        """When the run began: ISO 8601, UTC."""
        return str(self.header.get("started") or "")

    @property
    def duration(self) -> float:
        """Seconds from its beginning to its last entry."""
        return max(log.last for log in self.logs)

    @property
    def output(self) -> Any:
        """What the run gave in the end, where it said so."""
        sealed = self.logs[0].sealed
        return self.logs[0].value(sealed["output"]) if sealed is not None and "output" in sealed else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Holes and other remarks stamped into the recording, and what reading had to leave out."""
        return (*(str(note["text"]) for log in self.logs for note in log.notes), *self.torn)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All effects, in the order in which they were asked, numbered from 1."""
        found = [
            (log.opened.get("offset", 0.0) + call.began, log, call)
            for log in self.logs
            for call in log.calls.values()
        ]
        if len(self.logs) > 1:
            found.sort(key=lambda item: item[0])
        return tuple(Step(number, log, call) for number, (_, log, call) in enumerate(found, 1))

    def renew(self) -> None:
        """Number what its logs have taken up since the steps were asked for.

        Numbers stay as they are, except where several processes write: a step of another process may come between.
        """
        known: tuple[Step, ...] | None = self.__dict__.pop("steps", None)
        if known is not None and len(self.logs) == 1:
            (log,) = self.logs
            fresh = islice(log.calls.values(), len(known), None)
            self.__dict__["steps"] = (
                *known,
                *(Step(number, log, call) for number, call in enumerate(fresh, len(known) + 1)),
            )

    def step(self, number: int) -> Step:
        """One step by its number. Raises LookupError where there is none."""
        if not 1 <= number <= len(self.steps):
            raise LookupError(
                f"recording {self.id} has no step {number}: its steps go from 1 to {len(self.steps)}"
            )
        return self.steps[number - 1]

    def state(self, step: int | None = None) -> State:
        """The declared state as it was when a step was asked, as far as snapshots tell; without a step, at the end.
        `state.of(name)` says as of when each value is. Raises LookupError where there is no such step.
        """
        return state_at(self, step)

    def restore(self, step: int | None = None, *names: str) -> State:
        """Put the state of a step back into the living objects that are tracked by the same names; returns what was
        put back. `reenact.restore` says more.
        """
        return _verb("restore")(self, step, *names)  # type: ignore[no-any-return]

    def resume(
        self, step: int | None = None, program: Callable[..., Any] | None = None, /, **changes: Any
    ) -> Recording:
        """Run a program again from a step's state, with other parameters, as a new recording. `reenact.resume` says
        more.
        """
        return _verb("resume")(self, step, program, **changes)  # type: ignore[no-any-return]

    def anomalies(self, **options: Any) -> list[Anomaly]:
        """What is odd about the run, the most suspect step first: `reenact.anomalies` of it, with its options."""
        found: list[Anomaly] = _verb("anomalies")(self, **options)
        return found

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        return f"<Recording {self.id} {self.name!r}: {len(self.steps)} steps, {self.status}>"


def _verb(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(_VERBS[name]), name)
    return found


def _base(call: CallRecord) -> int | None:
    for tree in call.called["args"].values():
        number = delta.base_of(tree)
        if number is not None:
            return number
    return None


def _has_blob(tree: Tree) -> bool:
    if isinstance(tree, dict):
        return "$blob" in tree or any(_has_blob(item) for item in tree.values())
    return isinstance(tree, list) and any(_has_blob(item) for item in tree)
