"""Follow the screen of a session: the pictures and the address of the active tab."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reenact.browser.camera.footage import FootageEntry
from reenact.browser.video.tabs import SEEN, PaintedPage, VisibleTabs, number_of

MOST = 2000
"""Approximate maximum of pictures in a page; each has about seventy kilobytes."""

THUMBNAILS = 300
"""Approximate maximum of small pictures in a page; each has about three kilobytes."""

Scene = tuple[float, PaintedPage]
"""The time at which a picture appeared, and the picture."""


class ScreenHistory:
    """Follows the tabs of a session.

    Args:
        viewport: Its page's size, in CSS pixels.

    Attributes:
        scenes: The pictures with the times at which they appeared.
        places: The open tabs, their addresses and the active one, by time.
    """

    def __init__(self, viewport: tuple[float, float]) -> None:
        self._stage = VisibleTabs(viewport)
        self._titles: dict[int, str] = {}
        self.scenes: list[Scene] = []
        self.places: list[dict[str, Any]] = []

    def take(self, entry: FootageEntry) -> None:
        """Take the next line of a session's file, by time."""
        self._stage.take(entry)
        if entry["title"]:
            self._titles[number_of(entry["tab"], 0)] = str(entry["title"])
        picture = self._stage.picture
        if picture is not None and (not self.scenes or self.scenes[-1][1] != picture):
            self.scenes.append((entry.t, picture))
        if entry.event in _MOVING:
            self._place(entry.t)

    def _place(self, t: float) -> None:
        stage = self._stage
        tabs = [
            {"tab": number, "url": stage.tabs[number].url, "title": self._titles.get(number, "")}
            for number in stage.open
        ]
        now = {"front": stage.shown, "tabs": tabs}
        if not self.places or any(now[name] != self.places[-1][name] for name in now):
            self.places.append({"t": t, **now})


_MOVING = ("tab", "before", "after")


def follow(entries: Iterable[FootageEntry], viewport: tuple[float, float]) -> ScreenHistory:
    """Return the screen of a whole session from its lines by time."""
    screen = ScreenHistory(viewport)
    for entry in entries:
        if entry.event in SEEN:
            screen.take(entry)
    return screen


def chosen(scenes: Sequence[Scene], moments: Iterable[float], most: int = MOST) -> list[Scene]:
    """Choose scenes for a page: those at certain moments, and every n-th of the others."""
    if len(scenes) <= most:
        return list(scenes)
    times = [t for t, _ in scenes]
    kept = {max(bisect_right(times, moment) - 1, 0) for moment in moments}
    kept |= set(range(0, len(scenes), math.ceil(len(scenes) / max(most - len(kept), 1))))
    return [scenes[place] for place in sorted(kept)]


def thumbnails(
    steps: Sequence[Mapping[str, Any]], scenes: Sequence[Scene]
) -> tuple[tuple[int, PaintedPage], ...]:
    """Return the actions' numbers, each with the last picture before the next action.

    Of too many actions, every n-th one is returned.
    """
    times = [t for t, _ in scenes]
    acts = [place for place, step in enumerate(steps) if step.get("acts")]
    found = []
    for number, place in enumerate(acts, 1):
        over = steps[place].get("end") or steps[place]["t"]
        until = max(steps[acts[number]]["t"] - 0.001, over) if number < len(acts) else math.inf
        scene = bisect_right(times, until) - 1
        if scene >= 0:
            found.append((place, scenes[scene][1]))
    return tuple(found[:: math.ceil(len(found) / THUMBNAILS) or 1])
