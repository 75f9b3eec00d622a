"""The processes of one run: each has its own file of events, and finds it again by the path of its scope.

A process that the program starts is named in its parent's program order, as a task or a thread is. It is told by an
environment variable (`reenact.plan`) which scope it is, or knows because it was forked. It writes to, or replays, a
file of its own, and leaves its verdict where its parent finds it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replaced
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import orjson

from reenact.adapters import stdlib
from reenact.adapters.stdlib import processes
from reenact.boundary import RecordingTurnstile, ReplayingTurnstile, Run, Scope, entered
from reenact.boundary.scope import _scope
from reenact.boundary.tracked import of_run
from reenact.errors import CorruptRecording
from reenact.model.divergence import Departure, Divergence, Verdict, merged, verdict_of, verdict_tree
from reenact.model.event import FORMAT, RULES, Tree
from reenact.model.recording import Log, Recording
from reenact.plan import Plan, key
from reenact.record.recorder import Recorder
from reenact.record.snapshot import risky_filter
from reenact.redact import DEFAULT_RULES, Redactor, SecretRules
from reenact.replay.mixing import Mix, Mixing
from reenact.replay.replayer import Replayer
from reenact.store.local import EVENTS, load, read_events
from reenact.store.writer import Writer, warn

MIX = "mix"
"""What is answered from another recording, among a plan's options."""

OPTIONS = ("live", "ignore", "policy", "inserted", MIX)
"""What a plan's options say to the replayer; the rest is for the process as a whole."""

_PATIENCE = 0.05

UNSET: Any = object()
"""Stands for an output that was never set; None is an output."""

Ending = Callable[[int | None], None]


def replayer_of(
    recording: Recording, log: Log, options: Mapping[str, Any], turnstile: ReplayingTurnstile | None = None
) -> Replayer:
    """The replayer of one process of a recording."""
    steps = {step.call.number: step.number for step in recording if step.log is log}
    header = recording.header
    redactor = Redactor(
        rules_of(header), salt=bytes.fromhex(str(header.get("salt", ""))), environ=dict(os.environ)
    )
    known = {name: options[name] for name in OPTIONS if name in options and name != MIX}
    if options.get(MIX):
        return Mixing(log, redactor, steps=steps, mix=_mix(recording, log, options[MIX]), **known)
    return Replayer(log, redactor, steps=steps, turnstile=turnstile, **known)


def _mix(recording: Recording, log: Log, words: Mapping[str, Any]) -> Mix:
    """What one process takes from another recording, as the plan has it."""
    other = load(Path(words["other"]))
    same = next((each for each in other.logs if each.process == log.process), None)
    if same is None:
        return Mix(Log((), _no_blobs), exact=words["exact"])
    pairs = [(recording.step(int(one)), other.step(two)) for one, two in words["swap"].items()]
    swap = {one.call.number: two.call.number for one, two in pairs if one.log is log and two.log is same}
    reads = {(path, source) for path, source in words["reads"]}
    return Mix(same, swap, reads, words["exact"])


def rules_of(header: Mapping[str, Tree], patterns: Sequence[str] = ()) -> SecretRules:
    """What a recording counts as secrets, as far as its header says so."""
    known = header.get("secrets") or {}
    patterns = tuple(dict.fromkeys((*DEFAULT_RULES.patterns, *known.get("patterns", ()), *patterns)))
    return SecretRules(
        names=DEFAULT_RULES.names | set(known.get("names", ())),
        headers=DEFAULT_RULES.headers | set(known.get("headers", ())),
        patterns=patterns,
        values=DEFAULT_RULES.values,
    )


