"""A recording read back: its processes and its steps, built from events alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from reenact.core.dataclass import dataclass
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.log import RACE, RESUMED, SOURCE, CallRecord, Log
from reenact.errors import CorruptRecording, StepNotFound

if TYPE_CHECKING:
    from reenact.core.query.state import State

_VERBS = {
    "anomalies": "reenact.verbs.diagnose",
    "restore": "reenact.run.api.state",
    "resume": "reenact.run.api.state",
}
"""Methods built on higher layers: imported at the first call."""


@dataclass(frozen=True, slots=True)
class Step:
    """A debugger's view: one effect with its outcome, numbered from 1 over the whole recording."""

    number: int
    log: Log
    call: CallRecord

    def __repr__(self) -> str:
        """Return one line: number, effect and outcome."""
        return f"<Step {self.number} {self.label!r}: {_ending(self.call)}>"

    @property
    def label(self) -> str:
        """`kind:name` of the effect."""
        return self.call.label

    @property
    def args(self) -> dict[str, Any]:
        """The arguments, as Python values; inert views in the place of objects of classes."""
        with self._placed("args"):
            return {name: self.log.value(tree) for name, tree in self.log.args(self.call).items()}

    @property
    def output(self) -> Any:
        """The returned value (of a stream: its head), or None. Inert views as in `args`."""
        outcome = self.call.outcome
        with self._placed("output"):
            return self.log.value(outcome["value"]) if outcome is not None and "value" in outcome else None

    @property
    def chunks(self) -> list[Any]:
        """A stream's chunks. Inert views as in `args`."""
        with self._placed("chunks"):
            return [self.log.value(tree) for _, _, tree in self.call.pieces]

    @property
    def error(self) -> BaseException | None:
        """The raised error, or None: one of Python's own exceptions, or a `RecordedError`."""
        outcome = self.call.outcome
        tree = outcome["error"] if outcome is not None and "error" in outcome else self.call.end
        with self._placed("error"):
            return codec.view_error(self.log.filled(tree)) if isinstance(tree, dict) else None

    @contextmanager
    def _placed(self, what: str) -> Iterator[None]:
        """Name the step in the error of a value that cannot be decoded."""
        try:
            yield
        except CorruptRecording as error:
            raise CorruptRecording(f"step {self.number}, its {what}: {error}") from None


def _ending(call: CallRecord) -> str:
    return "in flight" if call.outcome is None else str(call.outcome["event"])


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels and the note that people gave a recording after its run."""

    words: tuple[str, ...] = ()
    note: str = ""


class RecordedRun:
    """The recorded run of an agent.

    Args:
        id: The recording's id.
        logs: Each process's events; the first is the process that the recording began in.
        path: Its path, for messages.
        torn: The parts that reading left out (a torn last line), one sentence each.
    """

    def __init__(self, id: str, logs: list[Log], path: str, torn: tuple[str, ...] = ()) -> None:
        self.id = id
        self.logs = logs
        self.path = path
        self.torn = torn
        self.labels = Labels()
        self.home = ""
        """The home that it was loaded from, with the trusted keys. Empty: the default."""

    @property
    def header(self) -> Mapping[str, Tree]:
        """The first line: format, program, versions."""
        return self.logs[0].opened

    @property
    def name(self) -> str:
        """The name that the run was given."""
        return str(self.header.get("name") or "")

    @property
    def agent(self) -> str:
        """The name that the run was given, or its script; empty where it has neither."""
        from reenact.core.query.overview import script_of  # noqa: PLC0415 - it brings the readers of model calls

        return self.name or script_of(self.header) or ""

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
        """The start of the run: ISO 8601, UTC."""
        return str(self.header.get("started") or "")

    @property
    def duration(self) -> float:
        """Seconds from its beginning to its last entry."""
        return max(log.last for log in self.logs)

    @property
    def output(self) -> Any:
        """The final output of the run, if it declared one."""
        sealed = self.logs[0].sealed
        return self.logs[0].value(sealed["output"]) if sealed is not None and "output" in sealed else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Holes and other remarks in the recording, and the parts that reading left out."""
        return (*(text for what, text in self._noted() if what not in (SOURCE, RACE, RESUMED)), *self.torn)

    @property
    def sources(self) -> tuple[str, ...]:
        """Inputs that are not recorded: a replay reads them anew, and may diverge there."""
        return tuple(text for what, text in self._noted() if what in (SOURCE, RACE))

    @property
    def races(self) -> tuple[str, ...]:
        """Lines of two threads that used one object at the same time: their order is not recorded."""
        return tuple(text for what, text in self._noted() if what == RACE)

    @property
    def resumed(self) -> tuple[str, ...]:
        """Notes on the places where the run was resumed, and the calls made again."""
        return tuple(text for what, text in self._noted() if what == RESUMED)

    def _noted(self) -> Iterator[tuple[str, str]]:
        for log in self.logs:
            for note in log.notes:
                yield str(note["what"]), str(note["text"])

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All effects, in the order in which they were asked, numbered from 1."""
        found = [(log, call) for log in self.logs for call in log.calls.values()]
        if len(self.logs) > 1:
            found.sort(key=lambda item: item[0].opened.get("offset", 0.0) + item[1].began)
        return tuple(Step(number, log, call) for number, (log, call) in enumerate(found, 1))

    def numbers(self, log: Log) -> dict[int, int]:
        """Return the step's number of each call of one of its processes."""
        if len(self.logs) == 1:
            return {call: number for number, call in enumerate(log.calls, 1)}
        return {step.call.number: step.number for step in self.steps if step.log is log}

    def renew(self) -> None:
        """Number the calls that its logs have read since the last use of `steps`.

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
        """Return one step by its number. Raises StepNotFound if there is none."""
        if not 1 <= number <= len(self.steps):
            there = f"its steps go from 1 to {len(self.steps)}" if self.steps else "it has no steps"
            raise StepNotFound(f"recording {self.id} has no step {number}: {there}")
        return self.steps[number - 1]

    def state(self, step: int | None = None) -> State:
        """Return the declared state at a step, from the snapshots; without a step, at the end.

        `state.of(name)` has the step of each value. Raises LookupError if there is no such step.
        """
        at = self.step(step) if step is not None else None
        log = at.log if at is not None else self.logs[0]
        from reenact.core.query.state import state_at  # noqa: PLC0415 - few commands read the state

        return state_at(log, at.call if at is not None else None, self.numbers(log))

    def restore(self, step: int | None = None, *names: str) -> State:
        """Put the state of a step back into the live objects that are tracked by the same names.

        Returns the restored state. See `reenact.restore`.
        """
        return _verb("restore")(self, step, *names)  # type: ignore[no-any-return]

    def resume(
        self, step: int | None = None, program: Callable[..., Any] | None = None, /, **changes: Any
    ) -> RecordedRun:
        """Run a program again from a step's state, with other parameters, as a new recording.

        See `reenact.resume`.
        """
        return _verb("resume")(self, step, program, **changes)  # type: ignore[no-any-return]

    def anomalies(self, **options: Any) -> list[Any]:
        """Return the anomalies of the run, the most suspect step first. See `reenact.anomalies`."""
        return _verb("anomalies")(self, **options)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        steps = f"{len(self.steps)} step{'s' * (len(self.steps) != 1)}"
        return f"<Recording {self.id} {self.name!r}: {steps}, {self.status}>"


def _verb(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(_VERBS[name]), name)
    return found
