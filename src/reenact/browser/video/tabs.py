"""Track the visible page: the tabs, their last pictures, and the active tab."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reenact.browser.camera.footage import FootageEntry

Box = tuple[float, float, float, float]
"""x, y, width and height in CSS pixels of the main viewport."""

LATE = 2.0
"""Most seconds by which a picture's line may come late in the file."""

_MOST = 5_000
"""Most buffered lines, in case all lines of a file have the same time."""

SEEN = ("tab", "frame", "anchor", "before", "after", "dialog", "download", "chooser", "crash", "end")
"""The events that change the visible picture."""


def ordered(entries: Iterable[FootageEntry]) -> Iterator[FootageEntry]:
    """Yield entries in the order of their times, if each is at most `LATE` seconds out of order."""
    waiting: list[tuple[float, int, FootageEntry]] = []
    newest = float("-inf")
    for number, entry in enumerate(entries):
        newest = max(newest, entry.t)
        heapq.heappush(waiting, (entry.t, number, entry))
        while waiting and (waiting[0][0] < newest - LATE or len(waiting) > _MOST):
            yield heapq.heappop(waiting)[2]
    while waiting:
        yield heapq.heappop(waiting)[2]


@dataclass(frozen=True, slots=True)
class PaintedPage:
    """A painted page.

    Attributes:
        blob: The address of its JPEG.
        width: Width of the shown page in CSS pixels; 0 if unknown. The JPEG may be smaller.
        height: Its height.
        masks: Its secret boxes, in CSS pixels.
    """

    blob: str
    width: float
    height: float
    masks: tuple[Box, ...] = ()


@dataclass(slots=True)
class VisibleTab:
    """One tab: its last picture and its address."""

    picture: PaintedPage | None = None
    url: str = ""
    opener: int | None = None
    open: bool = True


@dataclass(slots=True)
class VisibleTabs:
    """The tabs, updated by the lines of a session.

    Args:
        viewport: The page's width and height when the session began.

    Attributes:
        shown: The number of the visible tab.
        tabs: All tabs by their numbers.
        picture: The visible picture; that of a closed tab stays until there is another.
    """

    viewport: tuple[float, float] = (0, 0)
    shown: int = 0
    tabs: dict[int, VisibleTab] = field(default_factory=dict)
    picture: PaintedPage | None = None
    _order: list[int] = field(default_factory=list)

    def take(self, entry: FootageEntry) -> bool:
        """Take one line; return True if the visible picture may have changed."""
        match entry.event:
            case "frame" | "anchor":
                return self._painted(entry)
            case "tab":
                return self._tab(entry)
            case "before" | "after":
                self._show(number_of(entry["tab"], self.shown))
                self.tabs[self.shown].url = str(entry["url"] or self.tabs[self.shown].url)
                return True
            case _:
                return True

    @property
    def url(self) -> str:
        """The address of the visible page."""
        tab = self.tabs.get(self.shown)
        return tab.url if tab else ""

    @property
    def open(self) -> list[int]:
        """The open tabs, in the order in which they opened."""
        return [number for number, tab in self.tabs.items() if tab.open]

    def _painted(self, entry: FootageEntry) -> bool:
        number = number_of(entry["tab"], 0)
        tab = self._at(number)
        blob = entry["blob"]
        if not isinstance(blob, str):
            return False
        tab.picture = self._picture(entry, blob)
        if number != self.shown or tab.picture == self.picture:
            return False
        self.picture = tab.picture
        return True

    def _picture(self, entry: FootageEntry, blob: str) -> PaintedPage:
        width, height = _length(entry["width"]), _length(entry["height"])
        masks = tuple(box for box in map(box_of, entry["masks"] or ()) if box)
        known = size_of(entry["viewport"])
        if known[0]:
            return PaintedPage(blob, *known, masks)
        wide, high = self.viewport
        if not (0 < width < wide and abs(width * high - height * wide) <= 2 * wide):
            return PaintedPage(blob, width, height, masks)
        # By its proportions this is the session's page, scaled down. In case it is a small window of these proportions,
        # its secrets are covered unscaled, too.
        scale = wide / width
        more = tuple((x * scale, y * scale, across * scale, down * scale) for x, y, across, down in masks)
        return PaintedPage(blob, wide, high, masks + more)

    def _tab(self, entry: FootageEntry) -> bool:
        number, what = number_of(entry["tab"], 0), entry["what"]
        tab = self._at(number)
        tab.url = str(entry["url"] or tab.url)
        if what == "opened":
            opener = entry["opener"]
            tab.opener = opener if isinstance(opener, int) else None
        elif what == "active":
            self._show(number)
        elif what == "closed":
            tab.open, tab.picture = False, None
            if number == self.shown:
                self._fall_back(tab)
        return True

    def _fall_back(self, closed: VisibleTab) -> None:
        opened = self.open
        if opened:
            last = next((number for number in reversed(self._order) if number in opened), opened[-1])
            self._show(closed.opener if closed.opener in opened else last)

    def _show(self, number: int) -> None:
        tab = self._at(number)
        self.shown = number
        if number in self._order:
            self._order.remove(number)
        self._order.append(number)
        if tab.picture is not None or tab.open:
            self.picture = tab.picture

    def _at(self, number: int) -> VisibleTab:
        return self.tabs.setdefault(number, VisibleTab())


def box_of(value: Any) -> Box | None:
    """Return a box from the footage's list, or None if it is invalid."""
    if not isinstance(value, list | tuple) or len(value) != 4:
        return None
    if not all(isinstance(one, int | float) for one in value):
        return None
    x, y, width, height = map(float, value)
    return (x, y, width, height)


def number_of(value: Any, other: int) -> int:
    """Return a whole number, or `other` if it is none."""
    return value if isinstance(value, int) else other


def size_of(value: Any) -> tuple[float, float]:
    """Return a width and a height, or (0, 0) if they are invalid."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return (0, 0)
    width, height = map(_length, value)
    return (width, height) if width and height else (0, 0)


def _length(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0