class Recorded:
    """The processes of a recording under way."""

    def __init__(self, run: Run, recorder: Recorder, plan: Plan) -> None:
        self._run = run
        self._recorder = recorder
        self.plan = plan
        self._spawned: dict[str, str] = {}

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        """Write down that a process is started."""
        path = scope.child(name).path
        self._recorder.spawned(scope, path, command)
        self._spawned[path] = command[0] if command else name
        return path

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        """What makes the process join."""
        return self.plan.child(path).environ(environ)

    def running(self, path: str | None, pid: int | None) -> None:
        """Forget about a process that could not be started."""
        if pid is None and path is not None:
            self._spawned.pop(path, None)

    def forked(self, path: str) -> Scope:
        """Go on in a file of its own."""
        plan = self.plan.child(path)
        member = Member(plan)
        member.run = self._run
        member.record()
        return self._run.root

    def finish(self) -> None:
        """The run is over: say which processes were started and left nothing."""
        outside = Counter(
            command for path, command in self._spawned.items() if not _files(self.plan.folder, path)
        )
        for command, count in outside.items():
            times = f" ({count} times)" if count > 1 else ""
            self._recorder.note(
                "unrecorded", f"the program ran {command}{times}: what it did is not recorded"
            )
            warn(f"the program ran {command}{times}, which is not recorded: a replay needs --live process")
        self._spawned.clear()


