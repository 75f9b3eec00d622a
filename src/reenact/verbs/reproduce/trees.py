"""The results of reproducing and bisecting as plain trees, for `--json` and the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from reenact.analysis.attempts import Reproduction
from reenact.analysis.decisive import Change, Result
from reenact.analysis.world import Asked
from reenact.core.model.divergence import verdict_tree
from reenact.verbs.reproduce.bisection import Decisive


def reproduction_tree(done: Reproduction, asked: Sequence[Asked] | None = None) -> dict[str, Any]:
    """Return the output of `reproduce --json`."""
    attempts = [
        {
            "exit": each.status,
            "seconds": round(each.seconds, 3),
            "failed": each.failed or None,
            "verdict": verdict_tree(each.verdict) if each.verdict is not None else None,
        }
        for each in done.attempts
    ]
    tree: dict[str, Any] = {
        "recording": done.recording,
        "result": done.result.value,
        "where": done.where or None,
        "uncovered": list(done.uncovered),
        "attempts": attempts,
    }
    return tree | ({"world": [asdict(each) for each in asked]} if asked is not None else {})


def decisive_tree(found: Decisive) -> dict[str, Any]:
    """Return the output of `bisect --json`."""
    return {
        "bad": found.bad.id,
        "good": found.good.id,
        "changes": [change_tree(change) for change in found.changes],
        "minimal": found.minimal,
        "spent": found.spent,
        "turns_back": found.back,
        "runs": found.runs,
        "trials": [
            {
                "changes": [change.name for change in trial.changes],
                "result": trial.result.value,
                "why": trial.why or None,
                "approximate": trial.approximate,
                "seconds": round(trial.seconds, 3),
            }
            for trial in found.trials
        ],
        "notes": list(found.notes),
    }


def change_tree(change: Change) -> dict[str, Any]:
    """One thing that the two runs were told differently."""
    return {**asdict(change), "alike": change.alike.value}


def summary(found: Decisive) -> str:
    """The result in a sentence."""
    if len(found.changes) == 1:
        (change,) = found.changes
        what = "answer" if change.step is not None else "values"
        return f"{change.name}: with the good run's {what} the outcome changes"
    if found.changes:
        names = "; ".join(change.name for change in found.changes)
        return f"together they change the outcome, with the good run's answers: {names}"
    if found.spent:
        return "the trials were used up before the outcome changed; --trials allows more"
    if found.trials and found.trials[0].result is Result.UNDECIDED:
        return "no trial changed the outcome, and some were undecided"
    return "the good run's answers do not change the outcome, even all together: the cause is elsewhere"
