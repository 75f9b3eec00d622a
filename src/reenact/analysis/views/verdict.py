"""A verdict in a line, and in several."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from reenact.analysis.views.text import many, one_line
from reenact.core.model.divergence import Verdict

_SHOWN = 8
_LISTED = re.compile(r"\b(live|ignore|tools)=\['([^']*)'\]")
_POLICY = re.compile(r"\b(on_divergence|inserted)='(\w+)'")


def word(verdict: Verdict) -> str:
    """The verdict in a word or a few."""
    if verdict.faithful:
        return "faithful"
    return "diverged" if verdict.divergences else "partly from the recording"


def as_options(hint: str) -> str:
    """Return a hint as command-line options: `--live process` for `live=['process']`."""

    def option(match: re.Match[str]) -> str:
        return f"--{match[1]} {shlex.quote(match[2])}"

    def policy(match: re.Match[str]) -> str:
        return f"--{match[1].replace('_', '-')} {match[2]}"

    return _POLICY.sub(policy, _LISTED.sub(option, hint))


def brief(verdict: Verdict) -> str:
    """All of it in a line; of several departures the first."""
    counted = [f"{many(verdict.served, 'answer')} served from the recording"]
    counted += [f"{label} ran for real × {count}" for label, count in sorted(verdict.live.items())]
    if verdict.missing:
        counted.append(f"{many(len(verdict.missing), 'step')} not requested")
    parts = [", ".join(counted), *verdict.notes]
    if verdict.divergence is not None:
        parts.append(one_line(str(verdict.divergence), 400))
    if len(verdict.divergences) > 1:
        parts.append(f"and {many(len(verdict.divergences) - 1, 'more departure')}")
    return f"{word(verdict)}: {'; '.join(parts)}"


def lines(verdict: Verdict) -> Iterator[str]:
    """All of it, one thing a line; long lists cut."""
    yield f"{many(verdict.served, 'answer')} served from the recording"
    for label, count in sorted(verdict.live.items()):
        yield f"ran for real: {label} × {count}"
    for rule in verdict.rules:
        yield f"rule applied: {rule}"
    for note in verdict.notes:
        yield f"! {note}"
    for divergence in verdict.divergences[:_SHOWN]:
        where = f"step {divergence.step}, " if divergence.step is not None else ""
        yield one_line(f"{divergence.kind.value} at {where}{divergence.address}: {divergence.detail}", 300)
    if len(verdict.divergences) > _SHOWN:
        yield f"and {many(len(verdict.divergences) - _SHOWN, 'more departure')}"
    named = {divergence.step for divergence in verdict.divergences}
    left = [(step, address) for step, address in verdict.missing if step not in named]
    if left:
        yield f"not requested: {many(len(left), 'recorded step')}"
    for step, address in left[:_SHOWN]:
        yield f"  {step}  {address}"
    if len(left) > _SHOWN:
        yield f"  and {len(left) - _SHOWN} more"
