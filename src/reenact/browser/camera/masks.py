"""Find the parts of a picture that contain secrets.

A picture and the boxes of its secret fields are never taken at the same moment: the page may move in between. So the
boxes are measured before a picture and after it, and they count only if all measures around it agree. If they differ,
a field was moving and may have been at a place that no measure saw: such a picture is masked whole, and so is the
first one of a document that has secrets, because its earlier positions are unknown. In doubt more is masked.
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
"""Seconds that a page has to return its secret boxes."""
KEPT = 10.0
"""Seconds for which measures are kept: a picture may take as long to arrive."""
PAINTED = 0.25
"""Most seconds, on a busy machine, from a measured state to its picture."""


@dataclass(frozen=True, slots=True)
class MaskMeasurement:
    """The secret boxes at some moment between two; None where the page did not answer."""

    asked: float
    answered: float
    boxes: Boxes | None


class Masks:
    """The boxes of one tab.

    Args:
        ask: Returns the boxes of a page's secret fields, in CSS pixels of the main viewport.
        page: Playwright's page.
        now: The recording's clock, in seconds.
    """

    def __init__(self, ask: Ask | None, page: Any, now: Callable[[], float]) -> None:
        self._ask = ask
        self._page = page
        self._now = now
        self._measures: list[MaskMeasurement] = []
        self._added: list[tuple[float, list[float]]] = []
        self.needed = ask is not None

    def add(self, box: Box) -> None:
        """Add a box that is about to hold a secret: masked at once, until it was measured again."""
        self._added.append((self._now(), [float(side) for side in box]))

    def navigated(self) -> None:
        """Note another document: its boxes are unknown before the next measure."""
        now = self._now()
        self._measures.append(MaskMeasurement(now, now, None))

    async def measure(self) -> None:
        """Measure the boxes in the page; then `of` knows the masks of the pictures taken before."""
        if self._ask is None:
            return
        asked = self._now()
        boxes: Boxes | None = None
        # On a failure the page navigates, hangs in its own script or shows a dialog.
        with suppress(Exception):
            found = await asyncio.wait_for(self._ask(self._page), PATIENCE)
            boxes = sorted([round(side, 1) for side in box] for box in found)
        answered = self._now()
        last = self._measures[-1:]
        self._measures = [one for one in self._measures[:-1] if one.answered > answered - KEPT]
        # The newest stays in any case, as the predecessor of the next.
        self._measures += [*last, MaskMeasurement(asked, answered, boxes)]
        self._added = [one for one in self._added if one[0] > answered - KEPT]

    def of(self, t: float) -> Boxes:
        """Return the masks of a picture of that moment; needs a measure since then."""
        if self._ask is None:
            return []
        around, known = self._around(t)
        said = [one.boxes for one in around if one.boxes is not None]
        added = [box for since, box in self._added if since <= t <= self._until(since)]
        if not said:
            return whole(self._page)
        if not known or len(said) < len(around):
            # Some moment around it is unknown. If the other measures show no secret, there was none.
            return whole(self._page) if any(said) else added
        if not all(_same(one, other, added) for one, other in pairwise(said)):
            return whole(self._page)
        found: Boxes = []
        for box in (*(box for boxes in said for box in boxes), *added):
            found += [box] if box not in found else []
        return [box for box in found if not any(other is not box and covers(other, box) for other in found)]

    def unsure(self, t: float) -> bool:
        """Return True if a picture of that moment is masked whole because of uncertainty."""
        return bool(masks := self.of(t)) and masks == whole(self._page)

    def _around(self, t: float) -> tuple[list[MaskMeasurement], bool]:
        """Return the measures around a picture, and True if one of them came before it.

        They run from the last one answered before the picture was painted, if any, to the first one asked after it.
        """
        begin = t - PAINTED
        before = [one for one in self._measures if one.answered <= begin]
        after = [one for one in self._measures if one.answered > begin]
        until = next((place for place, one in enumerate(after, 1) if one.asked >= t), len(after))
        return [*before[-1:], *after[:until]], bool(before)

    def _until(self, since: float) -> float:
        """Return the end of the time for which a box added at `since` is masked."""
        measured = (
            one.answered + PAINTED for one in self._measures if one.asked >= since and one.boxes is not None
        )
        return next(measured, float("inf"))


def _same(one: Boxes, other: Boxes, added: Boxes) -> bool:
    """Return True if two measures agree, apart from boxes added in between."""
    changed = [box for box in (*one, *other) if box not in one or box not in other]
    return all(any(box == known or covers(known, box) for known in added) for box in changed)


def hull(one: Box, other: Box) -> list[float]:
    """Return the smallest box around two."""
    left, top = min(one[0], other[0]), min(one[1], other[1])
    right = max(one[0] + one[2], other[0] + other[2])
    bottom = max(one[1] + one[3], other[1] + other[3])
    return [round(side, 1) for side in (left, top, right - left, bottom - top)]


def covers(outer: Box, inner: Box) -> bool:
    """Return True if `inner` is within `outer`, and smaller."""
    return list(outer) != list(inner) and hull(outer, inner) == [round(side, 1) for side in outer]


def whole(page: Any) -> Boxes:
    """Return the box of a page's whole viewport."""
    size = page.viewport_size or {"width": 1 << 14, "height": 1 << 14}
    return [[0.0, 0.0, float(size["width"]), float(size["height"])]]
