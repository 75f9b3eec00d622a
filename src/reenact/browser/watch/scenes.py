"""What is on the screen when: the pictures of the tab in front, one after the other, and the address above them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reenact.browser.footage import Entry
from reenact.browser.video.stage import SEEN, Picture, Stage, number_of


class Pictures:
    """The pictures that a page needs, each once; they know how large the page was that they show."""

    def __init__(self) -> None:
        self.numbers: dict[Picture, int] = {}

    def number(self, picture: Picture) -> int:
        """The place of a picture among them."""
        return self.numbers.setdefault(picture, len(self.numbers))


class Screen:
    """Follows the tabs of a session.

    Args:
        viewport: How large its page is, in its own pixels.
        pictures: Where the pictures that are seen are numbered, or None where there is a video of them.

    Attributes:
        scenes: When which picture came in front, by its place among the pictures.
        places: When which tabs were open, where they were, and which of them was in front.
    """

    def __init__(self, viewport: tuple[float, float], pictures: Pictures | None) -> None:
        self._stage = Stage(viewport)
        self._titles: dict[int, str] = {}
        self._pictures = pictures
        self.scenes: list[list[float]] = []
        self.places: list[dict[str, Any]] = []

    def take(self, entry: Entry) -> None:
        """The next line of a session's file, by time."""
        self._stage.take(entry)
        if entry["title"]:
            self._titles[number_of(entry["tab"], 0)] = str(entry["title"])
        picture = self._stage.picture
        if self._pictures is not None and picture is not None:
            number = self._pictures.number(picture)
            if not self.scenes or self.scenes[-1][1] != number:
                self.scenes.append([entry.t, number])
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


def follow(entries: Iterable[Entry], viewport: tuple[float, float], pictures: Pictures | None) -> Screen:
    """The screen of a whole session; its lines by time."""
    screen = Screen(viewport, pictures)
    for entry in entries:
        if entry.event in SEEN:
            screen.take(entry)
    return screen
