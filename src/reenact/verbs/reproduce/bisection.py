"""Find the decisive step: the good run's answers that turn a bad run good, by running it.

    found = reenact.bisect("bad-id", "good-id", check=lambda run: "refunded" in run.stdout)
    found.changes[0].name               # step 7, model gpt-4o

Each trial executes the program for real, in a process of its own, answered from the bad run with some of the good
run's answers in their place. Only the effects of `live` run for real, and no recording is changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from reenact.analysis.decisive import Change, DecisiveSearch, Differences, Result, differences, search
from reenact.core.dataclass import dataclass
from reenact.core.model.header import program_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.mixing import NEITHER, OTHERS_LIKE, OWN
from reenact.core.store.local import argument_of
from reenact.errors import Departure, UsageError
from reenact.run.api.forking import load
from reenact.run.api.replaying import Source
from reenact.run.launch import STDOUT, Options
from reenact.run.plan import MIX
from reenact.verbs.reproduce.outcome_check import Check, Predicate, by_command, by_output, by_predicate
from reenact.verbs.reproduce.rerun import PATIENCE, Rerun, rerun, where

TRIALS = 40
"""The default maximum number of trials."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One execution of the program.

    Attributes:
        changes: The good run's answers that it was given.
        result: The result of the check, or the reason that there is none.
        why: The reason, if it is undecided.
        approximate: The number of questions that differed in their history alone, and were answered nevertheless.
        seconds: Its duration.
    """

    changes: tuple[Change, ...]
    result: Result
    why: str = ""
    approximate: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        what = "; ".join(change.name for change in self.changes[:3])
        if len(self.changes) > 3:
            what += f"; and {len(self.changes) - 3} more"
        return f"{what or 'as recorded'}: {self.result.value}{f' ({self.why})' if self.why else ''}"


@dataclass(frozen=True, slots=True)
class Decisive:
    """The result of a search.

    Attributes:
        bad, good: The two runs.
        changes: The smallest set of the good run's answers with which the bad run turns good; empty if there is none.
        minimal: No part of that set does, as far as its trials could be judged; False if the trials were used up
            before that was sure.
        spent: The trials were used up.
        back: True if the good run turns bad with the bad run's answers; None if that could not be tried.
        trials: Every trial of the search, in order.
        runs: The number of executions of the program.
        differences: All differences between the answers of the two runs.
        notes: Further facts for a careful reader.
    """

    bad: RecordedRun
    good: RecordedRun
    changes: tuple[Change, ...]
    minimal: bool
    spent: bool
    back: bool | None
    trials: tuple[Trial, ...]
    runs: int
    differences: Differences
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        if len(self.changes) == 1:
            (change,) = self.changes
            what = "answer" if change.step is not None else "values"
            return f"{change.name}: with the good run's {what} the outcome changes"
        if self.changes:
            names = "; ".join(change.name for change in self.changes)
            return f"together they change the outcome, with the good run's answers: {names}"
        if self.spent:
            return "the trials were used up before the outcome changed; --trials allows more"
        if self.trials and self.trials[0].result is Result.UNDECIDED:
            return "no trial changed the outcome, and some were undecided"
        return "the good run's answers do not change the outcome, even all together: the cause is elsewhere"


def bisect(
    bad: Source,
    good: Source,
    *,
    check: str | Predicate | None = None,
    live: Iterable[str] = (),
    ignore: Iterable[str] = (),
    exact: bool = False,
    trials: int = TRIALS,
    patience: float = PATIENCE,
    command: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    run_foreign: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Decisive:
    """Find the smallest set of a good run's answers that makes a bad run of the program good.

        reenact.bisect("3f9a", "last", check=lambda run: "refunded" in run.stdout).changes

    Args:
        bad: The run that went wrong: an id, a prefix, `"last"`, a path, or a Recording.
        good: One that went well.
        check: The check: a function of a `Rerun` that gives True, False, None (undecided); or a shell command
            (exit status 0 good, 125 undecided); None: compare the output with that of the good run.
        live: Kinds (`"tool"`) or labels that run for real in every trial.
        ignore: The parts that are not compared, as for a replay.
        exact: Answer only questions that are identical. By default, a question that differs only in its history
            gets the answer of its counterpart.
        trials: The maximum number of trials. Six more runs confirm that check and result can be trusted.
        patience: Seconds that each run, and each check, may take.
        command: Another program than the recorded one.
        home: The folder of the recordings.
        run_foreign: Let the programs of foreign recordings run.
        progress: Called with a line for each run.

    Raises:
        UsageError: The check fails or disagrees with itself, the bad run is not bad or the good one not good, or the
            two have nothing in common.
        ForeignRecording: A recording comes from elsewhere, and nothing allows its program.
        ProgramError: The program cannot be run again.
        RecordingError: There is no such recording.
    """
    runs = [source if isinstance(source, RecordedRun) else load(source, home=home) for source in (bad, good)]
    if trials < 1:
        raise UsageError(f"trials={trials}: there must be at least one")
    bench = _Bench(
        runs[0],
        runs[1],
        tuple(live),
        tuple(ignore),
        exact=exact,
        patience=patience,
        command=command,
        home=home,
        run_foreign=run_foreign,
        progress=progress or _ignore_progress,
    )
    found = bench.differences()
    if callable(check):
        bench.check = by_predicate(check)
    elif check is not None:
        bench.check = by_command(check, where(runs[0], command), patience)
    else:
        bench.check = by_output(*runs)
    bench.trust(runs[0], Result.BAD)
    bench.trust(runs[1], Result.GOOD)
    return bench.conclude(found, search(found, bench.trial, trials=trials))


def _ignore_progress(text: str) -> None:
    """Do nothing with a line of progress."""


def _undecided(done: Rerun) -> Result:
    """Return UNDECIDED: the check before one is set."""
    return Result.UNDECIDED


class _Bench:
    """Makes the trials."""

    def __init__(
        self,
        bad: RecordedRun,
        good: RecordedRun,
        live: tuple[str, ...],
        ignore: tuple[str, ...],
        *,
        exact: bool,
        patience: float,
        command: Sequence[str],
        home: str | os.PathLike[str] | None,
        run_foreign: bool,
        progress: Callable[[str], None],
    ) -> None:
        self.bad, self.good = bad, good
        self.check: Check = _undecided
        self.trials: list[Trial] = []
        self.runs = 0
        self._live, self._ignore, self._exact = live, ignore, exact
        self._more: dict[str, Any] = {
            "command": command,
            "home": home,
            "patience": patience,
            "run_foreign": run_foreign,
        }
        self._progress = progress
        self._notes: dict[str, None] = {}

    def differences(self) -> Differences:
        """Return the differences of the two runs' answers.

        Raises UsageError if there are none to try.
        """
        bad, good = self.bad, self.good
        if Path(bad.path).resolve() == Path(good.path).resolve():
            raise UsageError(f"{bad.id} is both the bad and the good run: give two recordings")
        found = differences(bad, good, self._live)
        if not found.shared and not found.reads:
            raise UsageError(f"{bad.id} and {good.id} have no step in common")
        if not found.answers and not found.reads:
            raise UsageError(
                f"{bad.id} and {good.id} got the same answers in all {found.shared} common steps: "
                f"no answer can be decisive"
            )
        argv = [program_of(run.header).get("argv") for run in (bad, good)]
        if argv[0] != argv[1]:
            self._note(
                "the two runs were started with different arguments; all trials use those of the bad run"
            )
        for step in found.fixed:
            self._note(
                f"step {step} differs, but was cancelled or broke off in one of the runs: it was not tried"
            )
        return found

    def trust(self, recording: RecordedRun, expected: Result) -> None:
        """Replay a run twice, and check each outcome. Raises UsageError for an unexpected one."""
        which = "bad" if expected is Result.BAD else "good"
        seen: list[tuple[Result, Rerun]] = []
        for _ in range(2):
            done = self._run(recording, Options(self._live, (*self._ignore, STDOUT)).tree())
            self._must_replay(done, which)
            first, second = self.check(done), self.check(done)
            if first is not second:
                raise UsageError(
                    f"the check is flaky: of the same outcome of the {which} run {recording.id} it said "
                    f"{first.value}, then {second.value}"
                )
            self._progress(f"the {which} run as recorded: {first.value}")
            seen.append((first, done))
        (one, before), (two, after) = seen
        if one is not two:
            same = before.stdout == after.stdout and before.status == after.status
            why = (
                "the check is flaky: it disagrees with itself on equal outcomes"
                if same
                else "the outcome does not depend on the recording alone: two replays ended differently "
                f"(`reenact reproduce {argument_of(recording)}` says more)"
            )
            raise UsageError(f"{why} ({which} run {recording.id}: {one.value}, then {two.value})")
        if one is not expected:
            raise UsageError(
                f"by the check the {which} run {recording.id} is {one.value}: the search cannot work with it"
            )

    def trial(self, changes: Collection[Change]) -> Result:
        """Run the bad run's program with these answers of the good run."""
        chosen = tuple(c for c in sorted(changes, key=lambda c: (c.step is None, c.step or 0, c.name)))
        trial = self._tried(self.bad, self.good, chosen)
        self.trials.append(trial)
        self._progress(f"trial {len(self.trials)}: {trial}")
        return trial.result

    def conclude(self, found: Differences, result: DecisiveSearch) -> Decisive:
        """Confirm the result by one more trial, and try the reverse with the good run."""
        back = None
        if result.changes:
            again = self._tried(self.bad, self.good, result.changes)
            self._progress(f"once more: {again}")
            if again.result is not Result.GOOD:
                names = "; ".join(change.name for change in result.changes)
                raise UsageError(
                    f"the outcome is flaky: with {names} from the good run it was good once, then {again.result.value}"
                )
            if again.approximate:
                times = "question was" if again.approximate == 1 else "questions were"
                self._note(
                    f"{again.approximate} {times} different in the history alone, and got the answer of the "
                    f"counterpart (--exact refuses that)"
                )
            reverse = self._tried(self.good, self.bad, tuple(_turned(change) for change in result.changes))
            self._progress(f"the good run with the bad one's: {reverse}")
            back = {Result.BAD: True, Result.GOOD: False}.get(reverse.result)
        return Decisive(
            self.bad,
            self.good,
            result.changes or (),
            result.minimal,
            result.spent,
            back,
            tuple(self.trials),
            self.runs,
            found,
            tuple(self._notes),
        )

    # -- internal --------------------------------------------------------------------------------------------

    def _tried(self, one: RecordedRun, other: RecordedRun, changes: tuple[Change, ...]) -> Trial:
        words = Options(self._live, (*self._ignore, STDOUT), on_divergence="realign").tree()
        words[MIX] = {
            "other": str(Path(other.path).absolute()),
            "swap": {str(change.step): change.other for change in changes if change.step is not None},
            "reads": [list(change.reads) for change in changes if change.reads is not None],
            "exact": self._exact,
        }
        done = self._run(one, words)
        approximate = sum(
            each.detail in (OWN, OTHERS_LIKE) for each in (done.verdict.divergences if done.verdict else ())
        )
        if done.halted or done.verdict is None:
            return Trial(changes, Result.UNDECIDED, _why(done), approximate, done.seconds)
        result = self.check(done)
        why = "the check was undecided" if result is Result.UNDECIDED else ""
        return Trial(changes, result, why, approximate, done.seconds)

    def _run(self, recording: RecordedRun, words: dict[str, Any]) -> Rerun:
        self.runs += 1
        verb = f"bisect --good {self.good.id}" if recording is self.bad else "replay"
        return rerun(recording, words, verb=verb, **self._more)

    def _must_replay(self, done: Rerun, which: str) -> None:
        if done.verdict is None:
            raise UsageError(f"the {which} run {done.recording.id} does not run again: {done.failed}")
        if done.verdict.divergence is not None:
            raise UsageError(
                f"the program no longer does what the {which} run {done.recording.id} recorded: "
                f"{done.verdict.divergence}; bisect with the code that was recorded"
            )
        for warning in done.warnings:
            self._note(warning)

    def _note(self, text: str) -> None:
        self._notes[text] = None


def _turned(change: Change) -> Change:
    """Return the same change as seen from the good run."""
    return Change(change.name, change.other, change.step, change.alike, change.good, change.bad, change.reads)


def _why(done: Rerun) -> str:
    if done.verdict is None:
        return done.failed
    unknown = [each for each in done.verdict.divergences if each.detail == NEITHER]
    if unknown:
        return f"no run asked {unknown[-1].address}"
    halting = [each for each in done.verdict.divergences if each.kind is not Departure.MISSING]
    return str(halting[-1]) if halting else "the replay was stopped"
