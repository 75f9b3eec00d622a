"""The departures of a replay from its recording, and the verdict over a whole replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy
from reenact.errors import Departure, Divergence, Mismatch, one_line

ERROR = "main/error"
"""The address of a divergence in the error that leaves a block."""

_FORK = lazy(r"a fork with at=(\d+) goes on live")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a replay.

    `faithful` only if the program asked exactly the recorded questions, and nothing ran for real or was left
    unanswered.

    Attributes:
        recording: The id of the replayed recording.
        served: The number of effects with the recorded answer: answered from the recording, or tools that ran again
            and gave it.
        kinds: The same by kind.
        live: The effects that ran for real, as `kind:name`, with counts.
        rules: The named leniencies that made a difference (`ignore args.headers.user-agent`).
        missing: Recorded effects that were never asked for, as (step, address).
        divergences: All departures; with the strict default at most one.
        again: The tools that ran again on the recording and gave the recorded results, with counts.
        answered: The tools of the program that were answered without running, with the reason.
        compared: The things that were compared: calls, and at the end results, output and state.
        uncompared: The recorded things that could not be compared, with the reason.
        changed_since: The files with another content now, which the replay read as recorded.
        notes: Further facts for a careful reader: holes in the recording, clock reads that had no record.
    """

    recording: str
    served: int = 0
    live: dict[str, int] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    missing: tuple[tuple[int, str], ...] = ()
    divergences: tuple[Divergence, ...] = ()
    notes: tuple[str, ...] = ()
    kinds: dict[str, int] = field(default_factory=dict)
    again: dict[str, int] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    compared: tuple[str, ...] = ()
    uncompared: tuple[str, ...] = ()
    changed_since: tuple[str, ...] = ()

    @property
    def faithful(self) -> bool:
        """True when the run was the recorded one, wholly answered from the recording."""
        return not (self.divergences or self.missing or self.live or self.notes)

    @property
    def divergence(self) -> Divergence | None:
        """The first departure, or None."""
        return self.divergences[0] if self.divergences else None

    def __repr__(self) -> str:
        """Return one line: the verdict of the recording, and the first departure."""
        word = self._word
        first = f", {self.divergence!r}" if self.divergence is not None else ""
        return f"<Verdict {one_line(self.recording)}: {word}, {self.served} served{first}>"

    @property
    def _word(self) -> str:
        if self.faithful:
            return "faithful"
        return "diverged" if self.divergences else "partly from the recording"

    def __str__(self) -> str:
        parts = [f"{self.served} served from the recording"]
        parts += [f"{count} × {label} ran again" for label, count in self.again.items()]
        parts += [f"{label} did not run ({reason})" for label, reason in self.answered.items()]
        parts += [f"{count} × {label} ran for real" for label, count in self.live.items()]
        parts += [f"{len(self.missing)} not requested"] if self.missing else []
        parts += [f"under rule: {rule}" for rule in self.rules]
        parts += [str(divergence) for divergence in self.divergences]
        parts += [f"not compared: {thing}" for thing in self.uncompared]
        parts += [f"read as recorded, and changed since: {file}" for file in self.changed_since]
        parts += list(self.notes)
        return f"{self._word}: " + "; ".join(parts)


def verdict_tree(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain values, for `--json` and from one process to another."""
    tree = asdict(verdict)
    for divergence in tree["divergences"]:
        divergence["kind"] = Departure(divergence["kind"]).value
    return {"faithful": verdict.faithful, **tree}


def verdict_of(tree: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a tree made by `verdict_tree`."""
    divergences = tuple(
        Divergence(
            Departure(item["kind"]),
            item["address"],
            item["step"],
            tuple(Mismatch(**mismatch) for mismatch in item["mismatches"]),
            item["detail"],
            item["hint"],
        )
        for item in tree["divergences"]
    )
    return Verdict(
        recording=tree["recording"],
        served=tree["served"],
        live=dict(tree["live"]),
        rules=tuple(tree["rules"]),
        missing=tuple((step, address) for step, address in tree["missing"]),
        divergences=divergences,
        notes=tuple(tree["notes"]),
        kinds=dict(tree.get("kinds", {})),
        again=dict(tree.get("again", {})),
        answered=dict(tree.get("answered", {})),
        compared=tuple(tree.get("compared", ())),
        uncompared=tuple(tree.get("uncompared", ())),
        changed_since=tuple(tree.get("changed_since", ())),
    )


def merged(verdicts: Sequence[Verdict]) -> Verdict:
    """Return one verdict over the processes of a run, with the first one's recording."""
    live: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    again: Counter[str] = Counter()
    for verdict in verdicts:
        live.update(verdict.live)
        kinds.update(verdict.kinds)
        again.update(verdict.again)
    return Verdict(
        recording=verdicts[0].recording,
        served=sum(verdict.served for verdict in verdicts),
        live=dict(live),
        kinds=dict(kinds),
        again=dict(again),
        compared=tuple(dict.fromkeys(item for verdict in verdicts for item in verdict.compared)),
        uncompared=tuple(dict.fromkeys(item for verdict in verdicts for item in verdict.uncompared)),
        changed_since=tuple(dict.fromkeys(item for verdict in verdicts for item in verdict.changed_since)),
        answered={label: reason for verdict in verdicts for label, reason in verdict.answered.items()},
        rules=tuple(dict.fromkeys(rule for verdict in verdicts for rule in verdict.rules)),
        missing=tuple(sorted(item for verdict in verdicts for item in verdict.missing)),
        divergences=tuple(
            sorted(
                (item for verdict in verdicts for item in verdict.divergences),
                key=lambda item: item.step or 0,
            )
        ),
        notes=tuple(dict.fromkeys(note for verdict in verdicts for note in verdict.notes)),
    )


def forking_hint(step: int) -> str:
    """Return the hint for a run in which a recorded tool ran for real."""
    return f"step {step} ran for real and may have given another answer: a fork with at={step} goes on live from there"


def forking_step(divergence: Divergence) -> int | None:
    """Return the step of `forking_hint`, or None for another hint."""
    found = _FORK.search(divergence.hint)
    return int(found[1]) if found else None
