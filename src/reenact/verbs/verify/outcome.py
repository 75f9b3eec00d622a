"""Read the report on a replay as the result of its recording."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reenact.analysis.views.replays import verdict_view
from reenact.analysis.views.verification import Outcome, Status
from reenact.core.model.divergence import ERROR, Verdict, verdict_of
from reenact.errors import Divergence

REFUSED = "refused"
"""In a report: why a foreign recording's command was not run."""
_READ = 1000
"""Letters of an error that make its cause; the time is the square of a word's length."""


def outcome_of(ref: str, report: Mapping[str, Any]) -> Outcome:
    """Return the result that a process has reported.

    Args:
        ref: The recording as it was named.
        report: The report.
    """
    verdict = verdict_of(report["verdict"]) if report.get("verdict") else None
    known = str(report.get("id") or "")
    step = None
    ended = _ended(str(report.get("error") or ""), str(report.get("recorded_error") or ""))
    if refused := report.get(REFUSED):
        status, cause, detail = Status.REFUSED, "foreign: allow it with --run-foreign", str(refused)
    elif failed := report.get("failed"):
        status, cause, detail = Status.UNABLE, _general(failed, ref, known), failed
    elif verdict is not None and (divergence := _departure(verdict, ended[0])) is not None:
        paths = ", ".join(dict.fromkeys(mismatch.path for mismatch in divergence.mismatches[:3]))
        where = re.sub(r"[.~#]\d+", "", divergence.address.rpartition("/")[2])
        status, step, detail = Status.DIVERGED, divergence.step, str(divergence)
        cause = f"{divergence.kind.value} {where}" + (f" ({paths})" if paths else "")
    else:
        status, cause, detail = ended
    return outcome(
        known or ref, status, name=str(report.get("name") or ""), step=step, cause=cause, detail=detail,
        seconds=float(report.get("seconds") or 0.0), verdict=verdict,
    )  # fmt: skip


def outcome(
    recording: str,
    status: Status,
    *,
    cause: str,
    detail: str,
    name: str = "",
    step: int | None = None,
    seconds: float = 0.0,
    verdict: Verdict | None = None,
) -> Outcome:
    """Return the result of a recording, with its verdict if there is one."""
    more = {} if verdict is None else {"verdict": verdict_view(verdict)}
    return Outcome(
        recording=recording, name=name, status=status, step=step, cause=cause, detail=detail, seconds=seconds, **more
    )  # fmt: skip


def _departure(verdict: Verdict, ended: Status) -> Divergence | None:
    """Return the first difference, apart from an error that is gone or new."""
    found = verdict.divergence
    return None if found is not None and found.address == ERROR and ended != Status.SAME else found


def _ended(error: str, recorded: str) -> tuple[Status, str, str]:
    """Return status, cause and detail of a run that did not leave its recording."""
    if error and error.partition(":")[0] != recorded.partition(":")[0]:
        return Status.BROKEN, _general(error), error
    if recorded and not error:
        return Status.FIXED, "", f"recorded: {recorded}"
    return Status.SAME, "", ""


def _general(text: str, *names: str) -> str:
    """Return an error's text without its varying parts: names, figures, words with figures."""
    first = next(iter(text.strip()[:_READ].splitlines()), "")
    for name in filter(None, names):
        first = first.replace(name, "…")
    return re.sub(r"'[^']*'|\"[^\"]*\"|\w*\d\w*(?:\.\d+)*", "…", first)[:200]
