"""`import`: bring exported recordings, and runs that other programs wrote, into the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any

from reenact.analysis.interchange import importers
from reenact.analysis.views.text import many
from reenact.core.dataclass import dataclass
from reenact.core.model.storable import LONGEST, LONGEST_TAG
from reenact.core.store.local import LocalStore, load
from reenact.core.trust.consent import standing_of
from reenact.errors import ReenactError, UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, recordable
from reenact.verbs.marks import LOCAL, Cli

_FORMATS = "; ".join(
    ["By default recognised. reenact: an export", *(f"{n}: {f.about}" for n, f in importers.FORMATS.items())]
)


class Options(interface.Options):
    """Import exported recordings, and runs that other programs wrote down.

    The formats are those of --format, as JSON, JSON lines, YAML or protobuf. What is imported lists, shows and searches
    like any recording; there is no program to replay, but code that speaks HTTP replays from a cassette by
    reenact.replay().

    A session of Claude Code or Codex brings the files of its turns: from its log, and from Git's commits if you are in
    its repository, or name it.
    """

    files: Annotated[
        tuple[Path, ...],
        Field(description="Files, each of any format that is known, or folders of them."),
        Cli(argument=True, metavar="FILE..."),
        LOCAL,
    ]
    format: Annotated[str, Field(description=_FORMATS)] = ""
    name: Annotated[
        str, Field(description="A name for the recordings, instead of the file's."), marks.ANYONE
    ] = ""
    tag: Annotated[
        tuple[str, ...],
        Field(description="A tag to give them; may be given several times."),
        marks.ANYONE,
    ] = ()
    repository: Annotated[
        str,
        Field(
            description="The Git repository of a coding agent's session. Default: yours, if it worked there. off: none."
        ),
        Cli(metavar="DIR"),
        LOCAL,
    ] = ""


@dataclass(frozen=True)
class ImportedFile:
    """A file and its recordings.

    Attributes:
        file: The file's path.
        format: Its recognised format.
        ids: The new recordings.
        origins: The origin of each, by its id.
    """

    file: str
    format: str
    ids: Sequence[str]
    origins: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Result(interface.Result):
    """The imported files.

    Attributes:
        imported: The imported files, with their recordings.
        failures: The reasons that other files could not be imported, in one line each.
    """

    imported: Sequence[ImportedFile]
    failures: Sequence[str]

    @property
    def status(self) -> int:
        """2 if some file could not be imported, else 0."""
        return 2 if self.failures else 0

    def tree(self) -> list[dict[str, Any]]:
        """Return the imported files as JSON values."""
        return [asdict(each) for each in self.imported]


def run(options: Options, context: Context) -> Result:
    """Import the files; one that cannot be imported does not stop the others."""
    store, tags = LocalStore(context.home), recordable("--tag", options.tag, LONGEST_TAG)
    recordable("--name", [options.name], LONGEST)
    joins = None if options.repository == "off" else _joins(options.repository)
    failures: list[str] = []
    imported: list[ImportedFile] = []
    for file in _expanded(options.files, failures):
        try:
            found, new = importers.bring(
                store,
                file,
                format=options.format,
                name=options.name,
                tags=tags,
                joins=joins,
                progress=partial(context.progress, f"importing {file.name}"),
            )
        except ReenactError as error:
            failures.append(str(error))
            continue
        except OSError as error:
            place = error.filename or store.root
            failures.append(f"{file} was not imported: {error.strerror or error}: {place}")
            continue
        standings = {id: standing_of(load(store.folder(id)), store.root) for id in new}
        origins = {id: standing.tree() for id, standing in standings.items()}
        imported.append(ImportedFile(str(file), found, new, origins))
        shown = new[0] if len(new) == 1 else many(len(new), "recording")
        # A log of another program has no seal that could be wrong.
        marks = [one.sentence for one in standings.values() if one.words] if found == "reenact" else []
        context.say(": ".join([f"imported {shown} from {file} ({found})", *marks]))
    return Result(imported, failures)


def _joins(named: str) -> importers.Joins:
    """Return the function that finds the repository of a session.

    It is the named one, or that of the working folder if the session worked in it: a log is foreign, so the folder
    that it names is not looked at. Raises UsageError if the named folder lies in no repository.
    """
    if named:
        importers.Repository(Path(named))
        return lambda _: importers.Repository(Path(named))

    def around(folder: str) -> importers.Repository | None:
        here = Path.cwd()
        if not folder.startswith("/") or not any(
            (above / ".git").exists() for above in (here, *here.parents)
        ):
            return None
        try:
            found = importers.Repository(here)
        except UsageError:
            return None
        return found if Path(normpath(folder)).is_relative_to(found.top) else None

    return around


def _expanded(given: Sequence[Path], failures: list[str]) -> Iterator[Path]:
    for path in given:
        try:
            yield from importers.files_in(path)
        except ReenactError as error:
            failures.append(str(error))
