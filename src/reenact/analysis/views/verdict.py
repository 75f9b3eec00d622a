"""A verdict as all interfaces show it: its facts, in a line, and in several lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from typing import Literal

from reenact.analysis.views.base import View
from reenact.analysis.views.text import many, one_line
from reenact.core.model.divergence import Verdict
from reenact.errors import Divergence

_SHOWN = 8
_FILES = 3
"""The number of changed files that are named."""
_LISTED = re.compile(r"\b(live|ignore|policy|tools)=\['([^']*)'\]")
_AT = re.compile(r"\bat=(\d+)")
_POLICY = re.compile(r"\b(on_divergence|inserted)='(\w+)'")


class FactView(View):
    """One fact of a verdict: a text, of which `subject` stands out."""

    before: str
    subject: str = ""
    after: str = ""
    tone: Literal["plain", "quiet", "warning"] = "plain"

    @property
    def text(self) -> str:
        """The whole text."""
        return self.before + self.subject + self.after


def word(verdict: Verdict) -> str:
    """Return the verdict in a few words."""
    if verdict.faithful:
        return "faithful"
    return "diverged" if verdict.divergences else "partly from the recording"


def as_options(hint: str) -> str:
    """Return a hint as command-line options: `--live process` for `live=['process']`."""

    def option(match: re.Match[str]) -> str:
        return f"--{match[1]} {shlex.quote(match[2])}"

    def policy(match: re.Match[str]) -> str:
        return f"--{match[1].replace('_', '-')} {match[2]}"

    return _AT.sub(r"--at \1", _POLICY.sub(policy, _LISTED.sub(option, hint)))


def brief(verdict: Verdict) -> str:
    """Return the verdict on one line, with the first of several divergences."""
    counted = [f"{many(verdict.served, 'answer')} served from the recording"]
    counted += [f"{label} ran for real × {count}" for label, count in sorted(verdict.live.items())]
    if verdict.missing:
        counted.append(f"{many(len(verdict.missing), 'step')} not requested")
    parts = [", ".join(counted), *verdict.notes]
    if verdict.divergence is not None:
        parts.append(one_line(str(verdict.divergence), 400))
    if len(verdict.divergences) > 1:
        parts.append(f"and {many(len(verdict.divergences) - 1, 'more divergence')}")
    return f"{word(verdict)}: {'; '.join(parts)}"


def facts(verdict: Verdict) -> Iterator[FactView]:
    """Yield all facts but the divergences and the steps that were not requested."""
    again = sum(verdict.again.values())
    # A tool that ran again gave its result itself.
    counts = {**verdict.kinds, "tool": verdict.kinds.get("tool", 0) - again}
    kinds = [f"{count} {kind}" for kind, count in sorted(counts.items()) if count > 0]
    served = f"{many(verdict.served - again, 'answer')} served from the recording"
    yield FactView(before=f"{served}: {', '.join(kinds)}" if len(kinds) > 1 else served)
    if again:
        text = f"{many(again, 'tool call')} ran again, with the recorded answers inside"
        yield FactView(before=text, tone="quiet")
    for label, reason in sorted(verdict.answered.items()):
        yield FactView(before="did not run: ", subject=one_line(label), after=f" ({one_line(reason)})")
    if (tools := verdict.kinds.get("tool", 0) - again) > 0 and not verdict.answered:
        text = f"the code of {many(tools, 'tool call')} did not run; --live tool runs it"
        yield FactView(before=text, tone="quiet")
    if len(verdict.compared) > 1:
        yield FactView(before=f"compared: {', '.join(verdict.compared)}", tone="quiet")
    for thing in verdict.uncompared:
        yield FactView(before=f"not compared: {one_line(thing)}", tone="quiet")
    if verdict.changed_since:
        text = f"{one_line(changed_since(verdict.changed_since))}; --files live reads what is there now"
        yield FactView(before="! ", after=text, tone="warning")
    for label, count in sorted(verdict.live.items()):
        yield FactView(before="ran for real: ", subject=one_line(label), after=f" × {count}")
    for rule in verdict.rules:
        yield FactView(before="rule applied: ", subject=one_line(rule))
    for note in verdict.notes:
        yield FactView(before="! ", after=one_line(note), tone="warning")


def changed_since(files: Collection[str]) -> str:
    """Return the sentence on files that have changed, and that a replay read as recorded."""
    first = list(files)[:_FILES]
    more = f" and {many(len(files) - len(first), 'more file')}" if len(files) > len(first) else ""
    return f"read as recorded, and changed since: {', '.join(first)}{more}"


def place(divergence: Divergence) -> str:
    """Return the kind and the place of a divergence: `CHANGED at step 2, main/model:gpt#0`."""
    where = f"step {divergence.step}, " if divergence.step is not None else ""
    return f"{divergence.kind.value} at {where}{one_line(divergence.address)}"


def unrequested(verdict: Verdict) -> list[tuple[int, str]]:
    """Return the recorded steps that were not requested, but those that a divergence names."""
    named = {divergence.step for divergence in verdict.divergences}
    return [(step, one_line(address)) for step, address in verdict.missing if step not in named]


def lines(verdict: Verdict) -> Iterator[str]:
    """Yield the verdict, one fact on each line, with long lists cut."""
    for fact in facts(verdict):
        yield fact.text
    for divergence in verdict.divergences[:_SHOWN]:
        yield one_line(f"{place(divergence)}: {divergence.detail}", 300)
    if len(verdict.divergences) > _SHOWN:
        yield f"and {many(len(verdict.divergences) - _SHOWN, 'more divergence')}"
    left = unrequested(verdict)
    if left:
        yield f"not requested: {many(len(left), 'recorded step')}"
    for step, address in left[:_SHOWN]:
        yield f"  {step}  {address}"
    if len(left) > _SHOWN:
        yield f"  and {len(left) - _SHOWN} more"
