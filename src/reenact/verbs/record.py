"""`record`: run a program and record it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from reenact.core.dataclass import dataclass
from reenact.core.extras import needing
from reenact.core.model.storable import LONGEST, LONGEST_TAG
from reenact.core.query.risky import EVERY
from reenact.core.record.given_folders import folders_of
from reenact.errors import ReenactError, UsageError
from reenact.run import launch
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, recordable
from reenact.verbs.marks import LOCAL, Cli, Command

if TYPE_CHECKING:
    from reenact.verbs.prove.proving import Proved

UNABLE = 2

OFF = "off"
"""The value of `--files` that turns the recording of files off."""

Name = Annotated[str, Field(description="The name that `reenact list` shows."), marks.ANYONE]
Tags = Annotated[
    tuple[str, ...],
    Field(description="A tag for the recording; may be given several times."),
    marks.ANYONE,
]


class Options(interface.Options):
    """Run a program and record it. The program needs no change.

    [bold]reenact record -- python agent.py "Cancel my order"[/bold]

    [bold]reenact record --proxy -- node agent.js[/bold]
    """

    common: ClassVar = (marks.HOME,)
    passes_options: ClassVar = True

    command: Command = ()
    name: Name = ""
    tag: Tags = ()
    proxy: Annotated[
        bool,
        Field(description="Record SDKs of any language by a proxy. Without COMMAND it waits for requests."),
        LOCAL,
    ] = False
    prove: Annotated[
        bool,
        Field(description="Then replay it five times under other conditions, as `reenact prove`."),
        LOCAL,
    ] = False
    risky: Annotated[
        str,
        Field(description="Take a snapshot of the tracked state before each such effect: 'tool:cancel_*'."),
        Cli(metavar="FILTER"),
        marks.ANYONE,
    ] = ""
    snapshot_every: Annotated[
        int,
        Field(ge=1, description="Take a snapshot of the tracked state after this many steps."),
        Cli(metavar="N"),
        marks.ANYONE,
    ] = EVERY
    files: Annotated[
        tuple[str, ...],
        Field(
            description="Record the files of this folder too; may be given several times. off: record no files."
        ),
        Cli(metavar="DIR"),
        marks.Configured(path=True, words=(OFF,)),
    ] = ()


@dataclass(frozen=True)
class Result(interface.Result):
    """The recording, and the end of the program.

    Attributes:
        done: The recording.
        proved: The replays, if they were asked for.
        unproved: The reason that it could not be replayed; else empty.
    """

    done: launch.Recorded
    proved: Proved | None = None
    unproved: str = ""

    @property
    def status(self) -> int:
        """The program's exit status; 2 if nothing was recorded.

        If the program ended well, but a replay departed, 1; if it could not be replayed, 2.
        """
        if self.done.recording is None:
            return UNABLE
        if self.unproved or (self.proved is not None and self.proved.unable):
            return self.done.status or UNABLE
        departed = self.proved is not None and self.proved.proof is None
        return self.done.status or int(departed)

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
        done = launch.record(
            options.command,
            name=options.name,
            tags=tags,
            home=context.home,
            risky=options.risky,
            every=options.snapshot_every,
            files=None if options.files == (OFF,) else folders_of(options.files),
        )
        return _proved(done, context) if options.prove and done.recording is not None else Result(done)
    if options.prove:
        raise UsageError("--prove is for Python programs: those of --proxy are replayed by `reenact replay`")
    if options.risky or options.snapshot_every != EVERY:
        raise UsageError("--risky and --snapshot-every are for Python programs: --proxy sees no state")
    with needing("proxy", "reenact record --proxy"):
        from reenact.run.launch import proxied  # noqa: PLC0415 - a server and a client that few commands need

    files = None if options.files == (OFF,) else folders_of(options.files)
    if options.command:
        return Result(
            proxied.record(options.command, name=options.name, tags=tags, home=context.home, files=files)
        )
    return Result(
        proxied.beside(context.listening, name=options.name, tags=tags, home=context.home, files=files)
    )


def _proved(done: launch.Recorded, context: Context) -> Result:
    """Replay the new recording under other conditions."""
    from reenact.verbs.prove.proving import TIMES, prove  # noqa: PLC0415 - few recordings are proved at once

    assert done.recording is not None
    try:
        proved = prove(done.recording, home=context.home, progress=partial(context.say, of=TIMES))
    except ReenactError as error:
        return Result(done, unproved=str(error))
    return Result(done, proved)
