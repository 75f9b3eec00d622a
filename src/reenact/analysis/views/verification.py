"""Recordings replayed against today's code: the result of each, and the failures by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Literal

from reenact.analysis.views.base import View
from reenact.analysis.views.replays import VerdictView

Tone = Literal["good", "live", "bad", "warn", "quiet"]


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

    @property
    def tone(self) -> Tone:
        """The meaning of its colour."""
        return _TONES[self]

    @property
    def good(self) -> bool:
        """Today's code runs as recorded."""
        return self in (Status.SAME, Status.FIXED)

    @property
    def ran(self) -> bool:
        """The program was run."""
        return self not in (Status.UNABLE, Status.REFUSED)


_TONES: dict[Status, Tone] = {
    Status.SAME: "good", Status.FIXED: "live", Status.DIVERGED: "bad", Status.BROKEN: "bad", Status.UNABLE: "warn",
    Status.REFUSED: "quiet",
}  # fmt: skip


class Outcome(View):
    """The result of one recording, as `verify --json` writes it.

    Attributes:
        recording: Its id; if it could not be read, the text that named it.
        name: Its name.
        status: The result.
        step: The step where the program left its recording, if it did.
        cause: The fault, without this recording's particulars: equal causes make a group.
        detail: The fault, in full.
        seconds: The duration of the replay.
        verdict: The replay's verdict; absent if there was no replay.
    """

    recording: str
    name: str
    status: Status
    step: int | None
    cause: str
    detail: str
    seconds: float
    verdict: VerdictView | None = None


class FailuresView(View):
    """The failures with one cause."""

    status: Status
    cause: str
    outcomes: tuple[Outcome, ...]


class VerificationView(View):
    """The results of all recordings.

    Attributes:
        outcomes: The results, in the order of the recordings.
        counts: The number of each result that there is.
        failures: The failures by cause, the most frequent cause first.
        seconds: The duration of all replays.
    """

    outcomes: tuple[Outcome, ...]
    counts: dict[Status, int]
    failures: tuple[FailuresView, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """All results are good."""
        return not self.failures


def verification(outcomes: Sequence[Outcome]) -> VerificationView:
    """Count the results, and group the failures by cause."""
    counts = Counter(outcome.status for outcome in outcomes)
    groups: dict[tuple[Status, str], list[Outcome]] = {}
    for outcome in outcomes:
        if not outcome.status.good:
            groups.setdefault((outcome.status, outcome.cause), []).append(outcome)
    found = [
        FailuresView(status=status, cause=cause, outcomes=tuple(members))
        for (status, cause), members in groups.items()
    ]
    return VerificationView(
        outcomes=tuple(outcomes),
        counts={status: counts[status] for status in Status if counts[status]},
        failures=tuple(sorted(found, key=lambda one: (-len(one.outcomes), one.status.value, one.cause))),
        seconds=sum(outcome.seconds for outcome in outcomes),
    )
