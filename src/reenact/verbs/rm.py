"""`rm`: delete recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

from reenact.analysis.views.text import ago, many
from reenact.core.dataclass import dataclass
from reenact.core.query.summary import Summary
from reenact.core.store import shared
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, RECORDING, Cli

_NAMED = 20

Yes = Annotated[bool, Field(description="Do not ask."), Cli(names=("--yes", "-y")), LOCAL, marks.NEVER]


class Options(interface.Options):
    """Delete recordings."""

    common: ClassVar = (marks.HOME,)

    refs: Annotated[
        tuple[str, ...],
        Field(description="Ids, or the first characters of ids."),
        Cli(argument=True, metavar="ID..."),
        RECORDING,
    ]
    yes: Yes = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The deleted recordings.

    Attributes:
        deleted: Their ids.
        made_whole: The recordings that shared lines with them, and have them now.
    """

    deleted: Sequence[str] = ()
    made_whole: Sequence[str] = ()

    def tree(self) -> dict[str, Any]:
        """Return the deleted recordings as JSON values."""
        return {"deleted": list(self.deleted)}


def run(options: Options, context: Context) -> Result:
    """Delete the recordings, after asking. An error is raised before any is deleted."""
    store = LocalStore(context.home)
    # All are looked up before any is deleted: a mistyped id deletes nothing.
    found = list(dict.fromkeys(store.find(ref) for ref in options.refs))
    for path in found:
        if path.parent != store.recordings:
            raise UsageError(f"{path} lies outside of {store.recordings}; delete it as a file")
    lines = {line.id: line for line in Index(store).summaries()}
    chosen = [lines.get(path.name) or Summary(path.name, str(path)) for path in found]
    return delete(store, chosen, context, yes=options.yes, why="reenact rm")


def delete(store: LocalStore, chosen: Sequence[Summary], context: Context, *, yes: bool, why: str) -> Result:
    """Delete recordings, after asking the user unless `yes` is set.

    Raises UsageError without a terminal to ask on.
    """
    counted = many(len(chosen), "recording")
    if not yes:
        agreed = context.confirm(f"Delete {counted}?", named(chosen, "delete"))
        if agreed is None:
            raise UsageError(f"{counted} would be deleted; without a terminal to ask on, give --yes")
        if not agreed:
            return Result()
    made_whole = shared.detach(store.recordings, [line.id for line in chosen])
    for number, line in enumerate(chosen, 1):
        store.remove(store.folder(line.id), detached=True, why=why)
        context.progress("deleting", number, len(chosen), label=line.id)
    return Result([line.id for line in chosen], made_whole)


def named(chosen: Sequence[Summary], verb: str) -> Iterator[str]:
    """Yield a line for each recording, and one for those that are too many to name."""
    for line in chosen[:_NAMED]:
        what = line.broken or f"{line.name or '-'}, {many(line.steps, 'step')}, {ago(line.started)}"
        yield f"{verb} {line.id} ({what})"
    if len(chosen) > _NAMED:
        yield f"{verb} {len(chosen) - _NAMED} more"
