"""The parts of a verb: its `Options`, its `Result`, and the `Context` in which it runs.

A verb is a module with `Options`, `run(options, context)` and `Result`. The command line, the server's jobs and their
document, and the routes of `ROUTES` are derived from the fields of `Options`: see docs/decisions/0010-verbs.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self, dataclass_transform

from reenact.core.extras import needing
from reenact.core.model.storable import why_not
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recording import Recording
from reenact.core.store.base import Library
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore, nameable
from reenact.errors import UsageError
from reenact.verbs.fields import Convert, Field, NotValid, OptionField, fields_of

if TYPE_CHECKING:
    from reenact.analysis.views.base import View

# -- fields --------------------------------------------------------------------------------------------------


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


class Wire:
    """The type and the limits of a field in a request, if others than its own type gives.

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
        unless: Values, and modes behind `=`, for which the file must be trusted all the same.
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


class Mark:
    """A mark of a field that has no values of its own."""


RECORDING = Mark()
"""Marks a field that names recordings. In a job's order each is a full id."""

LOCAL = Wire(offered=False)
"""Marks a field that no order of a job has: a path, a command, the form of the output."""

Ref = Annotated[
    str,
    Field(description="An id, the beginning of one, `last`, or a path."),
    Cli(argument=True, metavar="ID"),
    RECORDING,
]
Command = Annotated[
    tuple[str, ...],
    Field(description="The program and its arguments, behind `--`."),
    Cli(argument=True, metavar="-- COMMAND..."),
    LOCAL,
]
Filtered = Annotated[
    tuple[str, ...],
    Field(description="tool:cancel_order, error, tokens > 4000 …"),
    Convert(lambda given: (given,) if isinstance(given, str) else given),
    Cli(argument=True, metavar="[FILTER]"),
    Wire(of=str, default="", max_length=4000),
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
    Wire(of=Literal["recorded", "live"]),
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
    Wire(longest=10_000),
    NEVER,
]

INSTEAD = "a command of your own behind `--`"
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


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """The options of a verb. The docstring of the subclass is the help of the command.

    The values are checked when an object is made. Raises UsageError for the first that is not valid.

    Attributes:
        common: The common options of the command, in the order of its help.
        passes_options: Everything behind the first argument belongs to the started program.
        passes_unknown: Unknown options belong to the started program.
        reads_settings: The verb itself reads what its table of the configuration file has beside options.
        sorts_foreign: The verb refuses foreign recordings one by one, and goes on with the others.
    """

    common: ClassVar[tuple[Common, ...]] = (HOME, JSON)
    passes_options: ClassVar[bool] = False
    passes_unknown: ClassVar[bool] = False
    sorts_foreign: ClassVar[bool] = False
    reads_settings: ClassVar[bool] = False

    def __init__(self, **values: Any) -> None:
        known = self.fields()
        for name in values.keys() - known.keys():
            raise UsageError(f"{name}: there is no such option")
        for name, info in known.items():
            if name not in values:
                if info.required:
                    raise UsageError(f"{name}: it is required")
                continue
            try:
                vars(self)[name] = info.valid(values[name])
            except NotValid as error:
                place = ".".join(map(str, (name, *error.inside)))
                raise UsageError(f"{place}: {error}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: options do not change")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().items()))

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    @classmethod
    @cache
    def fields(cls) -> dict[str, OptionField]:
        """Return the fields by their names, in the order of the help."""
        return fields_of(cls)

    def values(self) -> dict[str, Any]:
        """Return the values of all fields by their names."""
        return {name: getattr(self, name) for name in self.fields()}

    @property
    def starts_programs(self) -> bool:
        """True if a program or a recorded request is run again, or a model is asked."""
        return False

    @classmethod
    def of_order(cls, values: dict[str, Any]) -> Self:
        """Return the options for the values of a job's order. Raises UsageError."""
        return cls(**values)


@dataclass(frozen=True, slots=True)
class VerbRoute:
    """A GET route of the server that runs a verb. `ROUTES` of its module has them.

    Attributes:
        path: The path under `/api/v1`; `{id}` is the recording that the verb is about.
        answer: Makes the body of a Result. Its return annotation is the body's model, its docstring the description.
        query: The options in the query, by the names of the parameters.
        given: Options that have the same value in every request.
    """

    path: str
    answer: Callable[[Any], View]
    query: Mapping[str, str]
    given: Mapping[str, Any] = field(default_factory=dict)


