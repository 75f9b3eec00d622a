"""Two recordings compared."""

from __future__ import annotations

from typing import Literal

from reenact.server.shapes.base import Ended, Json, Shape, Status


class Difference(Shape):
    """A part that differs. Of a side that has nothing there the key is missing; `words` where both are texts."""

    path: str
    who: str = ""
    a: Json = None
    b: Json = None
    words: list[tuple[Literal["=", "-", "+"], str]] | None = None


class Side(Shape):
    """One of two runs that are compared."""

    id: str
    name: str
    status: Status
    started: str | None
    tags: list[str]
    steps: int
    failed_steps: int
    models: list[str]
    duration: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


class PairStep(Shape):
    """One side of a pair."""

    step: int
    kind: str
    name: str
    address: str
    status: Ended
    duration: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


class Pair(Shape):
    """Two steps that belong together, or one that has no counterpart."""

    kind: Literal["same", "changed", "inserted", "deleted", "moved"]
    a: PairStep | None
    b: PairStep | None
    carried: bool
    differences: list[Difference]


class Parting(Shape):
    """First difference of two runs first: the steps, why, and the place among the pairs."""

    a: int | None
    b: int | None
    why: str
    pair: int


class Counts(Shape):
    """How many pairs there are of each kind."""

    same: int
    changed: int
    inserted: int
    deleted: int
    moved: int


class Diff(Shape):
    """Two recordings compared, as `reenact diff --json` says it."""

    same: bool
    a: Side
    b: Side
    counts: Counts
    shared: int
    parting: Parting | None
    ending: list[Difference]
    program: list[Difference]
    ignored: list[str]
    pairs: list[Pair]
