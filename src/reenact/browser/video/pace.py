"""Map the video's time to the session's: in real time, or with shortened idle time.

The map is kept beside the video, to show steps, network and console at their times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, get_args

Kind = Literal["real", "compact"]
KINDS: tuple[str, ...] = get_args(Kind)

IDLE = 1.5
"""Most seconds without a change in a compact video; longer gaps are shortened."""

BEFORE = 0.6
"""Seconds of still picture before an action in a compact video, in which the pointer moves."""

FAILED = 1.2
"""Seconds of still picture after a failed action, to read its message."""

Knot = tuple[float, float]
"""A moment of the video and the moment of the session that it shows, both in seconds."""


class Pace:
    """The map, built in the order of time: `happened` for each change, `hold` for each action.

    Between two knots time is linear. The picture stands still where only the video's time advances.

    Attributes:
        knots: The map, at least its two ends.
    """

    def __init__(self, kind: Kind, begin: float) -> None:
        self.kind = kind
        self.knots: list[Knot] = [(0.0, begin)]
        self._video, self._session = 0.0, begin

    def happened(self, t: float) -> None:
        """Note a change at that moment of the session."""
        gap = t - self._session
        if gap <= 0:
            return
        if self.kind == "compact" and gap > IDLE:
            self._knot()
            self._video += IDLE
            self._session = t
            self._knot()
            return
        self._video += gap
        self._session = t

    def hold(self, t: float, seconds: float) -> None:
        """Let a compact video stand still at a moment for that many seconds."""
        self.happened(t)
        if self.kind == "compact":
            self._knot()
            self._video += seconds
            self._knot()

    def end(self, t: float, *, rest: float) -> None:
        """Note the session's end, shown for `rest` more seconds."""
        self.happened(t)
        self._video += rest
        self._session += rest
        self._knot()

    def video(self, t: float, *, after: bool = False) -> float:
        """Return the moment of the video that shows a moment of the session.

        `after` chooses the end of a still picture instead of its start.
        """
        find = bisect_right if after else bisect_left
        place = find(self.knots, t, key=lambda knot: knot[1])
        if after and place and self.knots[place - 1][1] == t:
            return self.knots[place - 1][0]
        return between(self.knots, place, t, source=1)

    def session(self, video: float) -> float:
        """Return the moment of the session shown at a moment of the video."""
        place = bisect_left(self.knots, video, key=lambda knot: knot[0])
        return between(self.knots, place, video, source=0)

    def speed(self, video: float) -> float:
        """Return the number of the session's seconds in one second of the video."""
        place = bisect_right(self.knots, video, key=lambda knot: knot[0])
        if not 0 < place < len(self.knots):
            return 1.0
        (v0, s0), (v1, s1) = self.knots[place - 1], self.knots[place]
        return (s1 - s0) / (v1 - v0) if v1 > v0 else 1.0

    def _knot(self) -> None:
        knot = (self._video, self._session)
        if self.knots[-1] != knot:
            self.knots.append(knot)


def between(knots: Sequence[Knot], place: int, at: float, *, source: int) -> float:
    """Interpolate `at` from one side of a map to the other.

    `source` is the side of `at`: 0 for the video, 1 for the session. `place` is the index of the first knot not before
    it.
    """
    other = 1 - source
    if place == 0:
        return knots[0][other]
    if place == len(knots):
        return knots[-1][other]
    before, behind = knots[place - 1], knots[place]
    width = behind[source] - before[source]
    share = (at - before[source]) / width if width else 1.0
    return before[other] + share * (behind[other] - before[other])
