"""`bisect`: find the answers of a good run that turn a bad run good."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from reenact.analysis.views.replays import BisectionView, TrialView, change_view
from reenact.core.dataclass import dataclass
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, RECORDING, Cli, Command, Ignore, Live, WireType
from reenact.verbs.reproduce import Decisive, bisect
from reenact.verbs.reproduce.bisection import TRIALS
from reenact.verbs.reproduce.rerun import PATIENCE
from reenact.verbs.reproduce.verb import Timeout


class Options(interface.Options):
    """Find the decisive step: the fewest answers of a good run that turn the bad run good.

    Each trial replays the program, offline, with some answers of the good run.

    [bold]reenact bisect 3f9a --good last --check 'grep -q refunded "$REENACT_STDOUT"'[/bold]

    Exit status: 0 found, 1 no answer changes the outcome, 2 could not search.
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME, marks.JSON)
    runs_programs: ClassVar = True

    bad: Annotated[str, Field(description="The bad run."), Cli(argument=True, metavar="BAD"), RECORDING]
    command: Command = ()
    good: Annotated[str, Field(description="A good run of the same program."), RECORDING]
    check: Annotated[
        str,
        Field(
            description="A command that judges an outcome: exit status 0 is good, 125 undecided. $REENACT_STDOUT is a "
            "file with the program's output."
        ),
    ] = ""
    check_output: Annotated[
        bool,
        Field(description="An outcome is good if the output is that of the good run."),
        LOCAL,
        marks.ANYONE,
    ] = False
    live: Live = ()
    ignore: Ignore = ()
    exact: Annotated[
        bool,
        Field(description="Answer only requests that are identical, with the same history."),
        marks.ANYONE,
    ] = False
    trials: Annotated[
        int, Field(ge=1, description="The maximum number of trials."), WireType(le=10_000), marks.ANYONE
    ] = TRIALS
    timeout: Timeout = PATIENCE

    @classmethod
    def of_order(cls, values: dict[str, Any]) -> Self:
        """Compare the output where an order has no check."""
        return super().of_order({**values, "check_output": not values.get("check")})


@dataclass(frozen=True)
class Result(interface.Result):
    """The result of the search."""

    found: Decisive

    @property
    def status(self) -> int:
        """0 if some answers turn the bad run, else 1."""
        return 0 if self.found.changes else 1

    def tree(self) -> BisectionView:
        """Return the search as a view."""
        found = self.found
        trials = tuple(
            TrialView(
                changes=tuple(change.name for change in trial.changes),
                result=trial.result,
                why=trial.why or None,
                approximate=trial.approximate,
                seconds=round(trial.seconds, 3),
            )
            for trial in found.trials
        )
        return BisectionView(
            summary=found.sentence,
            bad=found.bad.id,
            good=found.good.id,
            changes=tuple(change_view(change) for change in found.changes),
            minimal=found.minimal,
            spent=found.spent,
            turns_back=found.back,
            runs=found.runs,
            trials=trials,
            notes=found.notes,
        )


def run(options: Options, context: Context) -> Result:
    """Search. Raises as `reenact.bisect` does."""
    if bool(options.check) == options.check_output:
        raise UsageError("say what is good: either --check 'a command', or --check-output")
    run_foreign = context.may_run((options.bad, options.good), options.command)
    found = bisect(
        options.bad,
        options.good,
        check=options.check or None,
        live=options.live,
        ignore=options.ignore,
        exact=options.exact,
        trials=options.trials,
        patience=options.timeout,
        command=options.command,
        home=context.home,
        run_foreign=run_foreign,
        progress=context.say,
    )
    return Result(found)
