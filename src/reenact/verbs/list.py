"""`list`: the recordings, the newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar

from reenact.analysis.views.listing import stored_line
from reenact.core.dataclass import dataclass
from reenact.core.query.filter import Filter
from reenact.core.query.sorting import order_of, ordered
from reenact.core.store.base import Listed
from reenact.core.store.local import home
from reenact.core.store.shared import Parentage
from reenact.core.trust import Book
from reenact.core.trust.proofs import Proof, Proofs
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import Cli, Filtered

COLUMNS = (
    "when",
    "agent",
    "status",
    "prompt",
    "outcome",
    "model",
    "steps",
    "failed",
    "tokens",
    "cost",
    "time",
)
STATUS = ("ok", "error", "stopped", "unsealed", "broken")


class Options(interface.Options):
    """List recordings with agent, first user message and outcome, the newest first.

    A filter finds recordings with a step that matches: [bold]reenact list 'tool:cancel_order and error'[/bold].
    The list names these steps ("found in"). The filter language: docs/filters.md.
    """

    common: ClassVar = (marks.HOME, marks.TEAM, marks.JSON)

    filter: Filtered = ()
    tag: Annotated[
        tuple[str, ...],
        Field(description="Only recordings with this tag; may be given several times."),
        marks.ANYONE,
    ] = ()
    status: Annotated[
        str, Field(description="Only ok, error, stopped, unsealed or broken."), marks.ANYONE
    ] = ""
    limit: Annotated[
        int,
        Field(ge=1, description="The maximum number of recordings."),
        Cli(names=("--limit", "-n")),
        marks.ANYONE,
    ] = 30
    sort: Annotated[
        str,
        Field(
            description="The column to sort by: when, agent, status, prompt, outcome, model, steps, failed, tokens, "
            "cost or time; with - in front in reverse."
        ),
        Cli(metavar="COLUMN"),
        marks.ANYONE,
    ] = "when"
    all: Annotated[bool, Field(description="Show all."), Cli(names=("--all", "-a")), marks.ANYONE] = False
    tree: Annotated[bool, Field(description="Show forks below their parent recordings."), marks.ANYONE] = (
        False
    )
    why: Annotated[
        bool, Field(description="Say which index was used, and how much was looked into."), marks.ANYONE
    ] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The list.

    Attributes:
        listed: The recordings found.
        wanted: The filter.
        origins: The parents of recordings, by id.
        book: The trusted keys.
        proofs: The proofs of recordings, by id.
        place: The name of the store.
        searched: The number of recordings searched, if none was found or `why` asks for it.
        hint: The reason that no recording was found, if it is a kind of step that does not exist.
    """

    listed: Listed
    wanted: Filter
    origins: Mapping[str, Parentage]
    book: Book
    proofs: Mapping[str, Proof]
    place: str
    searched: int = 0
    hint: str = ""

    def tree(self) -> list[Any]:
        """Return the lines of the list as views."""
        return [
            stored_line(hit, self.origins.get(id := hit.summary.id), self.book, self.proofs.get(id))
            for hit in self.listed.hits
        ]


def run(options: Options, context: Context) -> Result:
    """Find the recordings. Raises FilterError, or UsageError for an unknown status."""
    if options.status not in ("", *STATUS):
        raise UsageError(f"--status {options.status}: it is one of {', '.join(STATUS)}")
    sort = order_of(options.sort)
    if sort is None:
        raise UsageError(
            f"--sort {options.sort}: it is one of {', '.join(COLUMNS)}, or one of them after a -"
        )
    wanted = Filter(" ".join(options.filter))
    limit = None if options.all else options.limit
    with context.opened() as (store, index):
        found = index.listed(
            wanted,
            status=options.status,
            tags=options.tag,
            limit=limit if sort == "started" else None,
            progress=partial(
                context.progress, "reading new recordings", note="new recordings read for the index"
            ),
        )
        if sort != "started":
            hits = ordered(found.hits, sort, lambda hit: hit.summary)
            found = replace(found, hits=hits[:limit])
        ids = [hit.summary.id for hit in found.hits]
        origins = store.origins(ids)
        book = Book(home(context.home))
        known = Proofs(book)
        lines = (hit.summary for hit in found.hits)
        proofs = {line.id: proof for line in lines if (proof := known.of(line.id, line.path)) is not None}
        result = partial(Result, found, wanted, origins, book, proofs, store.place)
        searched = index.count() if options.why or not ids else 0
        if ids or not searched:
            return result(searched)
        return result(searched, wanted.unmatched(index.kinds()))
