"""A process that the program of a run has started, from its beginning to its end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import replace as replaced
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from reenact.adapters import stdlib
from reenact.adapters.deadlines import pause
from reenact.adapters.process_activity import StandStill
from reenact.core.boundary import Handler, RecordingTurnstile, Run, Scope, Turnstile
from reenact.core.boundary.current import current_scope
from reenact.core.boundary.given_times import GivenTimes
from reenact.core.boundary.tracked import of_run
from reenact.core.boundary.unreceived import Unreceived
from reenact.core.model.divergence import Verdict, merged, verdict_tree
from reenact.core.model.event import FORMAT, RULES, Tree
from reenact.core.model.header import salt_of
from reenact.core.model.log import Log
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.risky import risky_filter
from reenact.core.record.own import own_identity
from reenact.core.record.places import Places
from reenact.core.record.recorder import Recorder
from reenact.core.replay.replayer import Replayer
from reenact.core.store.local import load
from reenact.core.store.writer import Writer
from reenact.core.system import perf_counter
from reenact.run import state_at_end
from reenact.run.exit import on_exit
from reenact.run.files.process_files import files_of, redirect, sensor_of
from reenact.run.guard_plan import GuardPlan
from reenact.run.plan import FILES, GUARD, Plan, key
from reenact.run.recorded import RecordedProcesses, of_pool
from reenact.run.replayed_processes import ReplayedProcesses
from reenact.run.replayer import no_blobs, redactor_of, replayer_of, rules_number, rules_of, tell_of
from reenact.run.reports import header_of, logs, report, reserve
from reenact.run.signalled import killed
from reenact.run.streams import StandardStreams, compare_streams, of_fork

if TYPE_CHECKING:
    from reenact.run.files.replayed import ReplayedFiles

_PATIENCE = 0.05
_EXECUTOR = "/proc:_process_worker."
"""Part of the path of a worker of a `ProcessPoolExecutor`."""
"""Part of the path of a pool's worker."""


