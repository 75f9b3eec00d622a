"""`record`: run a program and record it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from reenact.core.model.storable import LONGEST, LONGEST_TAG
from reenact.core.record.snapshot import EVERY
from reenact.errors import UsageError
from reenact.run import launch
from reenact.verbs import interface
from reenact.verbs.interface import LOCAL, Cli, Command, Context, recordable

UNABLE = 2

Name = Annotated[str, Field(description="The name that `reenact list` shows.")]
Tags = Annotated[tuple[str, ...], Field(description="A tag for the recording; may be given several times.")]


class Options(interface.Options):
    """Run a program and record it. The program needs no change.

    [bold]reenact record -- python agent.py "Cancel my order"[/bold]

    [bold]reenact record --proxy -- node agent.js[/bold]
    """

    common: ClassVar = (interface.HOME,)
    passes_options: ClassVar = True

    command: Command = ()
    name: Name = ""
    tag: Tags = ()
    proxy: Annotated[
        bool,
        Field(description="Record SDKs of any language by a proxy. Without COMMAND it waits for requests."),
        LOCAL,
    ] = False
    risky: Annotated[
        str,
        Field(description="Take a snapshot of the tracked state before each such effect: 'tool:cancel_*'."),
        Cli(metavar="FILTER"),
    ] = ""
    snapshot_every: Annotated[
        int,
        Field(ge=1, description="Take a snapshot of the tracked state after this many steps."),
        Cli(metavar="N"),
    ] = EVERY


@dataclass(frozen=True)
class Result(interface.Result):
    """The recording, and the end of the program."""

    done: launch.Recorded

    @property
    def status(self) -> int:
        """The program's exit status; 2 if nothing was recorded."""
        return UNABLE if self.done.recording is None else self.done.status

    @property
    def failure(self) -> str:
        """The reason that nothing was recorded."""
        return f"nothing was recorded: {self.done.failed}" if self.done.recording is None else ""

    def tree(self) -> dict[str, Any]:
        """Return the recording's id and the program's exit status as JSON values."""
        recording = self.done.recording
        return {"recording": None if recording is None else recording.id, "exit": self.done.status}


def run(options: Options, context: Context) -> Result:
    """Record the program. Raises ProgramError, or UsageError for contradicting options."""
    tags = recordable("--tag", options.tag, LONGEST_TAG)
    recordable("--name", [options.name], LONGEST)
    if not options.proxy:
        return Result(
            launch.record(
                options.command,
                name=options.name,
                tags=tags,
                home=context.home,
                risky=options.risky,
                every=options.snapshot_every,
            )
        )
    if options.risky or options.snapshot_every != EVERY:
        raise UsageError("--risky and --snapshot-every are for Python programs: --proxy sees no state")
    from reenact.run.launch import proxied  # noqa: PLC0415 - a server and a client that few commands need

    if options.command:
        return Result(proxied.record(options.command, name=options.name, tags=tags, home=context.home))
    return Result(proxied.beside(context.listening, name=options.name, tags=tags, home=context.home))
