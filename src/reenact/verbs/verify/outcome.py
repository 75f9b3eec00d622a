"""The outcome of each recording, and their common causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from reenact.core.model.divergence import Verdict, verdict_of, verdict_tree


class Status(str, Enum):
    """The result of today's code on a recording."""

    SAME = "same"
    FIXED = "fixed"
    """Recorded, the run ended with an error; now it runs as recorded, and ends without."""
    DIVERGED = "diverged"
    BROKEN = "broken"
    """It runs as recorded, and then ends with an error that was not recorded."""
    UNABLE = "could not run"
    REFUSED = "refused"
    """It comes from elsewhere, and nothing allows its command."""


GOOD = frozenset((Status.SAME, Status.FIXED))

REFUSED = "refused"
"""In a report: why a foreign recording's command was not run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recording's.

    Attributes:
        ref: The recording as it was named.
        id: Its id, where it could be read.
        name: Its name.
        status: The result.
        step: The step where the program left its recording, if it did.
        cause: The fault, without this recording's particulars: equal causes make a group.
        detail: The fault, in full.
        seconds: Its duration.
        verdict: The replay's, where there is one.
    """

    ref: str
    status: Status
    id: str = ""
    name: str = ""
    step: int | None = None
    cause: str = ""
    detail: str = ""
    seconds: float = 0.0
    verdict: Verdict | None = None

    def tree(self) -> dict[str, Any]:
        """Return the output of `verify --json`."""
        tree: dict[str, Any] = {
            "recording": self.id or self.ref, "name": self.name, "status": self.status.value,
            "step": self.step, "cause": self.cause, "detail": self.detail, "seconds": self.seconds,
        }  # fmt: skip
        return tree | ({"verdict": verdict_tree(self.verdict)} if self.verdict is not None else {})


def outcome_of(ref: str, tree: Mapping[str, Any]) -> Outcome:
    """The outcome that a process has reported."""
    verdict = verdict_of(tree["verdict"]) if tree.get("verdict") else None
    known = str(tree.get("id") or "")
    name = str(tree.get("name") or "")
    seconds = float(tree.get("seconds") or 0.0)
    if refused := tree.get(REFUSED):
        cause = "foreign: allow it with --run-foreign"
        return Outcome(ref, Status.REFUSED, known, name, cause=cause, detail=str(refused))
    if failed := tree.get("failed"):
        return Outcome(
            ref,
            Status.UNABLE,
            known,
            name,
            cause=_general(failed, ref, known),
            detail=failed,
            seconds=seconds,
        )
    if verdict is not None and (divergence := verdict.divergence) is not None:
        paths = ", ".join(dict.fromkeys(mismatch.path for mismatch in divergence.mismatches[:3]))
        where = re.sub(r"[.~#]\d+", "", divergence.address.rpartition("/")[2])
        cause = f"{divergence.kind.value} {where}" + (f" ({paths})" if paths else "")
        return Outcome(
            ref, Status.DIVERGED, known, name, step=divergence.step, cause=cause, detail=str(divergence),
            seconds=seconds, verdict=verdict,
        )  # fmt: skip
    error, recorded = str(tree.get("error") or ""), str(tree.get("recorded_error") or "")
    if error and error.partition(":")[0] != recorded.partition(":")[0]:
        return Outcome(
            ref,
            Status.BROKEN,
            known,
            name,
            cause=_general(error),
            detail=error,
            seconds=seconds,
            verdict=verdict,
        )
    status = Status.FIXED if recorded and not error else Status.SAME
    detail = f"recorded: {recorded}" if status is Status.FIXED else ""
    return Outcome(ref, status, known, name, detail=detail, seconds=seconds, verdict=verdict)


def grouped(outcomes: Iterable[Outcome]) -> list[tuple[Status, str, list[Outcome]]]:
    """Group the failures by cause, the most frequent first."""
    groups: dict[tuple[Status, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status not in GOOD:
            groups.setdefault((outcome.status, outcome.cause), []).append(outcome)
    found = [(status, cause, members) for (status, cause), members in groups.items()]
    return sorted(found, key=lambda group: (-len(group[2]), group[0].value, group[1]))


def passed(outcomes: Iterable[Outcome]) -> bool:
    """Return True if all outcomes are good."""
    return all(outcome.status in GOOD for outcome in outcomes)


def _general(text: str, *names: str) -> str:
    """Return an error's text without its varying parts: names, figures, words with figures."""
    first = text.strip().splitlines()[0] if text.strip() else ""
    for name in filter(None, names):
        first = first.replace(name, "…")
    return re.sub(r"'[^']*'|\"[^\"]*\"|\w*\d\w*(?:\.\d+)*", "…", first)[:200]
