"""The parts of a verb: its `Options`, its `Result`, and the `Context` in which it runs.

A verb is a module with `Options`, `run(options, context)` and `Result`. The command line, the server's jobs and their
document, and the routes of `ROUTES` are derived from the fields of `Options`: see docs/decisions/0010-verbs.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, dataclass_transform

from reenact.core.dataclass import dataclass
from reenact.core.extras import needing
from reenact.core.model.storable import why_not
from reenact.core.store.local import LocalStore, nameable
from reenact.errors import UsageError
from reenact.verbs.fields import NotValid, OptionField, fields_of
from reenact.verbs.marks import HOME, INSTEAD, JSON, Common

if TYPE_CHECKING:
    from reenact.analysis.views.base import View
    from reenact.core.query.facts import RecordingFacts
    from reenact.core.query.recorded_run import RecordedRun
    from reenact.core.store.base import Library

# -- fields --------------------------------------------------------------------------------------------------


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """The options of a verb. The docstring of the subclass is the help of the command.

    The values are checked when an object is made. Raises UsageError for the first that is not valid.

    Attributes:
        common: The common options of the command, in the order of its help.
        passes_options: Everything after the first argument belongs to the started program.
        passes_unknown: Unknown options belong to the started program.
        reads_settings: The verb itself reads the entries of its configuration table that are no options.
        sorts_foreign: The verb refuses foreign recordings one by one, and goes on with the others.
        runs_programs: The verb always runs a program again.
    """

    common: ClassVar[tuple[Common, ...]] = (HOME, JSON)
    passes_options: ClassVar[bool] = False
    passes_unknown: ClassVar[bool] = False
    sorts_foreign: ClassVar[bool] = False
    runs_programs: ClassVar[bool] = False
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
        return self.runs_programs

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
        from reenact.core.store.index import Index  # noqa: PLC0415 - queries, which `record` does not need

        store = self.store
        with closing(Index(store)) as index:
            yield store, index

    def facts(self, *refs: str) -> list[RecordingFacts]:
        """Read recordings. Raises RecordingError."""
        from reenact.core.query.facts import RecordingFacts  # noqa: PLC0415 - likewise

        with self.opened() as (store, _):
            return [RecordingFacts(store.load(ref)) for ref in refs]

    def may_run(
        self,
        recordings: Sequence[str | RecordedRun],
        command: Sequence[str] = (),
        *,
        requests: bool = False,
        starts: bool = True,
        instead: str = INSTEAD,
    ) -> bool:
        """Ask the user, if there is one, for consent to run programs of foreign recordings.

        Args:
            recordings: The recordings whose programs are to run.
            command: A command of the user's own to run instead.
            requests: Recorded requests are to be sent again.
            starts: The programs are to start now: one that cannot start needs no consent.
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
