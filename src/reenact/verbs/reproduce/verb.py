"""`reproduce`: replay a failure several times, and compare the replays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, ClassVar

from reenact.analysis.attempts import Reproduces, Reproduction
from reenact.analysis.views.replays import ReproductionView, reproduction_view
from reenact.analysis.world import RepeatedQuestion
from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import RecordedRun
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import Command, Ignore, Live, Ref, WireType
from reenact.verbs.reproduce.attempts import TIMES, reproduce
from reenact.verbs.reproduce.rerun import PATIENCE
from reenact.verbs.reproduce.world import check_world

Timeout = Annotated[float, Field(ge=0.1, description="The limit of each run, in seconds."), WireType(le=3600)]
CheckWorld = Annotated[
    bool, Field(description="Send the recorded GET and HEAD requests again, and compare the responses.")
]


class Options(interface.Options):
    """Replay a failure several times, and report if it reproduces.

    Exit status: 0 reproduced, 1 different or flaky, 2 could not run.
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME, marks.JSON)
    runs_programs: ClassVar = True

    ref: Ref
    command: Command = ()
    times: Annotated[
        int, Field(ge=1, description="The number of replays."), WireType(le=100), marks.ANYONE
    ] = TIMES
    live: Live = ()
    ignore: Ignore = ()
    check_world: CheckWorld = False
    timeout: Timeout = PATIENCE


@dataclass(frozen=True)
class Result(interface.Result):
    """The replays.

    Attributes:
        recording: The replayed recording.
        reproduction: The replays and their comparison.
        asked: The recorded requests, sent again; None if they were not.
    """

    recording: RecordedRun
    reproduction: Reproduction
    asked: Sequence[RepeatedQuestion] | None

    @property
    def status(self) -> int:
        """0 for reproduced, 1 for different or flaky, 2 if it cannot be run."""
        found = self.reproduction.result
        return {Reproduces.REPRODUCED: 0, Reproduces.CANNOT_RUN: 2}.get(found, 1)

    def tree(self) -> ReproductionView:
        """Return the replays as a view."""
        return reproduction_view(self.reproduction, self.asked)


def run(options: Options, context: Context) -> Result:
    """Replay the recording. Raises as `reenact.reproduce` does."""
    recording = context.store.load(options.ref)
    run_foreign = context.may_run((recording,), options.command, requests=options.check_world)
    progress = partial(context.say, of=options.times)
    done = reproduce(
        recording,
        times=options.times,
        live=options.live,
        ignore=options.ignore,
        patience=options.timeout,
        command=options.command,
        home=context.home,
        run_foreign=run_foreign,
        progress=progress,
    )
    asked = None
    if options.check_world:
        asked = check_world(recording, home=context.home, run_foreign=run_foreign, progress=progress)
    return Result(recording, done, asked)
