"""Mark an option: its form on the command line, in a request and in a configuration file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from reenact.core.dataclass import dataclass
from reenact.verbs.fields import Convert, Field


@dataclass(frozen=True, slots=True)
class Cli:
    """The spelling of a field on the command line; without one it is the option `--its-name`.

    Attributes:
        names: The option's names, such as `("--output", "-o")`.
        argument: It is an argument, and no option.
        metavar: The word for its value in the help.
        required: It must be given there, though a server's job has a default for it.
        offered: The command line has it.
        parser: Reads its value from the text; by default the type does.
    """

    names: tuple[str, ...] = ()
    argument: bool = False
    metavar: str | None = None
    required: bool = False
    offered: bool = True
    parser: Callable[[str], Any] | None = None


class WireType:
    """The type and the limits of a field in a request, if they differ from its own.

    A request is a job's order, or the query of a route.

    Args:
        offered: An order may have it.
        of: Its type there.
        default: Its default there. A field with its default is not passed on: the default of `Options` counts.
        longest: The most letters of a text in a list.
        limits: Arguments of pydantic's `Field`, such as `le=100`.
    """

    def __init__(
        self,
        *,
        offered: bool = True,
        of: Any = None,
        default: Any = ...,
        longest: int = 1000,
        **limits: float,
    ) -> None:
        self.offered, self.type, self.default = offered, of, default
        self.longest, self.limits = longest, limits


@dataclass(frozen=True, slots=True)
class Configured:
    """The right of a configuration file to set an option; without it, a trusted file may.

    Attributes:
        offered: A file may set it.
        anyone: A file that is not trusted may.
        unless: Values, and modes after `=`, for which the file must be trusted nevertheless.
        path: Its values are paths, which begin in the file's folder.
        words: Values that are no paths.
    """

    offered: bool = True
    anyone: bool = False
    unless: tuple[str, ...] = ()
    path: bool = False
    words: tuple[str, ...] = ()


ANYONE = Configured(anyone=True)
"""Marks an option that each configuration file may set: it runs, sends and writes nothing."""


NEVER = Configured(offered=False)
"""Marks an option that no configuration file may set: consent, and addresses of data."""


BUT_LIVE = Configured(anyone=True, unless=("live",))
"""Marks an option that each configuration file may set, except to run calls for real."""


class FieldMark:
    """A mark of a field that has no values of its own."""


RECORDING = FieldMark()
"""Marks a field that names recordings. In a job's order each is a full id."""


LOCAL = WireType(offered=False)
"""Marks a field that no order of a job has: a path, a command, the form of the output."""


Ref = Annotated[
    str,
    Field(description="An id, the beginning of one, `last`, `last~1` (the one before), or a path."),
    Cli(argument=True, metavar="ID"),
    RECORDING,
]


Command = Annotated[
    tuple[str, ...],
    Field(description="The program and its arguments, after `--`."),
    Cli(argument=True, metavar="-- COMMAND..."),
    LOCAL,
]


Filtered = Annotated[
    tuple[str, ...],
    Field(description="tool:cancel_order, error, tokens > 4000 …"),
    Convert(lambda given: (given,) if isinstance(given, str) else given),
    Cli(argument=True, metavar="[FILTER]"),
    WireType(of=str, default="", max_length=4000),
]


Live = Annotated[
    tuple[str, ...], Field(description="Run for real: a kind (tool) or one (tool:cancel_order).")
]


Tools = Annotated[
    tuple[str, ...],
    Field(description="Tools: rerun, answer or live; for one: refund=answer."),
    BUT_LIVE,
]


Files = Annotated[
    str,
    Field(description="Run on the recorded files, in scratch; or live, on your own."),
    WireType(of=Literal["recorded", "live"]),
    BUT_LIVE,
]


Ignore = Annotated[
    tuple[str, ...],
    Field(description="Parts that are not compared: args.body.seed, order, stdout, stderr."),
    ANYONE,
]


Policy = Annotated[
    tuple[str, ...],
    Field(description="What may run for real: refund=live, api.example.com=refuse, git=ask …"),
    WireType(longest=10_000),
    NEVER,
]


INSTEAD = "a command of your own after `--`"
"""The way to run a foreign recording without its program."""


SHARED = {"live": Live, "tools": Tools, "ignore": Ignore}
"""The options that a configuration file may also set for all commands that have them."""


@dataclass(frozen=True, slots=True)
class Common:
    """An option of many commands, about their surroundings; `common` of a verb lists its own.

    Attributes:
        name: `home`, `run_foreign`, `team` or `json`.
        help: The text of `--help`.
    """

    name: str
    help: str


HOME = Common("home", "The folder of the recordings; by default $REENACT_HOME, or .reenact here.")


RUN_FOREIGN = Common(
    "run_foreign", "Let the recorded program run, though the recording comes from elsewhere."
)


TEAM = Common("team", "In the team's store, $REENACT_STORE, and not here.")


JSON = Common("json", "As JSON.")
