"""`files`: the files of a run at a step, as a list or restored into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from reenact.analysis.views.file_tree import FilesView, blobs_of, files_view, root_of
from reenact.core.dataclass import dataclass
from reenact.core.files import trees
from reenact.core.files.restore import restore
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, VerbRoute
from reenact.verbs.marks import LOCAL, Cli, Ref, WireType


class Options(interface.Options):
    """List the files that a run used, or restore them as they were after a step.

    [bold]reenact files last 7 --out before[/bold]
    """

    common: ClassVar = (marks.HOME, marks.TEAM, marks.JSON)

    ref: Ref
    step: Annotated[
        int | None,
        Field(ge=1, description="A step (7); without one the end of the run."),
        Cli(argument=True, metavar="[STEP]"),
        WireType(le=1 << 31),
    ] = None
    at: Annotated[
        int | None, Field(ge=1, description="The step, as an option."), Cli(names=("--at",), metavar="STEP")
    ] = None
    out: Annotated[
        Path | None,
        Field(description="Write the files as they were into this new folder."),
        Cli(metavar="DIR"),
        LOCAL,
    ] = None


@dataclass(frozen=True)
class Result(interface.Result):
    """The files of a run.

    Attributes:
        view: The files.
        out: The folder that they were restored into, if they were.
        missing: The files whose bytes are not in the recording.
    """

    view: FilesView
    out: Path | None
    missing: tuple[Path, ...]

    def tree(self) -> FilesView:
        """Return the files as a view."""
        return self.view


def run(options: Options, context: Context) -> Result:
    """Read the files, and restore them if a folder is named.

    Raises RecordingError, StepNotFound, or UsageError for a run without files and a folder that is not empty.
    """
    if options.step is not None and options.at is not None and options.step != options.at:
        raise UsageError(f"step {options.step} and --at {options.at} are two steps; give one")
    step = options.step or options.at
    (facts,) = context.facts(options.ref)
    recording = facts.recording
    view = files_view(recording, step)
    if options.out is None:
        return Result(view, None, ())
    if not trees.has_files(recording):
        raise UsageError(f"no files were recorded in {recording.id}: its program used none in its folders")
    return Result(view, options.out, tuple(_restored(recording, step, options.out)))


def tree(result: Result) -> FilesView:
    """The files that a run used, after a step or at its end."""
    return result.view


ROUTES = (VerbRoute("/recordings/{id}/files", tree, {"step": "step"}),)


def _restored(recording: RecordedRun, step: int | None, out: Path) -> list[Path]:
    """Restore the files of all folders; of several each is a folder of `out`, by its name."""
    states = trees.final_states(recording) if step is None else trees.states_at(recording, step)
    owners = {
        path: root_of(path, trees.roots(recording)) for path, state in states.items() if state.kind != "none"
    }
    roots = tuple(dict.fromkeys(owners.values()))
    if len(roots) < 2:
        root = roots[0] if roots else Path("/")
        return restore(states, out, relative_to=root, blobs=blobs_of(recording))
    together = {}
    names = _names(roots)
    for path, root in owners.items():
        state = states[path]
        together[Path("/", names[root], path.relative_to(root))] = state
    missing = restore(together, out, relative_to=Path("/"), blobs=blobs_of(recording))
    back = {name: root for root, name in names.items()}
    return [back[path.parts[1]].joinpath(*path.parts[2:]) for path in missing]


def _names(roots: tuple[Path, ...]) -> dict[Path, str]:
    """Return a name of its own for each folder."""
    found: dict[Path, str] = {}
    for root in roots:
        name, number = root.name or "root", 1
        while name in found.values():
            number += 1
            name = f"{root.name}-{number}"
        found[root] = name
    return found
