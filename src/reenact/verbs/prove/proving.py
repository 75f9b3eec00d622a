"""Replay a recording several times, each time under other conditions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reenact.analysis.attempts import Attempt, FirstDeparture, departed, judge
from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import LocalStore
from reenact.core.trust import Book
from reenact.core.trust.consent import content
from reenact.core.trust.proofs import Proof, Proofs
from reenact.errors import UsageError
from reenact.run.launch import Options
from reenact.verbs.prove.calling import FunctionCall, call_again
from reenact.verbs.prove.perturbing import Condition, Perturbed, perturbed, shared_out
from reenact.verbs.reproduce.attempts import attempt_of
from reenact.verbs.reproduce.rerun import PATIENCE, rerun

TIMES = 5
"""The default number of replays."""


@dataclass(frozen=True, slots=True)
class Round:
    """One replay.

    Attributes:
        number: Its number, from 1.
        conditions: The conditions that were changed for it.
        departed: Where it was not as recorded, or None.
        attempt: The replay.
    """

    number: int
    conditions: tuple[Condition, ...]
    departed: FirstDeparture | None
    attempt: Attempt

    @property
    def ended(self) -> bool:
        """The replay has ended within its time: it can be judged."""
        return self.attempt.verdict is not None or self.attempt.status is not None

    def __str__(self) -> str:
        how = ", ".join(each.value for each in self.conditions) or "as recorded"
        return f"replay {self.number} ({how})"


@dataclass(frozen=True, slots=True)
class Proved:
    """The result of the replays.

    Attributes:
        recording: The replayed recording.
        trials: The replays, in order.
        missed: The conditions that could not be made here, with the reasons.
        uncovered: The inputs that the recording does not cover, one sentence each: the likely reasons.
        proof: The proof, if all replays were faithful.
        unwritten: The reason that the proof could not be written; else empty.
    """

    recording: RecordedRun
    trials: tuple[Round, ...]
    missed: dict[Condition, str]
    uncovered: tuple[str, ...]
    proof: Proof | None
    unwritten: str = ""

    @property
    def departures(self) -> list[Round]:
        """The replays that were not as recorded."""
        return [trial for trial in self.trials if trial.departed is not None and trial.ended]

    @property
    def unable(self) -> bool:
        """No replay departed, but some did not end, or none could run."""
        none_ran = all(trial.attempt.verdict is None for trial in self.trials)
        return self.proof is None and (none_ran or not self.departures)

    @property
    def steady(self) -> bool:
        """All replays departed in the same way: the program has changed, or reads other input."""
        places = [trial.departed.place if trial.departed else () for trial in self.trials]
        return len(self.departures) == len(self.trials) > 1 and all(place == places[0] for place in places)

    @property
    def incomplete(self) -> bool:
        """No replay differed, and none could be faithful: the recording lacks a part."""
        doubts = [trial for trial in self.departures if trial.departed is not None and trial.departed.doubt]
        return len(doubts) == len(self.trials) > 0

    @property
    def sentence(self) -> str:
        """The result in a line: how many replays departed, and where the first one did."""
        if self.proof is not None:
            return self.proof.sentence
        found = self.departures or [trial for trial in self.trials if trial.departed is not None]
        if not found:
            return "the recording changed while it was replayed"
        first = found[0]
        assert first.departed is not None
        count = f"{len(found)} of {len(self.trials)} replays"
        if self.unable:
            return f"{count} could not be judged; {first}: {first.departed.text}"
        return f"{count} departed from the recording; {first}: {first.departed.text}"

    @property
    def causes(self) -> list[Condition]:
        """The conditions that only departed replays had; empty if all departed in the same way."""
        if self.steady or self.incomplete or self.unable:
            return []
        held = {each for trial in self.trials if trial.departed is None for each in trial.conditions}
        return [
            each
            for each in Condition
            if each not in held and any(each in trial.conditions for trial in self.departures)
        ]

    @property
    def advice(self) -> list[str]:
        """The likely causes and their remedies, one sentence each."""
        if self.incomplete:
            return ["no replay can be faithful: the recording lacks a part, or a part runs for real"]
        if self.steady:
            return ["every replay departs in the same way: the program or its files are not those recorded"]
        return list(dict.fromkeys(each.advice for each in self.causes))


def prove(
    recording: RecordedRun,
    *,
    times: int = TIMES,
    patience: float = PATIENCE,
    home: str | os.PathLike[str] | None = None,
    run_foreign: bool = False,
    call: FunctionCall | None = None,
    progress: Callable[[str], None] | None = None,
) -> Proved:
    """Replay a recording several times under other conditions, and remember the proof.

    A departure removes an older proof. No replay is repeated.

    Args:
        recording: The recording.
        times: The number of replays; as many at once as there are cores.
        patience: Seconds that each may take. One that takes longer is no departure, and no proof.
        home: The folder of the recordings.
        run_foreign: Let the program of a foreign recording run.
        call: A call to make instead of running the recorded program.
        progress: Called with a line for each replay.

    Raises ForeignRecording where the recording comes from elsewhere and nothing allows its program, ProgramError where
    the program cannot be run, UsageError.
    """
    if times < 1:
        raise UsageError(f"times={times}: there must be at least one")
    before = content(recording)

    def again(conditions: Perturbed) -> Attempt:
        if call is not None:
            conditions.stays("the call is imported from the present one")
            return call_again(recording, call, conditions, patience=patience)
        words = Options().tree()
        more: dict[str, Any] = {"home": home, "patience": patience, "run_foreign": run_foreign}
        return attempt_of(rerun(recording, words, verb="prove", conditions=conditions, **more))

    bench = _Rounds(recording, again, progress)
    trials, missed = bench.run(shared_out(times))
    judged = judge(recording, [trial.attempt for trial in trials])
    proof = None
    if all(trial.departed is None for trial in trials) and content(recording) == before:
        applied = {each for trial in trials for each in trial.conditions}
        names = tuple(each.value for each in Condition if each in applied)
        proof = Proof(times, datetime.now(UTC).isoformat(timespec="seconds"), names)
    done = Proved(recording, tuple(trials), missed, judged.uncovered, proof)
    if proof is None and not done.departures:
        return done
    try:
        Proofs(Book(LocalStore(home).root)).put(recording.id, before, proof)
    except UsageError as error:
        return replace(done, unwritten=str(error))
    return done


class _Rounds:
    """Runs the replays, as many at once as there are cores."""

    def __init__(
        self,
        recording: RecordedRun,
        again: Callable[[Perturbed], Attempt],
        progress: Callable[[str], None] | None,
    ) -> None:
        self._recording, self._again, self._progress = recording, again, progress
        self._running: list[Perturbed] = []

    def run(self, wanted: Sequence[tuple[Condition, ...]]) -> tuple[list[Round], dict[Condition, str]]:
        """Return the replays in order, and the conditions that could not be made in any of them."""
        missed: dict[Condition, str] = {}
        trials = []
        with ThreadPoolExecutor(min(len(wanted), system.cores())) as pool:
            try:
                for trial, lacking in pool.map(self._one, range(1, len(wanted) + 1), wanted):
                    trials.append(trial)
                    missed |= lacking
                    self._say(trial)
            except BaseException:
                self._stop(pool)
                raise
        made = {each for trial in trials for each in trial.conditions}
        return trials, {each: why for each, why in missed.items() if each not in made}

    def _one(self, number: int, wanted: tuple[Condition, ...]) -> tuple[Round, dict[Condition, str]]:
        with perturbed(wanted, self._recording, number) as conditions:
            self._running.append(conditions)
            attempt = self._again(conditions)
            found = departed(self._recording, attempt)
            return Round(number, conditions.applied, found, attempt), conditions.missed

    def _say(self, trial: Round) -> None:
        if self._progress is not None:
            word = "faithful" if trial.departed is None else "departed" if trial.ended else "no end"
            self._progress(f"{trial}: {word}, {trial.attempt.seconds:.1f} s")

    def _stop(self, pool: ThreadPoolExecutor) -> None:
        """End the running programs: the user does not wait for them."""
        pool.shutdown(wait=False, cancel_futures=True)
        for conditions in self._running:
            if conditions.process is not None and conditions.process.poll() is None:
                system.kill_group(conditions.process.pid)
