"""The processes of a fork: before the step as in a replay, after it as in a recording."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from time import sleep
from typing import Any

from reenact.adapters.process_activity import StandStill
from reenact.core.boundary import Family, RecordedTake, Run, Scope
from reenact.core.model.divergence import verdict_of
from reenact.core.model.event import Effect
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.program import takes_part
from reenact.errors import Departure, Divergence
from reenact.run.fork import started
from reenact.run.fork.handler import Forker
from reenact.run.members import record_fork, replay_fork
from reenact.run.plan import Plan
from reenact.run.recorded import RecordedProcesses
from reenact.run.replayed_processes import ReplayedProcesses
from reenact.run.replayer import tell_of
from reenact.run.reports import claimed, reported
from reenact.run.signalled import logs_of

_LOOK = 0.002


def run_of(
    forker: Forker, recording: RecordedRun, before: Plan, after: Callable[[], Plan]
) -> tuple[Run, ForkProcesses]:
    """Return the run of a fork or a resumption, with its processes.

    Args:
        forker: Its handler.
        recording: The parent, or the recording that goes on.
        before: The plan of the processes that the parent had started before the step.
        after: Makes the plan of the processes that are started live.
    """
    run = Run(forker, forker.turnstile, replaying=True)
    tell_of(run, recording.header)
    run.forked, forker.run = True, run
    log = recording.logs[0]
    replayed = ReplayedProcesses(run, forker.replayer, recording, log, before, join=replay_fork)
    run.family = family = ForkProcesses(run, forker, replayed, after)
    return run, family


class ForkProcesses(Family):
    """The processes that a fork starts.

    Args:
        replayed: Knows the parent's processes.
        plan: Makes the plan of a recorded process, which holds once the fork is live.
    """

    def __init__(
        self, run: Run, forker: Forker, replayed: ReplayedProcesses, plan: Callable[[], Plan]
    ) -> None:
        self._run = run
        self._forker = forker
        self.several = replayed.several
        self.replayed = replayed
        self._plan = plan
        self._recorded: RecordedProcesses | None = None
        forker.before_live = self.settle

    @property
    def _now(self) -> RecordedProcesses | ReplayedProcesses:
        if not self._forker.gone_live:
            return self.replayed
        if self._recorded is None:
            self._recorded = RecordedProcesses(self._run, self._forker.recorder, self._plan(), record_fork)
        return self._recorded

    def replays(self, name: str) -> bool:
        return self.replayed.replays(name)

    def begins_block(self, name: str) -> bool:
        return self.replayed.begins_block(name)

    def listens(self, port: int, actual: int) -> None:
        self._now.listens(port, actual)

    def before_signal(self, pid: int, number: int) -> None:
        self._now.before_signal(pid, number)

    def rests(self) -> None:
        self._now.rests()

    def ends_block(self, output: Any) -> None:
        self.replayed.ends_block(output)

    def knows(self, scope: Scope, name: str) -> bool:
        return self._forker.gone_live or self.replayed.knows(scope, name)

    def taker(self, lock: str, count: int) -> RecordedTake | None:
        return None if self._forker.gone_live else self.replayed.taker(lock, count)

    def exchange(self, what: str) -> Path | None:
        return None if self._forker.gone_live else self.replayed.exchange(what)

    def drawn(self, source: str) -> AbstractSet[Any]:
        return self.replayed.drawn(source)

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        if self._forker.reached or not self.replayed.knows(scope, name):
            # After an edited answer, a process may be started with other arguments than recorded.
            self._forker.departs()
        now, self.several = self._now, True
        if now is not self.replayed and not _joins(command):
            shown = " ".join(command) or name
            self._forker.act(Effect("process", shown[:200], {"command": list(command)}), scope)
        path = now.spawning(scope, name, command)
        if now is self.replayed and path is not None:
            self._forker.spawned(scope, path, command)
        return path

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        return self._now.handover(path, environ)

    def running(self, path: str | None, pid: int | None) -> None:
        self._now.running(path, pid)

    def forked(self, path: str) -> Scope:
        return self._now.forked(path)

    def settle(self) -> Divergence | None:
        """Wait until the processes before the step have ended; return their first departure.

        In the parent's recording, they ended before the step.
        """
        replayed, still = self.replayed, StandStill(joined=False)
        if not replayed.started:
            return None
        turnstile = self._run.turnstile
        turnstile.blocks()
        try:
            while left := [path for path in replayed.started if not self._has_ended(path)]:
                if still.found():
                    detail = (
                        "the process had ended before when it was recorded, and now waits for the program"
                    )
                    return Divergence(Departure.REORDERED, left[0], detail=detail)
                sleep(_LOOK)
        finally:
            turnstile.unblocks()
        found = self.departure()
        messages = Path(replayed.plan.report, "messages") if replayed.plan.report else None
        if found is None and messages is not None and messages.is_dir() and any(messages.iterdir()):
            detail = "a message came before others that the program had received first when it was recorded"
            found = Divergence(Departure.REORDERED, self._run.root.path, detail=detail)
        return found

    def departure(self) -> Divergence | None:
        """Return the first departure that the replayed processes have reported.

        One that has ended without a verdict was killed, or could not begin.
        """
        recording, folder = self.replayed.recording, self.replayed.plan.report
        for path in self.replayed.started:
            own = logs_of(recording, path)
            for log in recording.logs:
                found = reported(folder, log.process) if started.belongs(log, path) else None
                if found is not None and (divergence := verdict_of(found).divergence) is not None:
                    return divergence
                begun = log in own or (started.belongs(log, path) and claimed(folder, log.process))
                if found is None and begun and self._has_ended(path):
                    detail = "the process gave no verdict: it was killed, or could not begin"
                    return Divergence(Departure.MISSING, log.process, detail=detail)
        return None

    def _has_ended(self, path: str) -> bool:
        ended = self.replayed.ends.get(path)
        if ended is not None:
            return ended.is_set()
        return reported(self.replayed.plan.report, path) is not None

    def finish(self) -> None:
        """End the run."""
        if self._recorded is not None:
            self._recorded.finish()
        self.replayed.close()


def _joins(command: Sequence[str]) -> bool:
    """Return True if a command is this Python and its process joins the fork.

    An empty command is a fork of the process itself.
    """
    if not command:
        return True
    found = shutil.which(command[0])
    same = found is not None and os.path.realpath(found) == os.path.realpath(sys.executable)
    return same and takes_part(tuple(command[1:]))
