"""A recording as one line of a list, and figures about many recordings."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from reenact.analysis.views.base import Status, View, known_status
from reenact.core.query.summary import Summary
from reenact.core.store.base import Hit
from reenact.core.store.shared import Parentage
from reenact.core.trust import Book, Provenance
from reenact.core.trust.proofs import Proof


class TokensView(View):
    """Tokens of model calls, as their providers counted them."""

    input: int
    output: int


class ParentView(View):
    """The recording that another one was made from: the step, and how (`fork`, `resume`)."""

    id: str
    step: int | None
    how: str


class OriginView(View):
    """The origin of a recording as seen from a home, and the state of its seal.

    `where`: recorded in this home, signed by a trusted key (whose `name` it has), or foreign. `key` has signed it.
    """

    where: Literal["home", "trusted", "foreign"]
    seal: Literal["sealed", "changed", "unsealed", "unsigned"]
    name: str | None
    key: str | None
    fingerprint: str | None


class LineView(View):
    """A recording in a list.

    `problem`: the error that the run ended with, or the reason why the recording cannot be read (its status is then
    `broken`). `found_in` are the steps that match a filter. `origin` is null until the recording's files were read.
    `prompt` is the first user message, or a browser script's file and goal; `outcome` is the run's error, its output,
    the model's last answer or the last printed line, or the reason why it cannot be read. Both are on one line, and at
    most 280 characters long. `tags` are those of the run and the labels that people gave it; `note` is theirs, too.
    """

    id: str
    name: str
    script: str | None
    status: Status
    prompt: str | None
    outcome: str | None
    problem: str | None
    started: str | None
    duration: float
    steps: int
    failed_steps: int
    models: tuple[str, ...]
    tokens: TokensView
    cost: float | None
    tags: tuple[str, ...]
    note: str | None
    imported: bool
    parent: ParentView | None
    found_in: tuple[int, ...]
    origin: OriginView | None


class StoredLineView(LineView):
    """A recording in a list of this machine: `path` is its folder or file.

    `proved` is the number of faithful replays under other conditions, null if it is not proved, or was changed since.
    """

    path: str
    proved: int | None


class ServedLineView(LineView):
    """A recording in a server's list.

    `anomalies` is the number of findings, null until the recording was examined; `pills` are the rules among them that
    are right in at least one of two findings on labelled runs. `sessions` is the number of its
    browser sessions. `live`: its program still writes it.
    """

    anomalies: int | None
    pills: tuple[str, ...]
    sessions: int
    live: bool


class IndexingView(View):
    """The progress of reading new recordings; both are 0 where there is nothing to read."""

    done: int
    total: int


class RecordingsView(View):
    """A page of the list.

    `total` is the number of matches, as far as the search has come where it is not `complete`. `version` grows with
    every change of any recording.
    """

    items: tuple[ServedLineView, ...]
    total: int
    complete: bool
    offset: int
    version: int
    indexing: IndexingView


class FacetValueView(View):
    """One value of a facet, the number of recordings that have it, and the filter that adds it."""

    value: str
    count: int
    filter: str


class FacetsView(View):
    """The most frequent values among the recordings that match a filter."""

    agent: tuple[FacetValueView, ...]
    status: tuple[FacetValueView, ...]
    model: tuple[FacetValueView, ...]
    tag: tuple[FacetValueView, ...]
    anomaly: tuple[FacetValueView, ...]
    cost: tuple[FacetValueView, ...]
    total: int
    complete: bool


class BucketView(View):
    """One hour or day from `at` (ISO 8601, UTC); `p50`, `p95`: the runs' durations in seconds.

    `unpriced` is how many runs have model calls, but no known cost: they are not in `cost`.
    """

    at: str
    recordings: int
    failed: int
    tokens: int
    cost: float
    unpriced: int
    p50: float
    p95: float


class TrendsView(View):
    """Recordings over time, the oldest first; an hour or day without any is left out."""

    by: Literal["hour", "day"]
    buckets: tuple[BucketView, ...]
    complete: bool


def status(line: Summary) -> Status:
    """Return the status of a recording; `broken` where it cannot be read."""
    return "broken" if line.broken else known_status(line.status)


def origin_view(standing: Provenance | None) -> OriginView | None:
    """Return the origin of a recording, or None where it is not known."""
    return OriginView(**standing.tree()) if standing is not None else None


def proved(proof: Proof | None) -> int | None:
    """Return the number of replays of a proof, or None."""
    return proof.times if proof is not None else None


def parent_view(origin: Parentage | None) -> ParentView | None:
    """Return the parent of a fork, or None."""
    return ParentView(id=origin.id, step=origin.step, how=origin.how) if origin is not None else None


def fields_of_line(
    line: Summary,
    *,
    parent: ParentView | None,
    origin: OriginView | None,
    found_in: Collection[int] = (),
    hide_path: bool = False,
) -> dict[str, Any]:
    """Return the fields of a line as keywords for its view.

    Args:
        line: The summary.
        parent: The recording that it was made from.
        origin: Its origin.
        found_in: The steps that match a filter.
        hide_path: Replace the recording's path by its id in `problem` and `outcome`.
    """

    def said(text: str) -> str | None:
        text = text.replace(f"{line.path}/", "").replace(line.path, line.id) if hide_path else text
        return text or None

    return {
        "id": line.id,
        "name": line.name,
        "script": line.script or None,
        "status": status(line),
        "prompt": line.prompt or None,
        "outcome": said(line.broken or line.outcome),
        "problem": said(line.broken or line.problem),
        "started": line.started or None,
        "duration": line.duration,
        "steps": line.steps,
        "failed_steps": line.failed,
        "models": tuple(line.models),
        "tokens": TokensView(input=line.input_tokens, output=line.output_tokens),
        "cost": line.cost,
        "tags": tuple(line.tags),
        "note": line.note or None,
        "imported": line.entry == "imported",
        "parent": parent,
        "found_in": tuple(found_in),
        "origin": origin,
    }


def stored_line(
    hit: Hit, origin: Parentage | None = None, book: Book | None = None, proof: Proof | None = None
) -> StoredLineView:
    """Return a recording of this machine for a list.

    Args:
        hit: Its summary, and the steps that match a filter.
        origin: The recording that it was made from.
        book: The trusted keys; without it the origin stays unknown.
        proof: Its proof, if it has one.
    """
    standing = book.of_line(hit.summary) if book is not None else None
    found = fields_of_line(
        hit.summary, parent=parent_view(origin), origin=origin_view(standing), found_in=hit.steps
    )
    return StoredLineView(**found, path=hit.summary.path, proved=proved(proof))