class Replayed:
    """The processes of a replay under way."""

    def __init__(self, run: Run, recording: Recording, log: Log, plan: Plan) -> None:
        self._run = run
        self.recording = recording
        self._log = log
        self.plan = plan
        self.output: Any = UNSET
        """What the replayed block gave, where the program ran through it again."""
        self._block_begun = False
        self._started: list[str] = []
        self._own: str | None = None

    @property
    def _replayer(self) -> Replayer:
        handler = getattr(self._run.handler, "replayer", self._run.handler)
        assert isinstance(handler, Replayer)
        return handler

    def is_block(self, name: str) -> bool:
        """Whether a `record()` of that name, begun now, is the one that made this recording."""
        header = self.recording.header
        if self._block_begun or header.get("entry") != "block" or header.get("name") != name:
            return False
        nested = f"{self._log.process}/record:{name}"
        self._block_begun = not any(call.scope.startswith(nested) for call in self._log.calls.values())
        return self._block_begun

    def knows(self, scope: Scope, name: str) -> bool:
        """Whether the process that is about to be started was recorded. Counts nothing."""
        return f"{scope.path}/{name}.{scope.peek('+' + name)}" in self._log.spawned

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        """Find the recorded process; an unknown one is a departure."""
        path = scope.child(name).path
        known = path in self._log.spawned
        if known:
            self._started.append(path)
            if logs_of(self.recording, path):
                return path
            if command and shutil.which(command[0]) is None:
                # It could not be started when it was recorded, and cannot now.
                return None
        replayer = self._replayer
        kind, _, word = name.partition(":")
        if replayer.gone_live or replayer.lets_live("process", f"process:{word or kind}"):
            replayer.let_live[f"process:{word or kind}"] = (
                replayer.let_live.get(f"process:{word or kind}", 0) + 1
            )
            return None
        # What it would do to the world, nobody knows: it is not run again without being asked for.
        what = "what it did is not recorded" if known else "it was not recorded"
        detail = f"a process is started, and {what}: {' '.join(command)[:200]}"
        if replayer.strict:
            raise replayer.refuse(path, detail, "let it run: live=['process']")
        replayer.divergences.append(Divergence(Departure.EXTRA, path, detail=detail))
        return None

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        """What makes the process replay its own file."""
        if not self.plan.report:
            with entered(None):
                self._own = tempfile.mkdtemp(prefix="reenact-")
            self.plan = replaced(self.plan, report=self._own)
        return self.plan.child(path).environ(environ)

    def running(self, path: str | None, pid: int | None) -> None:
        """While it runs, time does not stand still: no timer may fire early because nothing else happens here."""
        if pid is None or not hasattr(os, "waitid"):
            return
        turnstile = self._run.turnstile
        turnstile.live_begins()

        def watch() -> None:
            try:
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            except OSError:
                pass
            sleep(_PATIENCE)
            turnstile.live_ends()

        watcher = threading.Thread(target=watch, name="reenact-child", daemon=True)
        watcher._reenact_own = True  # type: ignore[attr-defined]
        with entered(None):
            watcher.start()

    def forked(self, path: str) -> Scope:
        """Replay its own file from here on."""
        member = Member(self.plan.child(path))
        member.run = self._run
        member.replay(self.recording)
        return self._run.root

    def finish(self) -> None:
        """The run is over: what was recorded and not started is missing."""
        replayer = self._replayer
        if replayer.gone_live or replayer.poison is not None:
            return
        for path, spawned in self._log.spawned.items():
            within = spawned.get("in")
            if path in self._started or (within is not None and within in replayer.cursor.asked):
                continue
            detail = "the process was not started"
            replayer.divergences.append(Divergence(Departure.MISSING, path, detail=detail))

    def verdicts(self) -> list[Verdict]:
        """What the processes have reported."""
        found = []
        for path in self._started:
            logs = logs_of(self.recording, path)
            report = _report(self.plan.report, path)
            if report is not None:
                found.append(verdict_of(report))
                found += [
                    verdict_of(more) for log in logs[1:] if (more := _report(self.plan.report, log.process))
                ]
            elif any(log.sealed is not None for log in logs):
                text = f"the process {path} gave no verdict: it still runs, or was killed"
                found.append(Verdict(self.recording.id, notes=(text,)))
        return found

    def close(self) -> None:
        """Clean up."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)


class Member:
    """A process that was started by the program of a run, and takes its part in it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run: Run | None = None
        self._recorder: Recorder | None = None
        self._replayer: Replayer | None = None
        self._family: Recorded | Replayed | None = None
        self._recording: Recording | None = None

    @property
    def recorder(self) -> Recorder | None:
        """The recorder behind it, if this is a recording."""
        return self._recorder

    @property
    def replayer(self) -> Replayer | None:
        """The replayer behind it, if this is a replay."""
        return self._replayer

    def record(self) -> Run:
        """Begin to write a file beside the others."""
        folder = Path(self.plan.folder)
        header = _header(folder)
        plan, writer = self._claim(folder)
        self.plan = plan
        rules = rules_of(header, plan.patterns)
        redactor = Redactor(rules, salt=bytes.fromhex(str(header.get("salt", ""))), environ=dict(os.environ))
        now = perf_counter()
        self._recorder = Recorder(writer, redactor, started=now)
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
        run = self._enter(self._recorder, RecordingTurnstile(), replaying=False)
        self._family = run.family = Recorded(run, self._recorder, plan)
        return run

    def _claim(self, folder: Path) -> tuple[Plan, Writer]:
        """The file of this process. Where a command starts several Pythons, each comes after the last."""
        ordinal = 0
        while True:
            process = self.plan.process + (f"~{ordinal}" if ordinal else "")
            try:
                return replaced(self.plan, process=process), Writer(folder / f"events.{key(process)}.jsonl")
            except FileExistsError:
                ordinal += 1

    def replay(self, recording: Recording | None = None) -> Run:
        """Begin to replay the file of this process."""
        self._recording = recording = recording or load(Path(self.plan.folder))
        ordinal = 0
        while not _reserve(self.plan.report, self.plan.process + (f"~{ordinal}" if ordinal else "")):
            ordinal += 1
        process = self.plan.process + (f"~{ordinal}" if ordinal else "")
        self.plan = replaced(self.plan, process=process)
        log = next((log for log in recording.logs if log.process == process), None)
        if log is None:
            # Its own header only: whatever it asks for is more than was recorded.
            log = Log((), _no_blobs)
        self._replayer = replayer_of(recording, log, self.plan.options)
        run = self._enter(self._replayer, self._replayer.turnstile, replaying=True)
        self._family = run.family = Replayed(run, recording, log, self.plan)
        return run

    def _enter(self, handler: Any, turnstile: Any, *, replaying: bool) -> Run:
        run = self.run
        if run is None:
            run = self.run = Run(handler, turnstile, replaying=replaying, root=self.plan.process)
            stdlib.begin(run)
        else:
            # Forked: what refers to the parent's run is this process's from here on.
            run.handler, run.turnstile, run.lock = handler, turnstile, threading.RLock()
            run.came, run.replaying = None, replaying
            run.root = Scope(self.plan.process, run)
        # A file of its own begins with the whole state.
        of_run(run).due = 0
        on_exit(self.finish)
        return run

    def finish(self, code: int | None, *, ending: Mapping[str, Tree] | None = None) -> None:
        """The process ends: seal its file, or report its verdict."""
        _scope.set(None)
        if self.run is not None:
            stdlib.end(self.run)
        if self._recorder is not None and isinstance(self._family, Recorded):
            self._family.finish()
            given = dict(ending or {})
            if self.run is not None:
                self._recorder.snapshots.finish(self.run)
            status = "error" if code or "error" in given else "ok"
            self._recorder.seal({"status": status, "exit": code, **given})
        elif self._replayer is not None and isinstance(self._family, Replayed):
            self._replayer.finish()
            self._family.finish()
            halted = self._replayer.poison is not None
            report(self.plan, verdict=verdict_tree(self.verdict()), halted=halted)
            self._family.close()

    def verdict(self) -> Verdict:
        """What the replay of this process and of those that it started amounts to."""
        assert self._replayer is not None
        assert isinstance(self._family, Replayed)
        return merged([self._replayer.verdict(self.plan.id), *self._family.verdicts()])


