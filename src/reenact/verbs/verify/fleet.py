"""Select the recordings of a fleet, reuse known outcomes, and replay the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.analysis.views.verification import Outcome, Status
from reenact.core.store.local import SUFFIX, LocalStore
from reenact.errors import ReenactError, UsageError
from reenact.run.launch import Options
from reenact.team.open import Reaching
from reenact.verbs.verify.crew import CrewOptions, Report
from reenact.verbs.verify.engine import Engine, Local, Task
from reenact.verbs.verify.kept import KeptOutcomes, OutcomeKey, code_version
from reenact.verbs.verify.outcome import REFUSED, outcome, outcome_of

if TYPE_CHECKING:
    from reenact.team.store import TeamStore

TIMEOUT = 60.0
"""Seconds that one replay may take."""

Progress = Callable[[Outcome], None]


def verify(
    refs: Sequence[str],
    *,
    entry: str = "",
    options: Options | None = None,
    workers: int = 0,
    timeout: float = TIMEOUT,
    home: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    resume: bool = False,
    team: TeamStore | None = None,
    run_foreign: bool = False,
) -> list[Outcome]:
    """Replay recordings against today's code, in parallel.

    Args:
        refs: Ids, prefixes, or paths.
        entry: The program's function: `pkg.module:function`. It is called with the arguments that `@reenact.recorded`
            wrote down; or, if its one parameter is `recording`, with that. Without an entry the recorded commands are
            run, each in a fresh interpreter.
        options: The options of the replays.
        workers: The number of parallel replays; by default one for each core. An engine of your own has its own number.
        timeout: The limit of each replay, in seconds.
        home: The folder of the recordings.
        progress: Called with each outcome as it comes.
        engine: Runs the replays; by default this machine.
        resume: Take the outcomes of an earlier run for the same recordings, code and options; replay only the rest.
        team: The team's store with the recordings, instead of `home`. Each is fetched when its turn comes.
        run_foreign: Let the recorded commands of foreign recordings run. Without it each of them is refused, and the
            others are replayed. An `entry` is the user's own: it needs no leave.

    Returns:
        The outcomes, in the order of `refs`.

    Raises:
        ProgramError: The entry cannot be imported.
        UsageError: The options do not fit together, or the engine is not available.
        StoreAway: The team's store does not answer.
    """
    if entry and (
        ":" not in entry or not all(part.isidentifier() for part in entry.replace(":", ".").split("."))
    ):
        raise UsageError(f"--entry {entry}: write it as pkg.module:function")
    store = Reaching(home) if team is None else team
    root = str(LocalStore(home).root)
    job = CrewOptions(entry, (options or Options()).tree(), float(timeout), root, run_foreign)
    versions = team.versions() if team is not None else {}
    outcomes: dict[int, Outcome] = {}
    lock = threading.Lock()

    def add(place: int, found: Outcome) -> None:
        if progress is not None:
            progress(found)
        outcomes[place] = found

    with KeptOutcomes(store.root) as kept:
        code = code_version(Path.cwd(), store.root)
        keys: dict[int, OutcomeKey] = {}

        def done(task: Task, report: Report) -> None:
            with lock:
                if task.place not in outcomes:  # an engine that lost a worker may run a recording twice
                    if REFUSED not in report:
                        kept.put(keys[task.place], report)
                    add(task.place, outcome_of(task.ref, report))

        tasks = []
        for place, ref in enumerate(refs):
            try:
                task = _task(place, ref, store, team, versions)
            except ReenactError as error:
                add(place, outcome(ref, Status.UNABLE, cause="no such recording", detail=str(error)))
                continue
            keys[place] = _key(task, code, job, versions)
            known = kept.get(keys[place]) if resume else None
            if known is not None:
                add(place, outcome_of(ref, known))
            else:
                tasks.append(task)
        if tasks:
            (engine or Local(workers)).run(tasks, job, done)
    return [outcomes[place] for place in range(len(refs))]


def _key(task: Task, code: str, job: CrewOptions, versions: Mapping[str, int]) -> OutcomeKey:
    if task.path:
        return OutcomeKey.of(Path(task.path), code, job)
    return OutcomeKey.named(f"{task.ref} v{versions.get(task.ref)}", code, job)


def _task(
    place: int, ref: str, store: LocalStore, team: TeamStore | None, versions: Mapping[str, int]
) -> Task:
    """Return the task of a reference.

    Raises RecordingError; a team's recording is fetched later.
    """
    if team is None or ref.endswith(SUFFIX):
        return Task(place, ref, str(store.find(ref)))
    return Task(place, ref if ref in versions else team.named(ref), "", team)
