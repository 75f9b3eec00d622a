"""`resume`: go on with a recording that was cut off."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from reenact.core.dataclass import dataclass
from reenact.run.launch import resuming
from reenact.run.launch.resuming import Resumed
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import Command, Policy, Ref, WireType

UNABLE, STOPPED = 2, 3


class Options(interface.Options):
    """Go on with a run that was cut off (kill -9, a lost machine), in the same recording.

    The program runs again: what it had received is answered from the recording, then it goes on live.

    A call in flight is made again if it only reads, or by --policy; a writing one is asked for on a terminal.

    Exit status: the program's; 2 could not resume, 3 stopped: a call in flight may have happened, or was refused.
    """

    common: ClassVar = (marks.HOME, marks.JSON)
    runs_programs: ClassVar = True

    ref: Ref
    command: Command = ()
    policy: Policy = ()
    files: Annotated[
        str,
        Field(description="Set the files back first to what they were before the run; or live: leave them."),
        WireType(of=Literal["recorded", "live"]),
    ] = "recorded"


@dataclass(frozen=True)
class Result(interface.Result):
    """The resumed recording."""

    resumed: Resumed

    @property
    def status(self) -> int:
        """The program's exit status; 2 if it was not resumed, 3 if it stopped."""
        if self.resumed.how == "failed":
            return UNABLE
        return STOPPED if self.resumed.how == "stopped" else self.resumed.status

    @property
    def failure(self) -> str:
        """The reason that nothing was resumed."""
        done = self.resumed
        return f"{done.recording.id} was not resumed: {done.reason}" if done.how == "failed" else ""

    def tree(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return self.resumed.tree()


def run(options: Options, context: Context) -> Result:
    """Resume the recording. Raises as `reenact.run.launch.resuming.resume` does."""
    done = resuming.resume(
        options.ref,
        options.policy,
        command=options.command,
        files=options.files,
        home=context.home,
        quiet=context.quiet,
    )
    return Result(done)