class Member:
    """A process that the program of a run has started, and that records or replays its part."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run: Run | None = None
        self._recorder: Recorder | None = None
        self._replayer: Replayer | None = None
        self._files: ReplayedFiles | None = None
        self._family: RecordedProcesses | ReplayedProcesses | None = None
        self._recording: RecordedRun | None = None
        self._streams: StandardStreams | None = None

    @property
    def replayer(self) -> Replayer | None:
        """The replayer of this process, if this is a replay."""
        return self._replayer

    def record(self) -> Run:
        """Begin to record this process, in a file beside the others."""
        folder = Path(self.plan.folder)
        header = header_of(folder)
        plan, writer = self._claim(folder)
        self.plan = plan
        rules = rules_of(header, plan.patterns)
        redactor = redactor_of(header, rules)
        now = perf_counter()
        identity, guarding = own_identity(plan.home, plan.keys), plan.options.get(GUARD)
        if guarding is None:
            self._recorder = Recorder(writer, redactor, started=now, identity=identity)
        else:
            from reenact.run.guarding import GuardedRecorder  # noqa: PLC0415 - processes of forks alone

            obeyed = GuardPlan.of(guarding)
            self._recorder = GuardedRecorder(obeyed, writer, redactor, started=now, identity=identity)
        self._recorder.alone = False
        self._recorder.snapshots.every = plan.every or self._recorder.snapshots.every
        self._recorder.snapshots.risky = risky_filter(plan.risky)
        self._recorder.open(
            {
                "format": FORMAT,
                "rules": RULES,
                "id": plan.id,
                "process": plan.process,
                "offset": round(now - plan.began, 6),
                "pid": os.getpid(),
                "parent": os.getppid(),
            }
        )
        view = redirect(plan.options[FILES]) if plan.options.get(FILES) and self.run is None else None
        run = self._enter(self._recorder, RecordingTurnstile(), replaying=False)
        run.files, run.view = None, run.view or view
        if plan.files is not None:
            places = Places.of_program(plan.files, store=plan.home)
            salt = salt_of(header)
            run.files = self._recorder.record_files(places, salt, run.view)
        self._family = run.family = RecordedProcesses(run, self._recorder, plan, record_fork)
        return run

    def _claim(self, folder: Path) -> tuple[Plan, Writer]:
        """Return this process's file. If a command starts several Pythons, each has its own."""
        ordinal = 0
        while True:
            process = self.plan.process + (f"~{ordinal}" if ordinal else "")
            try:
                return replaced(self.plan, process=process), Writer(folder / f"events.{key(process)}.jsonl")
            except FileExistsError:
                ordinal += 1

    def replay(self, recording: RecordedRun | None = None) -> Run:
        """Begin to replay the file of this process."""
        self._recording = recording = recording or load(Path(self.plan.folder))
        ordinal = 0
        while not reserve(self.plan.report, self.plan.process + (f"~{ordinal}" if ordinal else "")):
            ordinal += 1
        process = self.plan.process + (f"~{ordinal}" if ordinal else "")
        self.plan = replaced(self.plan, process=process)
        log = next((log for log in recording.logs if log.process == process), None)
        if log is None and not ordinal:
            _wait_to_be_killed()
        if log is None:
            # Nothing is recorded of this process: each of its questions is a departure.
            log = Log((), no_blobs)
        self._replayer = replayer_of(recording, log, self.plan.options)
        self._files = files = files_of(recording, log, self._replayer, self.plan.options.get(FILES, ""))
        run = self._enter(self._replayer, self._replayer.turnstile, replaying=True)
        run.scratch = files.covers if files is not None else None
        run.view, run.commands = (files.view, files.asked) if files is not None else (None, None)
        scratch = self.plan.options.get(FILES, "")
        run.files = sensor_of(files, recording, self._replayer, scratch)
        # If the whole run was cut off, this process was not killed alone: nothing kills it now.
        run.killed = killed(recording, log)
        if run.killed:
            self._replayer.killed.on_caught_up = self._report_so_far
            self._replayer.killed.wait = self._await_kill
        tell_of(run, recording.header)
        # A later version may have resumed or forked the recording, and this process is of that part.
        run.rules = max(run.rules, rules_number(log.opened))
        self._family = run.family = ReplayedProcesses(
            run, self._replayer, recording, log, self.plan, join=replay_fork
        )
        if of_pool(process, run.rules):
            self._family.on_rest = self._report_so_far
        return run

    def _report_so_far(self) -> None:
        """Report the verdict once all is requested: the process may be killed at any moment."""
        verdict = self.verdict()
        if verdict.divergences or not verdict.missing:
            report(self.plan, verdict=verdict_tree(verdict), halted=False, logs=sorted(logs()))

    def _await_kill(self) -> None:
        """Wait until this process is killed, as in the recording; return if no process goes on."""
        assert self.run is not None
        self._report_so_far()
        still, parent = StandStill(joined=True), os.getppid()
        self.run.turnstile.blocks()
        try:
            while not still.found():
                pause(_PATIENCE)
        finally:
            self.run.turnstile.unblocks()
        if os.getppid() != parent:
            os._exit(0)

    def _enter(self, handler: Handler, turnstile: Turnstile, *, replaying: bool) -> Run:
        run = self.run
        if run is None:
            run = self.run = Run(handler, turnstile, replaying=replaying, root=self.plan.process)
            stdlib.begin(run)
        else:
            # A fork: objects that refer to the parent's run now refer to this process's.
            run.handler, run.turnstile, run.lock = handler, turnstile, threading.RLock()
            run.times, run.unreceived = GivenTimes(), Unreceived()
            run.replaying, run.forked = replaying, run.forked and not replaying
            run.root = Scope(self.plan.process, run)
            stdlib.begin_in_fork(run)
        # A file of its own begins with the whole state.
        of_run(run).due = 0
        on_exit(self.finish)
        return run

    def forked_from(self, run: Run) -> None:
        """Go on in a fork, with the run and the streams of its parent process."""
        self.run, self._streams = run, of_fork()

    def finish(self, code: int | None, *, ending: Mapping[str, Tree] | None = None) -> None:
        """End the process: seal its file, or report its verdict."""
        current_scope.set(None)
        given = dict(ending or ({} if self._streams is None else self._streams.tree()))
        state = self._state_at_end()
        if self.run is not None:
            stdlib.end(self.run)
        if self._recorder is not None and isinstance(self._family, RecordedProcesses):
            self._family.finish()
            if self.run is not None:
                self._recorder.snapshots.finish(self.run)
            status = "error" if code or "error" in given else "ok"
            self._recorder.seal({"status": status, "exit": code, **state, **given})
        elif self._replayer is not None and isinstance(self._family, ReplayedProcesses):
            if self._files is not None:
                self._files.tell_of_code()
            self._replayer.finish()
            self._family.finish()
            self._compare_streams(self._replayer, given)
            halted = self._replayer.poison is not None
            verdict = verdict_tree(self.verdict())
            report(self.plan, verdict=verdict, halted=halted, logs=sorted(logs()))
            self._family.close()

    def _state_at_end(self) -> dict[str, Tree]:
        """Return the state to record; in a replay, compare it with the recorded one."""
        if self.run is None or self._replayer is None:
            return {} if self.run is None else state_at_end.sealed(self.run)
        state_at_end.compare(self.run, self._replayer.sealed, self._replayer)
        return {}

    def _compare_streams(self, replayer: Replayer, ending: Mapping[str, Tree]) -> None:
        if replayer.divergences or replayer.gone_live or not ending:
            return
        actual = {name: replayer.terms.clean(ending[name]) for name in ("stdout", "stderr")}
        number = RULES if self.run is None else self.run.rules
        if _EXECUTOR in self.plan.process or of_pool(self.plan.process, number):
            if any(tree["length"] for tree in actual.values()):
                replayer.uncompared.append("the output of workers of pools: any of them may do a job")
            return
        found, rules, compared = compare_streams(
            replayer.sealed, actual, replayer.rules, replayer.terms, self.plan.process
        )
        replayer.compared += compared
        replayer.rules.applied.update(dict.fromkeys(rules))
        replayer.divergences += [] if found is None else [found]

    def verdict(self) -> Verdict:
        """Return the verdict on this process and those that it started."""
        assert self._replayer is not None
        assert isinstance(self._family, ReplayedProcesses)
        return merged([self._replayer.verdict(self.plan.id), *self._family.verdicts()])


def record_fork(plan: Plan, run: Run) -> Scope:
    """Let this process, a fork of the program's, write a file of its own; return its scope."""
    member = Member(plan)
    member.forked_from(run)
    member.record()
    return run.root


def replay_fork(plan: Plan, run: Run, recording: RecordedRun) -> Scope:
    """Let this process, a fork of the program's, replay its own file; return its scope."""
    member = Member(plan)
    member.forked_from(run)
    member.replay(recording)
    return run.root


def _wait_to_be_killed() -> None:
    """Wait until this process is killed, as in the recording."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while os.getppid() == parent:
        sleep(_PATIENCE)
    os._exit(0)
