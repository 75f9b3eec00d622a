"""`replay`: run a recorded program again, answered from the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from reenact.core.dataclass import dataclass
from reenact.run import launch
from reenact.run.launch.process import terminal_here
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import Command, Common, Files, Ignore, Live, Policy, Ref, Tools, WireType

if TYPE_CHECKING:
    from reenact.analysis.views.replays import ReplayedView

FAITHFUL, DIVERGED, UNABLE = 0, 1, 2

JSON = Common("json", "As JSON; what the program writes goes to standard error.")

OnDivergence = Annotated[
    str,
    Field(description="raise, realign (for edited programs), or live."),
    WireType(of=Literal["raise", "realign", "live"]),
    marks.BUT_LIVE,
]
Inserted = Annotated[
    str,
    Field(description="With realign, the answer to a new call: refuse or live."),
    WireType(of=Literal["refuse", "live"]),
    marks.BUT_LIVE,
]


class Options(interface.Options):
    """Run the recorded program again, offline: every answer comes from the recording.

    Exit status: 0 faithful, 1 diverged or partly from the recording, 2 could not run.
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME, JSON)
    runs_programs: ClassVar = True

    ref: Ref
    command: Command = ()
    live: Live = ()
    tools: Tools = ()
    ignore: Ignore = ()
    on_divergence: OnDivergence = "raise"
    inserted: Inserted = "refuse"
    pace: Annotated[
        str,
        Field(description="fast, or real to take as long as recorded."),
        WireType(of=Literal["fast", "real"]),
        marks.ANYONE,
    ] = "fast"
    files: Files = "recorded"
    policy: Policy = ()


@dataclass(frozen=True)
class Result(interface.Result):
    """The replay."""

    done: launch.Replayed

    @property
    def status(self) -> int:
        """0 for a faithful replay, 1 for any other, 2 if there was none."""
        if self.done.verdict is None:
            return UNABLE
        return FAITHFUL if self.done.verdict.faithful else DIVERGED

    @property
    def failure(self) -> str:
        """The reason that there is no verdict."""
        done = self.done
        return f"{done.recording.id} was not replayed: {done.failed}" if done.verdict is None else ""

    def tree(self) -> ReplayedView:
        """Return the verdict as a view, or the reason that there is none."""
        from reenact.analysis.views.replays import (  # noqa: PLC0415 - the views of all verbs that replay
            ReplayedView,
            verdict_view,
        )

        done = self.done
        more = {"failed": done.failed} if done.verdict is None else {"verdict": verdict_view(done.verdict)}
        return ReplayedView(
            recording=done.recording.id, exit=done.status, warnings=tuple(done.warnings), **more
        )


def run(options: Options, context: Context) -> Result:
    """Replay the recording. Raises as `reenact.run.launch.replay` does."""
    chosen = launch.Options(
        options.live, options.ignore, options.on_divergence, options.inserted, options.pace, options.tools,
        options.files, options.policy, terminal_here(),
    )  # fmt: skip
    run_foreign = context.may_run((options.ref,), options.command)
    done = launch.replay(
        options.ref,
        chosen,
        command=options.command,
        home=context.home,
        quiet=context.quiet,
        run_foreign=run_foreign,
    )
    return Result(done)
