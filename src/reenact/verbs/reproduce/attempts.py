"""Replay a failure several times, each in a process of its own, to see if it reproduces."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from reenact.analysis.attempts import Attempt, Reproduces, Reproduction, judge
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import ProgramError, UsageError
from reenact.run.api.forking import load
from reenact.run.launch import Options
from reenact.run.output import masked
from reenact.verbs.reproduce.rerun import PATIENCE, Rerun, rerun

TIMES = 5
"""The default number of replays."""


def reproduce(
    source: str | os.PathLike[str] | RecordedRun,
    *,
    times: int = TIMES,
    live: Iterable[str] = (),
    ignore: Iterable[str] = (),
    patience: float = PATIENCE,
    command: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    run_foreign: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Replay a recording several times; compare the results with each other and the recording.

        reenact.reproduce("last").result          # Reproduces.REPRODUCED

    Args:
        source: An id, a prefix, `"last"`, a path, or a Recording.
        times: The number of replays.
        live: Kinds (`"tool"`) or labels that run for real.
        ignore: The parts that are not compared, as for a replay.
        patience: Seconds that each replay may take.
        command: Another program than the recorded one.
        home: The folder of the recordings.
        run_foreign: Let the program of a foreign recording run.
        progress: Called with a line for each replay.

    Raises ForeignRecording where the recording comes from elsewhere and nothing allows its program, UsageError for
    an invalid option, RecordingError where there is no such recording. A program that cannot be run is a
    result, and no error.
    """
    if times < 1:
        raise UsageError(f"times={times}: there must be at least one")
    recording = source if isinstance(source, RecordedRun) else load(source, home=home)
    words = Options(tuple(live), tuple(ignore)).tree()
    attempts: list[Attempt] = []
    for number in range(1, times + 1):
        try:
            done = rerun(
                recording, words, command=command, home=home, patience=patience, run_foreign=run_foreign
            )
        except ProgramError as error:
            return Reproduction(recording.id, Reproduces.CANNOT_RUN, str(error))
        attempts.append(attempt_of(done))
        if progress is not None:
            word = (
                "no verdict"
                if done.verdict is None
                else "faithful"
                if done.verdict.faithful
                else "not faithful"
            )
            progress(f"replay {number} of {times}: {word}, exit status {done.status}, {done.seconds:.1f} s")
        if done.verdict is None and done.status is None:
            # A program that hangs once would hang again, each time for as long.
            break
    return judge(recording, attempts)


def attempt_of(done: Rerun) -> Attempt:
    """Return the parts of a run's result that are compared with other runs."""
    written = str(done.written.get("text")) if done.written is not None else done.stdout
    complaints = [line for line in done.stderr.splitlines() if line.strip()]
    return Attempt(
        done.status,
        tuple(masked(written).splitlines()),
        done.verdict,
        done.failed,
        complaints[-1].strip() if complaints else "",
        done.seconds,
        done.warnings,
    )
