"""Which parts of a picture hold secrets.

A picture and the boxes of its secret fields are never taken at one moment: the page may move in between. So the boxes
are measured before a picture and after it, and only if all measures around it say the same is that where its secrets
are. If they differ, a field was on its way and may have been at a place that none of them saw: such a picture is masked
whole, and so is the first one of a document that has secrets, for nobody knows where they were before. When in doubt
more is masked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Box = Sequence[float]
Boxes = list[list[float]]
Ask = Callable[[Any], Awaitable[Sequence[Box]]]

PATIENCE = 1.0
"""Seconds that a page has to say where its secrets are."""
KEPT = 10.0
"""Seconds for which it is known where secrets were: a picture may be under way as long."""
PAINTED = 0.25
"""Seconds that a page takes at most, on a busy machine, to paint what a measure already sees."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Where the secrets were at some moment between two; None where the page did not say."""

    asked: float
    answered: float
    boxes: Boxes | None


class Masks:
    """The boxes of one tab.

    Args:
        ask: Where a page's secret fields are, in CSS pixels of the main viewport.
        page: Playwright's page.
        now: The recording's clock, in seconds.
    """

    def __init__(self, ask: Ask | None, page: Any, now: Callable[[], float]) -> None:
        self._ask = ask
        self._page = page
        self._now = now
        self._measures: list[Measure] = []
        self._added: list[tuple[float, list[float]]] = []
        self.needed = ask is not None

    def add(self, box: Box) -> None:
        """A box that is about to hold a secret: masked at once, and until it was measured again."""
        self._added.append((self._now(), [float(side) for side in box]))

    def navigated(self) -> None:
        """Another document: where its secrets are is not known before the next measure."""
        now = self._now()
        self._measures.append(Measure(now, now, None))

    async def measure(self) -> None:
        """Ask the page; then `of` can tell what to mask in the pictures that were taken before."""
        if self._ask is None:
            return
        asked = self._now()
        boxes: Boxes | None = None
        # Where it fails, the page navigates, hangs in its own script or shows a dialog.
        with suppress(Exception):
            found = await asyncio.wait_for(self._ask(self._page), PATIENCE)
            boxes = sorted([round(side, 1) for side in box] for box in found)
        answered = self._now()
        last = self._measures[-1:]
        self._measures = [one for one in self._measures[:-1] if one.answered > answered - KEPT]
        # The newest stays in any case, as the one before the next.
        self._measures += [*last, Measure(asked, answered, boxes)]
        self._added = [one for one in self._added if one[0] > answered - KEPT]

    def of(self, t: float) -> Boxes:
        """What to mask in a picture of that moment; the page has been measured since."""
        if self._ask is None:
            return []
        around, known = self._around(t)
        said = [one.boxes for one in around if one.boxes is not None]
        added = [box for since, box in self._added if since <= t <= self._until(since)]
        if not said:
            return whole(self._page)
        if not known or len(said) < len(around):
            # Of some moment around it nothing is known. Where the others show no secret, there was none.
            return whole(self._page) if any(said) else added
        if not all(_same(one, other, added) for one, other in pairwise(said)):
            return whole(self._page)
        found: Boxes = []
        for box in (*(box for boxes in said for box in boxes), *added):
            found += [box] if box not in found else []
        return [box for box in found if not any(other is not box and covers(other, box) for other in found)]

    def unsure(self, t: float) -> bool:
        """Whether a picture of that moment is masked whole, for want of knowing better."""
        return bool(masks := self.of(t)) and masks == whole(self._page)

    def _around(self, t: float) -> tuple[list[Measure], bool]:
        """The measures that tell of a picture: from the last that was there when it was painted, if there was one, to
        the first that was asked for after it.
        """
        begin = t - PAINTED
        before = [one for one in self._measures if one.answered <= begin]
        after = [one for one in self._measures if one.answered > begin]
        until = next((place for place, one in enumerate(after, 1) if one.asked >= t), len(after))
        return [*before[-1:], *after[:until]], bool(before)

    def _until(self, since: float) -> float:
        """Until when a box is masked that was added then."""
        measured = (
            one.answered + PAINTED for one in self._measures if one.asked >= since and one.boxes is not None
        )
        return next(measured, float("inf"))


def _same(one: Boxes, other: Boxes, added: Boxes) -> bool:
    """Whether two measures show the same; what was about to become secret between them is known anyway."""
    changed = [box for box in (*one, *other) if box not in one or box not in other]
    return all(any(box == known or covers(known, box) for known in added) for box in changed)


def hull(one: Box, other: Box) -> list[float]:
    """The smallest box around two."""
    left, top = min(one[0], other[0]), min(one[1], other[1])
    right = max(one[0] + one[2], other[0] + other[2])
    bottom = max(one[1] + one[3], other[1] + other[3])
    return [round(side, 1) for side in (left, top, right - left, bottom - top)]


def covers(outer: Box, inner: Box) -> bool:
    """Whether a box lies within another, larger one."""
    return list(outer) != list(inner) and hull(outer, inner) == [round(side, 1) for side in outer]


def whole(page: Any) -> Boxes:
    """All of a page's viewport."""
    size = page.viewport_size or {"width": 1 << 14, "height": 1 << 14}
    return [[0.0, 0.0, float(size["width"]), float(size["height"])]]
