"""The processes of a replay under way."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replaced
from pathlib import Path
from time import sleep
from typing import Any

from reenact.adapters.mailbox import MESSAGE, SHARED
from reenact.core import system
from reenact.core.boundary import Family, RecordedTake, Run, Scope, entered
from reenact.core.model.divergence import Verdict, verdict_of
from reenact.core.model.event import Effect
from reenact.core.model.log import Log, is_exec
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.acts import act_of
from reenact.core.replay.replayer import Replayer
from reenact.errors import Departure, Divergence
from reenact.run.plan import Plan
from reenact.run.recorded import UNSET, of_pool
from reenact.run.recorded_servers import RecordedServers
from reenact.run.recorded_turns import RecordedTurns
from reenact.run.reports import reported
from reenact.run.signalled import SignalledProcesses, killed, logs_of
from reenact.run.stall_watch import StallWatch

_PATIENCE = 0.05
_LEFT = {
    MESSAGE: "{} messages of other processes were received when it was recorded, and not now",
    SHARED: "{} uses of objects of a manager were made when it was recorded, and not now",
}
"""The texts about reads that a replay left over, by source."""


class ReplayedProcesses(Family):
    """The processes of a replay under way.

    Args:
        join: Lets this process, a fork of the program's, replay its own file; returns its scope.
    """

    def __init__(
        self,
        run: Run,
        replayer: Replayer,
        recording: RecordedRun,
        log: Log,
        plan: Plan,
        *,
        join: Callable[[Plan, Run, RecordedRun], Scope],
    ) -> None:
        self._run = run
        self._join = join
        self._replayer = replayer
        self.recording = recording
        self._log = log
        self.plan = plan
        self.output: Any = UNSET
        """The output of the replayed block, if the program ran it."""
        self.on_block: Callable[[], None] = lambda: None
        """Called when the program comes to the replayed block."""
        self.on_block_end: Callable[[], None] = lambda: None
        self.on_rest: Callable[[], None] = lambda: None
        """Called when this process, a worker of a pool, waits for its next job."""
        self._block_begun = False
        self.started: list[str] = []
        """The processes that were started."""
        self.ends: dict[str, threading.Event] = {}
        """Set when a process has ended; workers of pools are not watched."""
        self._own: str | None = None
        self._drawn: dict[str, frozenset[Any]] = {}
        self._turns = RecordedTurns(recording)
        self._stall = StallWatch(run, cut_off=killed(recording, log))
        self._servers = RecordedServers(run, recording, self.exchange, self._stall.watch)
        self._signalled = SignalledProcesses(run, recording, lambda: self.plan.report)
        self.several = "/" in run.root.path

    @property
    def folder(self) -> Path:
        return Path(self.plan.folder or self.recording.path)

    def replays(self, name: str) -> bool:
        header = self.recording.header
        return header.get("entry") == "block" and header.get("name") == name

    def begins_block(self, name: str) -> bool:
        """Return True if a `record()` of that name, begun now, is the one that made this recording."""
        if self._block_begun or not self.replays(name):
            return False
        nested = f"{self._log.process}/record:{name}"
        self._block_begun = not any(call.scope.startswith(nested) for call in self._log.calls.values())
        if self._block_begun:
            self.on_block()
        return self._block_begun

    def ends_block(self, output: Any) -> None:
        self.output = output
        self.on_block_end()

    def asks_again(self, name: str, number: int) -> bool | str:
        return self._servers.asks_again(name, number)

    def serves(self, port: int) -> bool:
        return self._servers.serves(port)

    def await_server(self, port: int) -> bool:
        return self._servers.await_server(port)

    def answered(self, number: int) -> None:
        self._servers.answered(number)

    def listens(self, port: int, actual: int) -> None:
        self._servers.listens(port, actual)

    def before_signal(self, pid: int, number: int) -> None:
        self._signalled.before(pid, number)

    def rests(self) -> None:
        self.on_rest()

    def busy(self) -> bool:
        return any(not ended.is_set() for ended in list(self.ends.values()))

    def knows(self, scope: Scope, name: str) -> bool:
        return f"{scope.path}/{name}.{scope.peek('+' + name)}" in self._log.spawned

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        """Find the recorded process; an unknown one is a departure."""
        path = scope.child(name).path
        self.several = True
        known = path in self._log.spawned
        if known:
            self.started.append(path)
            if logs_of(self.recording, path) or not command or _spawned_by_multiprocessing(command):
                # One without events was killed before it could write any.
                return path
            if command and shutil.which(command[0]) is None:
                # It could not be started in the recording, and cannot be started now.
                return None
        replayer = self._replayer
        shown = " ".join(command) or name
        act = Effect("process", shown[:200], {"command": list(command) or [name.rpartition(":")[2]]})
        label = f"process:{act_of(act).target}"
        if replayer.gone_live or replayer.lets_live("process", label):
            replayer.act(act, scope)
            replayer.real.count(label)
            return None
        # Its effects on the world are unknown: it runs again only if the user asks for it.
        what = "what it did is not recorded" if known else "it was not recorded"
        detail = f"a process is started, and {what}: {' '.join(command)[:200]}"
        if replayer.state.strict:
            raise replayer.refuse(path, detail, f"let it run: live=['{label}']")
        replayer.divergences.append(Divergence(Departure.EXTRA, path, detail=detail))
        return None

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables with which the process replays its own file."""
        self._reports()
        return self.plan.child(path).environ(environ)

    def _reports(self) -> Path:
        if not self.plan.report:
            with entered(None):
                self._own = tempfile.mkdtemp(prefix="reenact-")
            self.plan = replaced(self.plan, report=self._own)
        return Path(self.plan.report)

    def taker(self, lock: str, count: int) -> RecordedTake | None:
        return self._turns.taker(lock, count)

    def exchange(self, what: str) -> Path:
        folder = self._reports() / what
        with entered(None):
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def drawn(self, source: str) -> frozenset[Any]:
        found = self._drawn.get(source)
        if found is None:
            every = [log.draws for log in self.recording.logs]
            values = [values for draws in every for (_, name), values in draws.items() if name == source]
            texts = (value for part in values for value in part if isinstance(value, str))
            found = self._drawn[source] = frozenset(texts)
        return found

    def running(self, path: str | None, pid: int | None) -> None:
        """Keep time running while a process runs: no timer may fire early in the meantime."""
        if _of_executor(path):
            return
        turnstile, ended = self._run.turnstile, threading.Event()
        if path is not None:
            self.ends[path] = ended
        if pid is None:
            ended.set()
            return
        if path is not None:
            self._signalled.started(path, pid)
        turnstile.live_begins()
        self._stall.watch()

        def watch() -> None:
            try:
                system.await_end(pid)
            except OSError:
                pass
            ended.set()
            sleep(_PATIENCE)
            turnstile.live_ends()

        watcher = threading.Thread(target=watch, name="reenact-child", daemon=True)
        watcher.reenact_own = True  # type: ignore[attr-defined]
        with entered(None):
            watcher.start()

    def forked(self, path: str) -> Scope:
        """Replay its own file from here on."""
        return self._join(self.plan.child(path), self._run, self.recording)

    def finish(self) -> None:
        """End the run: recorded processes that were not started are missing."""
        self._run.turnstile.settle()
        replayer = self._replayer
        if replayer.gone_live or replayer.poison is not None:
            return
        if not replayer.divergences:
            for path in self.started:
                self._signalled.await_calls(path)
        for path, spawned in self._log.spawned.items():
            within = spawned.get("in")
            if path in self.started or (within is not None and within in replayer.cursor.asked):
                continue
            if _replaces_a_worker(path, self._run.rules) and all(
                not log.calls for log in logs_of(self.recording, path)
            ):
                # Without its results the program would stand still.
                continue
            detail = "the process was not started"
            replayer.divergences.append(Divergence(Departure.MISSING, path, detail=detail))
        # The reads of a thread in the background at the end depend on the time.
        for (at, source), values in self._log.draws.items():
            left = (
                replayer.reads.left((at, source), values) if source in _LEFT and "/thread:" not in at else 0
            )
            if left:
                detail = _LEFT[source].format(left)
                replayer.divergences.append(Divergence(Departure.MISSING, at, detail=detail))

    def verdicts(self) -> list[Verdict]:
        """Return the verdicts that the processes have reported."""
        found, cut_short, rules = [], [], self._run.rules
        for path in self.started:
            if is_exec(path):
                # It begins after the end of this one, and reports to the command that started both.
                continue
            logs = logs_of(self.recording, path)
            report = reported(self.plan.report, path)
            if report is not None:
                found.append(verdict_of(report))
                found += [
                    verdict_of(more) for log in logs[1:] if (more := reported(self.plan.report, log.process))
                ]
            elif any(killed(self.recording, log) and log.calls and not of_pool(path, rules) for log in logs):
                cut_short.append(path)
            elif any(log.sealed is not None and (log.calls or not of_pool(path, rules)) for log in logs):
                # A pool may end its workers at any moment; all other work of theirs is in their results.
                text = f"the process {path} gave no verdict: it still runs, or was killed"
                found.append(Verdict(self.recording.id, notes=(text,)))
        if not self._replayer.divergences and not any(verdict.divergences for verdict in found):
            detail = "this process was killed before it had made the calls that are recorded of it"
            missing = tuple(Divergence(Departure.MISSING, path, detail=detail) for path in cut_short)
            found += [Verdict(self.recording.id, divergences=missing)] if missing else []
        return found

    def close(self) -> None:
        """Clean up."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)


def _replaces_a_worker(path: str, rules: int) -> bool:
    """Return True for a worker that a pool started, maybe as it closed, for one that ended."""
    return "/thread:Pool._handle_workers." in path and of_pool(path, rules)


def _spawned_by_multiprocessing(command: Sequence[str]) -> bool:
    return any("spawn_main" in word for word in command)


def _of_executor(path: str | None) -> bool:
    """Return True for a worker of a pool: it works only during its jobs (`process_pools.py`)."""
    return path is not None and path.rpartition("/")[2].startswith("proc:_process_worker.")
