"""`label`: give a recording labels and a note."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any

from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import Labels
from reenact.core.store import labels
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import LocalStore
from reenact.core.store.quotas import IntakeLimits
from reenact.errors import UsageError
from reenact.verbs import interface
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import RECORDING, Cli


class Options(interface.Options):
    """Give a recording labels and a note, for yourself and others."""

    ref: Annotated[
        str,
        Field(description="Its id, or the first characters of it."),
        Cli(argument=True, metavar="ID"),
        RECORDING,
    ]
    labels: Annotated[
        tuple[str, ...],
        Field(description="Labels to add, such as good or bad."),
        Cli(argument=True, metavar="LABEL..."),
    ] = ()
    remove: Annotated[tuple[str, ...], Field(description="A label to take away. Repeatable.")] = ()
    note: Annotated[str | None, Field(description="The note, in place of an earlier one; empty: none.")] = (
        None
    )


@dataclass(frozen=True)
class Result(interface.Result):
    """The labels of a recording.

    Attributes:
        id: The recording.
        labels: Its labels and note now.
    """

    id: str
    labels: Labels

    def tree(self) -> dict[str, Any]:
        """Return the labels as JSON values."""
        return {"id": self.id, "labels": list(self.labels.words), "note": self.labels.note or None}


def run(options: Options, context: Context) -> Result:
    """Store the labels and the note. Raises UsageError for those that cannot be stored."""
    store = LocalStore(context.home)
    recording = store.load(options.ref)
    path = store.find(options.ref)
    if path.parent != store.recordings:
        raise UsageError(f"{path} lies outside of {store.recordings}; import it first")
    before = recording.labels
    if missing := [one for one in options.remove if one not in before.words]:
        raise UsageError(
            f"{path.name} has no label {missing[0]!r}; it has {', '.join(before.words) or 'none'}"
        )
    words = (word for word in (*before.words, *options.labels) if word not in options.remove)
    after = labels.checked(words, before.note if options.note is None else options.note)
    if after != before:
        with closing(LocalIntake(store, IntakeLimits(free=0))) as intake:
            labels.give(intake, path.name, after)
    return Result(path.name, after)
