"""What is on the screen when: the pictures of the tab in front, one after the other, and the address above them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reenact.browser.footage import Entry

Masks = tuple[tuple[float, ...], ...]
Key = tuple[str, Masks]
"""A picture: its blob, and what is to be covered on it."""

_UNEVEN = 0.02
"""By how much two shapes may differ and still be one: a picture's sides are whole numbers."""


class Pictures:
    """The pictures that a page needs, each once.

    Args:
        viewport: How large the session's page is, in its own pixels. A picture of that shape shows it whole, however
            small it is itself.
    """

    def __init__(self, viewport: tuple[float, float] = (0.0, 0.0)) -> None:
        self._viewport = viewport
        self._numbers: dict[Key, int] = {}
        self.sizes: dict[Key, tuple[float, float]] = {}

    def number(self, entry: Entry) -> int:
        """The place of a frame's picture among them."""
        masks = tuple(tuple(float(side) for side in box) for box in entry["masks"] or ())
        key = (str(entry["blob"]), masks)
        if key not in self.sizes:
            self.sizes[key] = self._size(float(entry["width"] or 0), float(entry["height"] or 0))
            self._numbers[key] = len(self._numbers)
        return self._numbers[key]

    def _size(self, width: float, height: float) -> tuple[float, float]:
        across, down = self._viewport
        alike = abs(width * down - height * across) <= _UNEVEN * down * across
        return self._viewport if across and alike else (width, height)


class Screen:
    """Follows the tabs of a session, and which of them is in front."""

    def __init__(self) -> None:
        self._tabs: dict[int, dict[str, Any]] = {}
        self._shown: dict[int, int] = {}
        self._front: int | None = None
        self.scenes: list[list[float]] = []
        self.places: list[dict[str, Any]] = []

    def take(self, entry: Entry, pictures: Pictures | None) -> None:
        """The next line of a session's file, by time."""
        if entry.event in ("frame", "anchor") and entry["blob"]:
            if pictures is not None:
                self._frame(entry, pictures.number(entry))
        elif entry.event == "tab":
            self._tab(entry)
        elif entry.event == "before" and entry["tab"] is not None:
            self._switch(entry.t, int(entry["tab"]))
        elif entry.event == "after" and entry["tab"] is not None:
            self._named(entry)

    def _frame(self, entry: Entry, picture: int) -> None:
        tab = int(entry["tab"] or 0)
        self._shown[tab] = picture
        if self._front is None:
            self._switch(entry.t, tab)
        elif tab == self._front:
            self._scene(entry.t, picture)

    def _scene(self, t: float, picture: int) -> None:
        if not self.scenes or self.scenes[-1][1] != picture:
            self.scenes.append([round(t, 3), picture])

    def _switch(self, t: float, tab: int) -> None:
        if tab != self._front:
            self._front = tab
            if tab in self._shown:
                self._scene(t, self._shown[tab])
            self._place(t)

    def _tab(self, entry: Entry) -> None:
        tab, what = int(entry["tab"] or 0), entry["what"]
        if what == "closed":
            self._tabs.pop(tab, None)
            if tab == self._front and self._tabs:
                self._switch(entry.t, max(self._tabs))
        else:
            self._tabs.setdefault(tab, {"tab": tab, "url": "", "title": ""})
            self._named(entry)
        if what == "active" or (what == "opened" and self._front is None):
            self._switch(entry.t, tab)
        self._place(entry.t)

    def _named(self, entry: Entry) -> None:
        known = self._tabs.get(int(entry["tab"]))
        if known is None:
            return
        if entry["url"] and entry["url"] != known["url"]:
            known |= {"url": str(entry["url"]), "title": ""}
        known["title"] = str(entry["title"] or known["title"])
        self._place(entry.t)

    def _place(self, t: float) -> None:
        now = {"front": self._front, "tabs": [dict(tab) for tab in self._tabs.values()]}
        if not self.places or {**now, "t": None} != {**self.places[-1], "t": None}:
            self.places.append({"t": round(t, 3), **now})


def follow(entries: Iterable[Entry], pictures: Pictures | None) -> Screen:
    """The screen of a whole session; its lines by time. Without `pictures` (there is a video) only the addresses."""
    screen = Screen()
    for entry in entries:
        screen.take(entry, pictures)
    return screen
