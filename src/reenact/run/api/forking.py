"""`fork`: run code on a recording up to a step, and live from there.

`load`: read a recording.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from reenact.adapters import stdlib
from reenact.core import boundary, system
from reenact.core.boundary import Run
from reenact.core.files.trees import has_files
from reenact.core.model.event import Tree
from reenact.core.model.log import SOURCE
from reenact.core.query import recorded_run
from reenact.core.redact import DEFAULT_RULES, SecretRules
from reenact.core.replay.policy import configured_policy
from reenact.core.replay.rulings import named
from reenact.core.store.local import LocalStore, new_id
from reenact.core.store.writer import warn
from reenact.errors import Divergence, DivergenceError, ForkStopped, Halt, UsageError
from reenact.run import state_at_end
from reenact.run.api.run_context import UNSET, RunContext
from reenact.run.files.process_files import files_of
from reenact.run.fork.child import Child
from reenact.run.fork.edit import Change
from reenact.run.fork.point import ForkPoint, point
from reenact.run.plan import Plan
from reenact.run.streams import StandardStreams
from reenact.team.open import Reaching

if TYPE_CHECKING:
    from reenact.analysis.anomalies import Anomaly
    from reenact.run.files.replayed import ReplayedFiles


class Recording(recorded_run.RecordedRun):
    """The recorded run of an agent; it can be forked."""

    def anomalies(self, **options: Any) -> list[Anomaly]:
        """Return the anomalies of the run, the most suspect step first. See `reenact.anomalies`."""
        found: list[Anomaly] = import_module("reenact.verbs.diagnose").anomalies(self, **options)
        return found

    @overload
    def fork(
        self,
        *,
        at: int,
        edit: Change | None = ...,
        model: str = ...,
        program: None = ...,
        live: Iterable[str] = ...,
        ignore: Iterable[str] = ...,
        policy: Iterable[str] = ...,
    ) -> Fork: ...
    @overload
    def fork(
        self,
        *,
        at: int,
        edit: Change | None = ...,
        model: str = ...,
        program: Callable[[], Any],
        live: Iterable[str] = ...,
        ignore: Iterable[str] = ...,
        policy: Iterable[str] = ...,
    ) -> Recording: ...
    def fork(
        self,
        *,
        at: int,
        edit: Change | None = None,
        model: str = "",
        program: Callable[[], Any] | None = None,
        live: Iterable[str] = (),
        ignore: Iterable[str] = (),
        policy: Iterable[str] = (),
    ) -> Fork | Recording:
        """`reenact.fork` of this recording, into the same folder of recordings."""
        folder = Path(self.path).absolute().parent
        home = folder.parent if folder.name == "recordings" else None
        started = fork(
            self, at=at, edit=edit, model=model, live=live, ignore=ignore, policy=policy, home=home
        )
        return started if program is None else _ran(started, program)


UNRECORDED = "the files of the live part are not recorded: the fork ran on the user's own files"


class Fork(RunContext):
    """A fork in progress; made by `fork()`.

    Attributes:
        id: The child's id, known from the start.
        parent: The forked recording.
        output: The run's output; set it to keep it.
    """

    def __init__(
        self, parent: recorded_run.RecordedRun, at: ForkPoint, store: LocalStore, *, secrets: SecretRules
    ) -> None:
        self.id = new_id()
        self.parent = parent
        self.ending: dict[str, Tree] = {}
        self.plan: Plan | None = None
        self.reason = ""
        """The reason that it stopped, if it did."""
        self.ran: list[str] = []
        """The calls that ran for real, by their labels, each with its number and the reason."""
        self._point = at
        self._store = store
        self._secrets = secrets
        self.scratch = ""
        """The scratch folder of this process's files, if it was started with one."""
        self._files: ReplayedFiles | None = None
        self._child: Child | None = None
        self._streams: StandardStreams | None = None
        self._pid = os.getpid()

    def __repr__(self) -> str:
        return f"<fork {self.id} of {self.parent.id}>"

    @property
    def path(self) -> str:
        """The child's folder."""
        return str(self._store.folder(self.id))

    @property
    def recording(self) -> Recording:
        """The child, as far as it is written. Raises RecordingNotFound if there is none."""
        return loaded(self._store.load(self.id), self._store.root)

    @property
    def child(self) -> Child:
        """The child recording's writer. Raises UsageError before the fork has begun."""
        if self._child is None:
            raise UsageError("the fork has not begun: use it in a `with` statement")
        return self._child

    @property
    def live(self) -> bool:
        """True if the fork has gone live."""
        return self._child is not None and self._child.forker.gone_live

    def begin_run(self) -> Run:
        if boundary.current() is not None:
            raise UsageError("a fork cannot begin inside a recording or a replay")
        self._child = Child(
            self.parent, self._point, self._store, self.id, secrets=self._secrets, plan=self.plan
        )
        replayer = self._child.forker.replayer
        self._files = files_of(
            self.parent, self.parent.logs[0], replayer, self.scratch, block=self.plan is None, say=warn
        )
        if self._files is not None:
            self._child.run.scratch, self._child.run.waits = self._files.covers, self._files.waits
            self._child.run.view, self._child.run.commands = self._files.view, self._files.asked
        if system.FILES and has_files(self.parent):
            self._child.forker.on_live = self._record_files
        stdlib.begin(self._child.run)
        if self.plan is None:
            self._streams = StandardStreams(self._child.run)
            self._streams.install()
            self._child.forker.replayer.prints.write = self._streams.out.print
        return self._child.run

    def _record_files(self) -> None:
        if self._files is not None:
            self.child.record_files()
        else:
            self.child.recorder.note(SOURCE, UNRECORDED)

    def end_run(self, error: BaseException | None) -> None:
        child = self._child
        if child is None or os.getpid() != self._pid:
            return
        try:
            self._conclude(child, error)
        finally:
            if self._files is not None:
                self._files.end()

    def _conclude(self, child: Child, error: BaseException | None) -> None:
        forker = child.forker
        if self._streams is not None:
            self._streams.uninstall()
        state = state_at_end.sealed(child.run)
        stdlib.end(child.run)
        departed = None if forker.reached else child.family.departure()
        child.family.finish()
        if self._files is not None:
            self._files.tell_of_stand_ins()
            self._files.tell_of_code()
        forker.notice_refusal()
        child.close()
        if not forker.reached:
            self._came_to_nothing(child, error, departed)
            return
        stopped = forker.stop.reason if forker.stop is not None else ""
        if not stopped and forker.poison is not None:
            stopped = str(forker.poison.divergence)
        self.ran = list(named(forker.gate.guard.ran))
        # A stopped fork ended anywhere in the program: a replay need not come to the same state.
        state = {} if stopped or isinstance(error, Halt) else state
        child.seal({**state, **self._ending(child, None if isinstance(error, Halt) else error, stopped)})
        if stopped:
            self.reason = stopped
            raise ForkStopped(f"fork {self.id} stopped: {stopped}") from None

    def _came_to_nothing(
        self, child: Child, error: BaseException | None, departed: Divergence | None
    ) -> None:
        """Conclude a fork that never asked the step's question, maybe since a process departed."""
        replayer, stop = child.forker.replayer, child.forker.stop
        if stop is not None:
            child.drop()
            raise UsageError(stop.reason) from None
        if replayer.poison is None and (error is None or isinstance(error, Halt)):
            replayer.finish()
        child.drop()
        divergence = departed or (replayer.divergences[0] if replayer.divergences else None)
        if divergence is not None:
            raise DivergenceError(divergence) from (None if isinstance(error, Halt) else error)
        if error is None:
            raise UsageError(f"the program ended before step {self._point.step.number}: nothing was forked")

    def _ending(self, child: Child, error: BaseException | None, stopped: str) -> dict[str, Tree]:
        if self.output is UNSET:
            self.output = child.family.replayed.output
        ending = self.sealing(child.run, child.recorder, None if stopped else error)
        if stopped:
            ending |= {"status": "stopped", "reason": stopped}
        return ending if self._streams is None else {**ending, **self._streams.tree()}