def recordable(option: str, values: Iterable[str], most: int) -> tuple[str, ...]:
    """Check an option's texts for use in a recording.

    Raises UsageError for one that is not UTF-8, or longer than `most` letters.
    """
    found = tuple(values)
    for value in found:
        if not nameable(value):
            raise UsageError(f"{option} {value!r}: its bytes are not UTF-8; give it in UTF-8")
        if problem := why_not(value, most):
            raise UsageError(f"{option} {value[:40]}…: it {problem}")
    return found


def optional(module: str, extra: str, feature: str) -> Any:
    """Import a module that needs an extra. Raises MissingExtra, with the feature."""
    with needing(extra, feature):
        return import_module(module)


# -- running -------------------------------------------------------------------------------------------------


@dataclass
class Context:
    """The surroundings of a running verb.

    Interfaces subclass it to ask the user and to show progress.

    Attributes:
        home: The folder of the recordings; None for the default.
        run_foreign: Programs of foreign recordings may run.
        team: The recordings are those of the team's store.
        files: In a job, whose recordings are named by full ids, the folder for the files that it makes. None on the
            command line, where files without a given path go to the current folder.
        quiet: Standard output is for the result alone.
    """

    home: Path | None = None
    run_foreign: bool = False
    team: bool = False
    files: Path | None = None
    quiet: bool = False

    @property
    def store(self) -> LocalStore:
        """The recordings."""
        return LocalStore(self.home)

    @contextmanager
    def opened(self) -> Iterator[tuple[LocalStore, Library]]:
        """Open the recordings and their index."""
        store = self.store
        with closing(Index(store)) as index:
            yield store, index

    def facts(self, *refs: str) -> list[RecordingFacts]:
        """Read recordings. Raises RecordingError."""
        with self.opened() as (store, _):
            return [RecordingFacts(store.load(ref)) for ref in refs]

    def may_run(
        self,
        recordings: Sequence[str | Recording],
        command: Sequence[str] = (),
        *,
        requests: bool = False,
        starts: bool = True,
        instead: str = INSTEAD,
    ) -> bool:
        """Ask the user, if there is one, for leave to run programs of foreign recordings.

        Args:
            recordings: The recordings whose programs are to run.
            command: A command of the user's own to run instead.
            requests: Recorded requests are to be sent again.
            starts: The programs are to start now: one that cannot needs no leave.
            instead: The way to do without those programs, for messages.

        Raises ForeignRecording where the answer is no.
        """
        return self.run_foreign

    def say(self, line: str, of: int | None = None) -> None:
        """Report one finished part, of so many if that is known."""

    def note(self, line: str) -> None:
        """Report the present activity."""

    def warn(self, line: str) -> None:
        """Report a part that failed while the others go on."""

    def confirm(self, question: str, details: Iterable[str]) -> bool | None:
        """Ask the user for consent, after some lines of details; None without a user to ask."""
        return None

    def listening(self, environ: Mapping[str, str]) -> None:
        """Report the environment variables that point SDKs at a recording proxy, once it listens."""

    def progress(self, what: str, done: int, total: int, *, label: str = "", note: str = "") -> None:
        """Report the number of finished parts.

        Args:
            what: The work, in one word.
            done: The number of finished parts.
            total: The number of all parts.
            label: The part that was finished last.
            note: A remark on all finished parts.
        """


class Result(ABC):
    """The outcome of a verb."""

    @property
    def status(self) -> int:
        """The exit status of the command; of a program ended by a signal, minus its number."""
        return 0

    @property
    def failure(self) -> str:
        """The reason that a job with this outcome counts as failed, in one sentence; else empty."""
        return ""

    @abstractmethod
    def tree(self) -> Any:
        """Return the outcome as JSON values: the output of `--json`, and the result of a job.

        None prints nothing: the output has a form of its own.
        """


@dataclass(frozen=True)
class Shown(Result):
    """The outcome of a command that has shown it itself: a server, a screen, a page."""

    status: int = 0

    def tree(self) -> None:
        """Return None: nothing is left to show."""


class Module(Protocol):
    """The module of a verb. Only one with `routes=True` in the registry has `ROUTES`."""

    Options: type[Options]
    ROUTES: Sequence[VerbRoute]

    @staticmethod
    def run(options: Any, context: Context, /) -> Result:
        """Run the verb."""
