"""`fork`: run a program again up to a step, and live from there."""

from __future__ import annotations

from typing import Annotated, ClassVar

from reenact.analysis.views.replays import ForkedView
from reenact.core.dataclass import dataclass
from reenact.run.fork.point import check_stored
from reenact.run.launch import forking
from reenact.run.launch.options import Forked
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, Command, Files, Ignore, Live, Policy, Ref, WireType

UNABLE, STOPPED = 2, 3


class Options(interface.Options):
    """Replay the program up to a step, and run it live from there; record the result.

    With --set, the step has another answer, and the replay continues while the program's requests match the recording.

    Calls of models and reading calls run; a writing one is asked for on a terminal, else refused: see --policy.

    Exit status: the program's; 2 could not fork, 3 stopped: no model is available, or a call was refused.
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME, marks.JSON)
    runs_programs: ClassVar = True

    ref: Ref
    command: Command = ()
    at: Annotated[int, Field(description="The first live step."), WireType(ge=1)]
    set: Annotated[
        tuple[str, ...],
        Field(
            description="Change its answer: 'output.status = \"lost\"', 'text = No.', 'error = \"KeyError: x\"'."
        ),
        WireType(longest=10_000),
    ] = ()
    model: Annotated[
        str, Field(description="Use this language model from there on."), WireType(max_length=200)
    ] = ""
    live: Live = ()
    ignore: Ignore = ()
    policy: Policy = ()
    files: Files = "recorded"
    keep_files: Annotated[
        str, LOCAL, Field(description="Copy the files at its end into this new folder.")
    ] = ""


@dataclass(frozen=True)
class Result(interface.Result):
    """The fork.

    Attributes:
        forked: Its result.
        at: The step of the fork.
    """

    forked: Forked
    at: int

    @property
    def status(self) -> int:
        """The program's exit status; 2 if nothing was forked, 3 if it stopped."""
        if self.forked.recording is None:
            return UNABLE
        return STOPPED if self.forked.how == "stopped" else self.forked.status

    @property
    def failure(self) -> str:
        """The reason that nothing was forked."""
        done = self.forked
        return f"{done.parent.id} was not forked: {done.reason}" if done.recording is None else ""

    def tree(self) -> ForkedView:
        """Return the fork as a view."""
        done = self.forked
        return ForkedView(
            parent=done.parent.id,
            step=self.at,
            recording=done.recording.id if done.recording is not None else None,
            how=done.how,
            reason=done.reason or None,
            exit=done.status,
            ran=tuple(done.ran),
        )


def run(options: Options, context: Context) -> Result:
    """Fork the recording. Raises as `reenact.run.launch.forking.fork` does."""
    chosen = forking.Options(
        options.at, options.set, options.model, options.live, options.ignore, options.policy,
        options.files, options.keep_files,
    )  # fmt: skip
    # Before the question whether its program may run.
    check_stored(context.store.find(options.ref))
    run_foreign = context.may_run((options.ref,), options.command)
    done = forking.fork(
        options.ref,
        chosen,
        command=options.command,
        home=context.home,
        quiet=context.quiet,
        run_foreign=run_foreign,
    )
    return Result(done, options.at)