def fork(
    source: str | os.PathLike[str] | recorded_run.RecordedRun,
    *,
    at: int,
    edit: Change | None = None,
    model: str = "",
    live: Iterable[str] = (),
    ignore: Iterable[str] = (),
    policy: Iterable[str] = (),
    secrets: SecretRules = DEFAULT_RULES,
    home: str | os.PathLike[str] | None = None,
) -> Fork:
    """Run code on a recording up to a step, and live from there. The run is recorded.

        with reenact.fork("last", at=7, edit={"output.status": "lost"}) as fork:
            agent.run_sync("Cancel my order ORD-5521")
        print(fork.recording)

    Args:
        source: An id, an unambiguous prefix of one, `"last"`, a path, or a Recording.
        at: The step that is the first to be answered live.
        edit: An answer in the place of that step's; the replay then goes on as far as the program asks what was
            recorded. Either `{path: value}`, the paths beginning with `output`, `error`, `text` (of a model's answer)
            or `body` (of an HTTP answer); or a function from the old output to the new one, or to an exception.
        model: The language model to ask from there on, in the place of the program's.
        live: Kinds (`"tool"`) or labels that run for real before the step, too.
        ignore: Parts that are not compared before the step, as in `replay`.
        policy: What may run for real from the step on: `"refund=live"`, `"api.example.com=refuse"`. Without a rule,
            calls of models run, and calls that only read; others end the fork. See docs/fork.md.
        secrets: The rules for secrets, besides those in the parent's header.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` here.

    Raises:
        RecordingError: There is no such recording, or it cannot be read.
        UsageError: It has no such step, or the edit does not fit it.
        DivergenceError: At the end of the body, where the program left the recording before the step.
        ForkStopped: At the end of the body, where no model was at hand, or the policy refused a call. What there is
            so far is kept.
    """
    store = Reaching(home)
    parent = source if isinstance(source, recorded_run.RecordedRun) else store.load(source)
    words = [(value,) if isinstance(value, str) else tuple(value) for value in (live, ignore, policy)]
    rules = (*configured_policy(), *words[2])
    where = point(parent, at, edit, model=model, live=words[0], ignore=words[1], policy=rules)
    return Fork(parent, where, store, secrets=secrets)


def load(source: str | os.PathLike[str], *, home: str | os.PathLike[str] | None = None) -> Recording:
    """Read a recording: by id, unambiguous prefix, `"last"`, or path. Raises RecordingError."""
    return loaded(Reaching(home).load(source), LocalStore(home).root)


def loaded(known: recorded_run.RecordedRun, home: Path) -> Recording:
    """Return a recording as a `Recording`, from the home that the user named."""
    found = Recording(known.id, known.logs, known.path, known.torn)
    found.labels = known.labels
    found.home = str(home)
    return found


def _ran(started: Fork, program: Callable[[], Any]) -> Recording:
    with started:
        result = program()
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        if "output" in (started.parent.logs[0].sealed or {}):
            started.output = result
    return started.recording
