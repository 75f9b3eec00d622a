"""`prove`: replay a recording under other conditions, and remember that it held."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar

from reenact.analysis.views.replays import ProofView, ProvingReplayView
from reenact.core.dataclass import dataclass
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import Ref
from reenact.verbs.prove.proving import TIMES, Proved, prove
from reenact.verbs.reproduce.rerun import PATIENCE

PROVED, DEPARTED, UNABLE = 0, 1, 2


class Options(interface.Options):
    """Replay a recording several times under other conditions, and mark it as proved.

    Each replay has another hash seed, another working folder with the same files, a busy core, shifted delays, or
    threads that are switched every microsecond.

    Exit status: 0 proved, 1 a replay departed from the recording, 2 it could not be proved.
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME, marks.JSON)
    runs_programs: ClassVar = True

    ref: Ref
    times: Annotated[int, Field(ge=1, description="The number of replays."), marks.ANYONE] = TIMES
    timeout: Annotated[
        float, Field(ge=0.1, description="Seconds that each replay may take."), marks.ANYONE
    ] = PATIENCE


@dataclass(frozen=True)
class Result(interface.Result):
    """The replays."""

    done: Proved

    @property
    def status(self) -> int:
        """0 if all replays were faithful, 1 if one was not, 2 if they could not be judged."""
        return PROVED if self.done.proof is not None else UNABLE if self.done.unable else DEPARTED

    def tree(self) -> ProofView:
        """Return the replays as a view."""
        done = self.done
        replays = tuple(
            ProvingReplayView(
                number=trial.number,
                conditions=tuple(each.value for each in trial.conditions),
                faithful=trial.departed is None,
                step=trial.departed.step if trial.departed is not None else None,
                departure=trial.departed.text if trial.departed is not None else None,
                exit=trial.attempt.status,
                seconds=round(trial.attempt.seconds, 3),
            )
            for trial in done.trials
        )
        return ProofView(
            recording=done.recording.id,
            proved=done.proof.times if done.proof is not None else None,
            result=done.sentence,
            departed=len(done.departures),
            advice=tuple(done.advice),
            not_applied={each.value: why for each, why in done.missed.items()},
            uncovered=done.uncovered,
            replays=replays,
        )


def run(options: Options, context: Context) -> Result:
    """Replay the recording. Raises as `prove` does."""
    recording = context.store.load(options.ref)
    return Result(
        prove(
            recording,
            times=options.times,
            patience=options.timeout,
            home=context.home,
            run_foreign=context.may_run((recording,), instead=""),
            progress=partial(context.say, of=options.times),
        )
    )
