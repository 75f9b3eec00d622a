"""A recording that was cut off and goes on: the process that resumes it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from reenact.core import system
from reenact.core.boundary import entered
from reenact.core.boundary.turnstile.resumption import ResumingTurnstile
from reenact.core.files.trees import has_files
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.model.header import by_proxy
from reenact.core.model.log import RESUMED
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.own import own_identity
from reenact.core.record.recorder import Recorder
from reenact.core.store.continued import ContinuedWriter
from reenact.core.store.local import EVENTS, LocalStore, argument_of
from reenact.core.store.writer import warn
from reenact.core.system import perf_counter
from reenact.core.trust import Where, consent
from reenact.errors import UsageError
from reenact.run.files.process_files import files_of
from reenact.run.files.replayed import ReplayedFiles
from reenact.run.files.set_back import COPIES, SetBack
from reenact.run.fork import started
from reenact.run.fork.event_lines import EventLines
from reenact.run.fork.family import run_of
from reenact.run.fork.live_files import last_received, record_files
from reenact.run.fork.point import check_stored
from reenact.run.fork.resumer import Resumer
from reenact.run.guard_plan import GuardPlan
from reenact.run.plan import FILES, Plan
from reenact.run.processes import replayer_of, rules_of
from reenact.run.replayer import redactor_of


class Resumption:
    """A recording that goes on.

    Args:
        recording: The recording that was cut off.
        plan: The plan of this process, with the policy.
        words, terminal: The policy, and the path of the terminal to ask on.
    """

    def __init__(self, recording: RecordedRun, plan: Plan, words: tuple[str, ...], terminal: str) -> None:
        check(recording, Path(plan.home))
        self.recording = recording
        self._plan = plan
        self._released = self._begun = False
        self._scratch = ""
        log = self._log = recording.logs[0]
        self._folder = Path(recording.path).absolute()
        self.guarding = GuardPlan(str(self._folder), words, terminal, folder=plan.report, command=True)
        self.guarding.check_functions()
        self.writer = _writer(recording)
        redactor = redactor_of(recording.header, rules_of(recording.header))
        self.recorder = Recorder(
            self.writer,
            redactor,
            first=max(log.calls, default=0) + 1,
            identity=own_identity(plan.home, plan.keys),
        )
        self.recorder.asked, self.recorder.alone = len(log.calls), len(recording.logs) == 1
        turnstile = ResumingTurnstile(len(log.times))
        options = {"live": (), "ignore": (), "policy": "raise"}
        self.replayer = replayer_of(recording, log, options, turnstile)
        turnstile.set_strict()
        self.handler = Resumer(
            self.replayer,
            self.recorder,
            EventLines(self._folder),
            log,
            guard=self.guarding.guard(recording),
            release=self._release,
            lives=self._lives,
        )
        before, after = self._own("replay"), lambda: self._own("record")
        self.run, self.family = run_of(self.handler, recording, before, after)
        self.files = self._set_back()
        if not log.times:
            self._lives()

    def _set_back(self) -> ReplayedFiles | None:
        """Set the files back, so that the program changes them again as it did. Raises UsageError.

        The changes of answered calls are applied with their answers.
        """
        copies = self._plan.options.get(COPIES)
        if not copies or not system.FILES:
            return None
        self._scratch = str(Path(self._plan.report) / COPIES)
        try:
            with entered(None):
                SetBack(self.recording, Path(copies), [Path(self._plan.home)]).run(Path(self._scratch))
        except OSError as error:
            raise UsageError(
                f"recording {self.recording.id} cannot be resumed: its files cannot be set back ({error}); "
                "--files live leaves them as they are"
            ) from None
        self.family.replayed.plan = self._own("replay")
        files = files_of(self.recording, self._log, self.replayer, self._scratch, say=warn)
        if files is not None:
            self.run.scratch = lambda path: not self.handler.gone_live and files.covers(path)
            self.run.waits, self.run.commands = files.waits, files.asked
        return files

    def seal(self, ending: dict[str, Tree]) -> None:
        """Write the last line."""
        self._release()
        self.recorder.seal(ending)

    def close(self) -> None:
        """Leave the recording unsealed: it can be resumed again."""
        self.writer.close()

    def _own(self, mode: str) -> Plan:
        return Plan(
            mode,
            self.recording.id,
            str(self._folder),
            self._plan.home,
            self._plan.report,
            began=self.recorder.started,
            hash_seed=self._plan.hash_seed,
            options={FILES: self._scratch} if self._scratch and mode == "replay" else {},
            keys=self._plan.keys,
        )

    def _lives(self) -> None:
        """Record files from here on, after the last recorded answer, if they were recorded before."""
        if self._begun:
            return
        self._begun = True
        self.run.waits = None
        self.recorder.started = perf_counter() - self._log.last
        received = self._log.calls.values()
        if system.FILES and has_files(self.recording):
            record_files(self.run, self.recorder, self.recording, received, self._plan.home)
        else:
            last = last_received(received)
            self.recorder.snapshots.last = 0 if last is None else last.number

    def _release(self) -> None:
        if self._released:
            return
        self._released = True
        self._lives()
        after = len(self._log.calls)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        text = f"cut off after {after} steps, and resumed at {now}" if after else f"resumed at {now}"
        line: dict[str, Tree] = {"event": "noted", "what": RESUMED, "text": text, "t": self._log.last}
        self.writer.release(codec.dumps(line))


def check(recording: RecordedRun, home: Path) -> None:
    """Raise UsageError if a recording cannot be resumed."""
    id = recording.id
    check_stored(Path(recording.path))
    if recording.logs[0].sealed is not None:
        raise UsageError(
            f"recording {id} has ended ({recording.status}): there is nothing to resume; "
            f"`reenact fork {argument_of(recording)} --at STEP` goes on from a step"
        )
    if by_proxy(recording.header):
        raise UsageError(
            f"recording {id} was made by the proxy, which cannot resume a program; fork it instead"
        )
    started.check_whole(recording)
    if consent.standing_of(recording, home).where is not Where.HOME:
        raise UsageError(
            f"recording {id} was made elsewhere, and only its own home can resume it; fork it instead"
        )
    if Path(recording.path).absolute().parent != LocalStore(home).recordings:
        raise UsageError(f"recording {id} lies outside of {home}; name its home with --home")


def _writer(recording: RecordedRun) -> ContinuedWriter:
    try:
        return ContinuedWriter(Path(recording.path) / EVENTS)
    except UsageError as error:
        raise UsageError(f"recording {recording.id} cannot be resumed: {error}") from None
    except OSError as error:
        raise UsageError(
            f"recording {recording.id} cannot be resumed: {recording.path} cannot be written ({error.strerror})"
        ) from None
