"""Two recordings compared, as docs/diff.md describes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from reenact.analysis.diff import Diff, Difference, Pair, Parting, Side
from reenact.analysis.views.base import Ended, Json, Status, View, known_status
from reenact.core.query.recorded_run import Step
from reenact.errors import ABSENT


class DifferenceView(View):
    """A part that differs: a side without it is absent; `words` where both are texts."""

    path: str
    who: str = ""
    a: Json = None
    b: Json = None
    words: tuple[tuple[Literal["=", "-", "+"], str], ...] | None = None


class SideView(View):
    """One of two compared runs; a server leaves out its `path`."""

    id: str
    name: str
    path: str = ""
    status: Status
    started: str | None
    tags: tuple[str, ...]
    steps: int
    failed_steps: int
    models: tuple[str, ...]
    duration: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


class PairedStepView(View):
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
    policy: str = ""


class PairView(View):
    """Two steps that belong together, or one that has no counterpart."""

    kind: Literal["same", "changed", "inserted", "deleted", "moved"]
    a: PairedStepView | None
    b: PairedStepView | None
    carried: bool
    differences: tuple[DifferenceView, ...]


class PartingView(View):
    """The first place where two runs differ: the steps, the reason, and the index of the pair."""

    a: int | None
    b: int | None
    why: str
    pair: int


class PairCountsView(View):
    """The number of pairs of each kind."""

    same: int
    changed: int
    inserted: int
    deleted: int
    moved: int


class DiffView(View):
    """Two recordings compared."""

    same: bool
    a: SideView
    b: SideView
    counts: PairCountsView
    shared: int
    parting: PartingView | None
    ending: tuple[DifferenceView, ...]
    program: tuple[DifferenceView, ...]
    ignored: tuple[str, ...]
    pairs: tuple[PairView, ...]


def diff_view(found: Diff, *, paths: bool) -> DiffView:
    """Return a comparison.

    Args:
        found: The comparison.
        paths: Include the paths of the recordings; a server's must not leave it.
    """
    return DiffView(
        same=found.same,
        a=_side(found.a, paths=paths),
        b=_side(found.b, paths=paths),
        counts=PairCountsView(**{kind.value: count for kind, count in found.counts.items()}),
        shared=found.shared,
        parting=_parting(found.parting, found) if found.parting is not None else None,
        ending=tuple(difference_view(item) for item in found.ending),
        program=tuple(difference_view(item) for item in found.program),
        ignored=tuple(found.ignored),
        pairs=tuple(_pair(pair) for pair in found.pairs),
    )


def difference_view(found: Difference) -> DifferenceView:
    """Return one part that differs."""
    given: dict[str, Any] = {"who": found.who} if found.who else {}
    given |= {side: value for side, value in (("a", found.a), ("b", found.b)) if value is not ABSENT}
    words = found.words
    if words is not None:
        given["words"] = [tuple(segment) for segment in words]
    return DifferenceView(path=found.path, **given)


def _side(side: Side, *, paths: bool) -> SideView:
    recording = side.recording
    where: dict[str, Any] = {"path": recording.path} if paths else {}
    return SideView(
        id=side.id,
        name=recording.agent,
        **where,
        status=known_status(recording.status),
        started=recording.started or None,
        tags=tuple(recording.tags),
        steps=side.steps,
        failed_steps=side.failed,
        models=tuple(side.models),
        **asdict(side.spent),
    )


def _parting(parting: Parting, found: Diff) -> PartingView:
    return PartingView(
        a=parting.a.number if parting.a is not None else None,
        b=parting.b.number if parting.b is not None else None,
        why=parting.why,
        pair=found.pairs.index(parting.pair),
    )


def _pair(pair: Pair) -> PairView:
    return PairView(
        kind=pair.kind.value,
        a=_step(pair, 0),
        b=_step(pair, 1),
        carried=pair.carried,
        differences=tuple(difference_view(item) for item in pair.differences),
    )


def _step(pair: Pair, side: int) -> PairedStepView | None:
    step: Step | None = (pair.a, pair.b)[side]
    if step is None:
        return None
    spent = pair.spent[side]
    return PairedStepView(
        step=step.number,
        kind=step.call.kind,
        name=step.call.name,
        address=step.call.address,
        status=step.call.status,
        policy=step.call.policy,
        **(asdict(spent) if spent is not None else {}),
    )
