"""The types of a list of recordings, and of statistics of many."""

from __future__ import annotations

from typing import Literal

from reenact.server.shapes.base import Shape, Status


class Tokens(Shape):
    """Tokens of model calls, as their providers counted them."""

    input: int
    output: int


class Origin(Shape):
    """The recording that another one was made from: at which step, and how (`fork`, `resume`)."""

    id: str
    step: int | None
    how: str


class Provenance(Shape):
    """The origin of a recording as seen from the server's home, and the state of its seal.

    `where`: recorded in this home, signed by a trusted key (whose `name` it has), or foreign. `key` has signed it.
    """

    where: Literal["home", "trusted", "foreign"]
    seal: Literal["sealed", "changed", "unsealed", "unsigned"]
    name: str | None
    key: str | None
    fingerprint: str | None


class Line(Shape):
    """A recording as a list has it.

    `problem` says why a run failed, or why the recording cannot be read (then its status is `broken`). `anomalies` is
    how many findings there are, null until somebody has looked. `live`: its program still writes it. `origin` is null
    until its files have been read.
    """

    id: str
    name: str
    status: Status
    problem: str | None
    started: str | None
    duration: float
    steps: int
    failed_steps: int
    models: list[str]
    tokens: Tokens
    cost: float | None
    tags: list[str]
    imported: bool
    parent: Origin | None
    anomalies: int | None
    found_in: list[int]
    sessions: int
    live: bool
    origin: Provenance | None


class Indexing(Shape):
    """How far the reading of new recordings has come; both are 0 where there is nothing to read."""

    done: int
    total: int


class Recordings(Shape):
    """A page of the list.

    `total` is how many the filter means, as far as the search has come where it is not `complete`. `version` grows with
    every change of any recording.
    """

    items: list[Line]
    total: int
    complete: bool
    offset: int
    version: int
    indexing: Indexing


class FacetValue(Shape):
    """One value of a facet, how many recordings have it, and the filter that adds it."""

    value: str
    count: int
    filter: str


class Facets(Shape):
    """What the recordings that a filter means have in common; of each the most frequent values."""

    agent: list[FacetValue]
    status: list[FacetValue]
    model: list[FacetValue]
    tag: list[FacetValue]
    anomaly: list[FacetValue]
    cost: list[FacetValue]
    total: int
    complete: bool


class Bucket(Shape):
    """One hour or day, from `at` (ISO 8601, UTC) on. `p50` and `p95` are of the runs' durations, in seconds."""

    at: str
    recordings: int
    failed: int
    tokens: int
    cost: float
    p50: float
    p95: float


class Trends(Shape):
    """Recordings over time, the oldest first; an hour or day without any is left out."""

    by: Literal["hour", "day"]
    buckets: list[Bucket]
    complete: bool
