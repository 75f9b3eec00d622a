"""The JSON of `reenact diff --json`, documented in docs/diff.md. Keys are only ever added."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from reenact.analysis.diff import Diff, Difference, Pair, Parting, Side
from reenact.core.query.recording import Step
from reenact.errors import ABSENT


def diff(found: Diff) -> dict[str, Any]:
    """A comparison as plain values."""
    return {
        "same": found.same,
        "a": _side(found.a),
        "b": _side(found.b),
        "counts": {kind.value: count for kind, count in found.counts.items()},
        "shared": found.shared,
        "parting": _parting(found.parting, found) if found.parting is not None else None,
        "ending": [difference(item) for item in found.ending],
        "program": [difference(item) for item in found.program],
        "ignored": list(found.ignored),
        "pairs": [_pair(pair) for pair in found.pairs],
    }


def difference(found: Difference) -> dict[str, Any]:
    """One part that differs. A side that has nothing there has no key."""
    told: dict[str, Any] = {"path": found.path}
    if found.who:
        told["who"] = found.who
    told |= {side: value for side, value in (("a", found.a), ("b", found.b)) if value is not ABSENT}
    words = found.words
    return told if words is None else {**told, "words": [list(segment) for segment in words]}


def _side(side: Side) -> dict[str, Any]:
    recording = side.recording
    return {
        "id": side.id,
        "name": recording.name,
        "path": recording.path,
        "status": recording.status,
        "started": recording.started or None,
        "tags": list(recording.tags),
        "steps": side.steps,
        "failed_steps": side.failed,
        "models": list(side.models),
        **asdict(side.spent),
    }


def _parting(parting: Parting, found: Diff) -> dict[str, Any]:
    return {
        "a": parting.a.number if parting.a is not None else None,
        "b": parting.b.number if parting.b is not None else None,
        "why": parting.why,
        "pair": found.pairs.index(parting.pair),
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "kind": pair.kind.value,
        "a": _step(pair, 0),
        "b": _step(pair, 1),
        "carried": pair.carried,
        "differences": [difference(item) for item in pair.differences],
    }


def _step(pair: Pair, side: int) -> dict[str, Any] | None:
    step: Step | None = (pair.a, pair.b)[side]
    if step is None:
        return None
    spent = pair.spent[side]
    return {
        "step": step.number,
        "kind": step.call.kind,
        "name": step.call.name,
        "address": step.call.address,
        "status": step.call.status,
        **(asdict(spent) if spent is not None else {}),
    }