def logs_of(recording: Recording, path: str) -> list[Log]:
    """The recorded processes of one spawn: usually one; a command may have started several Pythons."""
    return [log for log in recording.logs if log.process == path or log.process.startswith(f"{path}~")]


def report(plan: Plan, **what: Any) -> None:
    """Leave word for the parent."""
    folder = Path(plan.report)
    if not plan.report or not folder.is_dir():
        return
    path = folder / f"{key(plan.process)}.json"
    part = path.with_suffix(".part")
    part.write_bytes(orjson.dumps({"process": plan.process, "pid": os.getpid(), **what}, default=repr))
    part.replace(path)


def _report(folder: str, process: str) -> dict[str, Any] | None:
    try:
        tree = orjson.loads((Path(folder) / f"{key(process)}.json").read_bytes())
    except (OSError, ValueError):
        return None
    verdict = tree.get("verdict")
    return verdict if isinstance(verdict, dict) else None


def _reserve(folder: str, process: str) -> bool:
    """Take the name of a process in a replay, once."""
    if not folder:
        return True
    try:
        Path(folder, f"{key(process)}.claim").touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def _files(folder: str, path: str) -> bool:
    return (Path(folder) / f"events.{key(path)}.jsonl").exists()


def _header(folder: Path) -> Mapping[str, Tree]:
    with (folder / EVENTS).open("rb") as file:
        return next(iter(read_events(file.readline(), str(folder / EVENTS), []))).data


def _no_blobs(address: str) -> bytes:
    raise CorruptRecording(f"blob {address[:19]}… belongs to no recorded process")


# -- the end of a process ------------------------------------------------------------------------------------

_endings: dict[int, Ending] = {}


def on_exit(ending: Ending) -> None:
    """Call `ending` with the exit status (None: not known) when this very process ends, in whatever way it can tell.
    The last one given counts: a fork has its own.
    """
    if not _endings:
        atexit.register(end)
        processes.EXITING.append(end)
    _endings.clear()
    _endings[os.getpid()] = ending


def moved(known: int) -> None:
    """This process goes on in the place of another, whose copy it is."""
    if known in _endings:
        _endings[os.getpid()] = _endings.pop(known)


def end(code: int | None = None) -> None:
    """The process ends now. Harmless when called again, or in a fork that has not taken part."""
    ending = _endings.pop(os.getpid(), None)
    if ending is not None:
        try:
            ending(code)
        except Exception as error:
            warn(f"the end of process {os.getpid()} was not recorded ({type(error).__name__}: {error})")
