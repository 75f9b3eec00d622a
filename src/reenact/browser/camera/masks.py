"""Which parts of a picture hold secrets.

A picture and the boxes of its secret fields are never taken at one moment: the page may move in between. So a picture
gets the boxes of the measures before it and after it, and of a field that moved all that lies between both places.
When in doubt more is masked: a page that was loaded and does not answer is masked whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

Box = Sequence[float]
Ask = Callable[[Any], Awaitable[Sequence[Box]]]

PATIENCE = 1.0
"""Seconds that a page has to say where its secrets are."""
KEPT = 10.0
"""Seconds for which it is known where secrets were: a picture may be under way as long."""
LINGER = 0.5
"""Seconds for which a box is masked after its field has moved or gone."""


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
        self._seen: list[tuple[float, list[list[float]]]] = []
        self._unknown = True
        self.needed = ask is not None

    def add(self, box: Box) -> None:
        """A box that is about to hold a secret: masked at once, and until it was measured again."""
        self._seen.append((self._now(), [list(box)]))

    def navigated(self) -> None:
        """Another document: where its secrets are is not known before the next measure."""
        self._unknown = True

    async def measure(self, since: float | None = None) -> list[list[float]]:
        """Ask the page, and return what to mask in pictures that were taken since the measure before.

        `since`: when the oldest of them was taken. One that was long under way shows what was measured before that.
        """
        if self._ask is None:
            return []
        before, self._unknown = self._unknown, False
        try:
            boxes = [
                [round(side, 1) for side in box]
                for box in await asyncio.wait_for(self._ask(self._page), PATIENCE)
            ]
        except Exception:  # it navigates, hangs in its own script or shows a dialog
            self._unknown = self._unknown or before
            return whole(self._page) if self._unknown else self._merged(since)
        self._seen.append((self._now(), boxes))
        merged = self._merged(since)
        # The newest stays in any case, as the one before the next.
        kept = self._now() - KEPT
        self._seen = [seen for seen in self._seen[:-1] if seen[0] > kept] + self._seen[-1:]
        return merged

    def _merged(self, since: float | None) -> list[list[float]]:
        begin = self._now() - LINGER if since is None else min(since, self._now() - LINGER)
        old = [seen for seen in self._seen if seen[0] <= begin]
        measures = [*old[-1:], *(seen for seen in self._seen if seen[0] > begin)]
        found: list[list[float]] = []
        before: list[list[float]] = []
        for _, boxes in measures:
            same = len(before) == len(boxes)
            before = [hull(old, new) for old, new in zip(before, boxes, strict=True)] if same else boxes
            found += [box for box in before if box not in found]
        return [box for box in found if not any(other is not box and covers(other, box) for other in found)]


def hull(one: Box, other: Box) -> list[float]:
    """The smallest box around two: all places that a field passed on its way."""
    left, top = min(one[0], other[0]), min(one[1], other[1])
    right = max(one[0] + one[2], other[0] + other[2])
    bottom = max(one[1] + one[3], other[1] + other[3])
    return [round(side, 1) for side in (left, top, right - left, bottom - top)]


def covers(outer: Box, inner: Box) -> bool:
    """Whether a box lies within another, larger one."""
    return list(outer) != list(inner) and hull(outer, inner) == [round(side, 1) for side in outer]


def whole(page: Any) -> list[list[float]]:
    """All of a page's viewport."""
    size = page.viewport_size or {"width": 1 << 14, "height": 1 << 14}
    return [[0.0, 0.0, float(size["width"]), float(size["height"])]]
