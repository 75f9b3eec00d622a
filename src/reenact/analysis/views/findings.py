"""Anomalies of a recording."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reenact.analysis.anomalies import Anomaly
from reenact.analysis.anomalies.registry import is_pill
from reenact.analysis.views.base import Severity, View
from reenact.core.query.recorded_run import RecordedRun


class FindingView(View):
    """An anomaly: the rule that found it, the step (null: the run as a whole), and its evidence.

    `pill`: its rule is right in at least one of two findings on labelled runs; other findings are notes.
    """

    rule: str
    severity: Severity
    step: int | None
    sentence: str
    evidence: str
    others: tuple[int, ...]
    weight: float
    pill: bool


class FindingsView(View):
    """The anomalies of a recording, the most suspect step first; or the `problem` of reading it.

    A very long recording is examined in the background: it is not `complete` until then, and its line on `/live` says
    when it is.
    """

    items: tuple[FindingView, ...]
    problem: str | None
    complete: bool


class DiagnosedFindingView(FindingView):
    """An anomaly as `diagnose --json` writes it; `judge`: a language model found it."""

    judge: bool


class DiagnosisView(View):
    """The anomalies of a recording of this machine, as `diagnose --json` writes them."""

    id: str
    name: str
    path: str
    status: str
    steps: int
    findings: tuple[DiagnosedFindingView, ...]


def findings(found: Iterable[Anomaly]) -> FindingsView:
    """Return the anomalies of a recording."""
    items = tuple(FindingView(**_fields(one)) for one in found)
    return FindingsView(items=items, problem=None, complete=True)


def findings_of(tree: dict[str, Any]) -> FindingsView:
    """Return findings that were kept as JSON. Raises KeyError or TypeError if it is damaged."""
    items = tuple(FindingView(**{**one, "others": tuple(one["others"])}) for one in tree["items"])
    return FindingsView(**{**tree, "items": items})


def findings_tree(told: FindingsView) -> dict[str, Any]:
    """Return findings as JSON."""
    return {**told.plain(), "items": [one.plain() for one in told.items]}


def diagnosis(recording: RecordedRun, found: Iterable[Anomaly]) -> DiagnosisView:
    """Return the output of `reenact diagnose --json` for one recording."""
    return DiagnosisView(
        id=recording.id,
        name=recording.name,
        path=str(Path(recording.path)),
        status=recording.status,
        steps=len(recording.steps),
        findings=tuple(DiagnosedFindingView(**_fields(one), judge=one.rule == "judge") for one in found),
    )


def _fields(one: Anomaly) -> dict[str, Any]:
    return {**asdict(one), "pill": is_pill(one.rule)}
