"""A recording's browser sessions for the console: film, pictures, video, live view.

Secrets are covered in every picture that this module returns.
"""

from __future__ import annotations

import asyncio
import base64
import io
from bisect import bisect_right
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

from reenact.browser.camera import footage as footages
from reenact.browser.camera.footage import Footage, FootageEntry
from reenact.browser.camera.moments import moments_of, whole
from reenact.browser.video import one_of
from reenact.browser.video.tabs import SEEN, PaintedPage
from reenact.browser.watch.content import film, viewport_of
from reenact.browser.watch.film import Film, FilmPart, Text
from reenact.browser.watch.pictures import jpeg, thumbnail
from reenact.browser.watch.screen import ScreenHistory, follow
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import MissingExtra, RecordingError, UsageError

_LOOK = 0.1
"""Seconds between two reads of a growing file, for at most ten pictures a second."""

_BEAT = 1.0
"""Seconds between two announcements of new data other than pictures."""

_QUIET = ("frame", "anchor")
"""Events that change only the picture."""


class Frame(FilmPart):
    """A masked picture of the page as base64 JPEG; its time in seconds since the start."""

    t: float
    jpeg: str
    width: float
    height: float
    url: Text


class Grown(FilmPart):
    """Notice of new steps, requests or console lines of the session, or of its end."""

    t: float
    over: bool


def film_of(recording: RecordedRun, folder: Path, number: int) -> Film:
    """Return all data of a session's page except its pictures.

    Raises RecordingError if the recording has no session of that number.
    """
    one_of(folder, number)
    return film(RecordingFacts(recording), footages.sessions(folder), number).view


def picture_at(folder: Path, number: int, ms: float, width: int | None = None) -> bytes:
    """Return the JPEG shown at a moment, in milliseconds since the session began.

    With `width` it is a thumbnail of at most that width in pixels. Secrets are covered. Raises RecordingError if there
    was no picture yet, or it is lost or cannot be covered.
    """
    footage = one_of(folder, number)
    state = footage.path.stat()
    times, pictures = _scenes(footage.path, state.st_mtime_ns, state.st_size)
    # A moment of the film is rounded up to the next millisecond.
    place = bisect_right(times, footage.head.t + ms / 1000 + 1e-6) - 1
    if place < 0:
        raise RecordingError(f"no picture exists yet at {ms:g} ms after the session's start")
    data = _masked(footage, pictures[place])
    if width is None:
        return data
    try:
        return thumbnail(data, width)
    except ImportError:
        return data
    except OSError:
        raise RecordingError("this picture is damaged") from None


@lru_cache(maxsize=16)
def _scenes(path: Path, changed: int, size: int) -> tuple[Sequence[float], Sequence[PaintedPage]]:
    """Return the times of pictures and the pictures, cached by `changed` and `size`."""
    footage = one_of(path.parent, int(path.name.split(".")[1]))
    screen = follow(sorted(footage.entries(), key=lambda entry: entry.t), viewport_of(footage))
    return [t for t, _ in screen.scenes], [picture for _, picture in screen.scenes]


class FilmPage(FilmPart):
    """The content of a page at a moment; docs/format.md describes it.

    Texts are unchanged texts of the page: create only elements with known names, and parse nothing as markup.
    """

    url: Text
    title: Text
    viewport: tuple[float, float]
    whole: bool
    parts: tuple[str, ...]
    nodes: tuple[Any, ...]


def page_at(folder: Path, number: int, page: int) -> FilmPage:
    """Return the page of that number in the session.

    Raises RecordingError if there is none, or it is lost or damaged.
    """
    footage = one_of(folder, number)
    state = footage.path.stat()
    addresses = _pages(footage.path, state.st_mtime_ns, state.st_size)
    if page >= len(addresses):
        raise RecordingError(f"session {number} has no page {page}; it has {len(addresses)}, from 0")
    return FilmPage(**whole(footage, addresses[page]))


@lru_cache(maxsize=16)
def _pages(path: Path, changed: int, size: int) -> Sequence[str]:
    """Return the addresses of pages, cached by `changed` and `size`."""
    footage = one_of(path.parent, int(path.name.split(".")[1]))
    return moments_of(sorted(footage.entries("dom"), key=lambda entry: entry.t))[1]


def _masked(footage: Footage, picture: PaintedPage) -> bytes:
    try:
        return jpeg(footage, picture)
    except ImportError:
        raise MissingExtra("this picture, in which a secret is covered,", "browser") from None
    except OSError:
        raise RecordingError("this picture is damaged") from None


# -- running sessions ----------------------------------------------------------------------------------------


@dataclass
class SessionFollower:
    """Reads a session's file as it grows.

    Args:
        footage: The session.
    """

    footage: Footage

    def __post_init__(self) -> None:
        self._screen = ScreenHistory(viewport_of(self.footage))
        self._read = 0
        self._reading = footages.FootageReader(self.footage.path)
        self._shown: PaintedPage | None = None
        self._told = 0.0
        self._news = False
        self._t = self.footage.head.t
        self.over = False

    def look(self) -> list[Frame | Grown]:
        """Return the changes since the last call: the current picture, and the growth of the film."""
        for entry in self._entries():
            self._t = max(self._t, entry.t)
            self.over = self.over or entry.event == "end"
            self._news = self._news or entry.event not in _QUIET
            if entry.event in SEEN:
                self._screen.take(entry)
        found: list[Frame | Grown] = []
        picture = self._screen.scenes[-1] if self._screen.scenes else None
        if picture is not None and picture[1] != self._shown:
            self._shown = picture[1]
            frame = self._frame(*picture)
            found += [frame] if frame is not None else []
        if self.over or (self._news and monotonic() - self._told >= _BEAT):
            self._news, self._told = False, monotonic()
            found.append(Grown(t=self._since(self._t), over=self.over))
        return found

    def _entries(self) -> list[FootageEntry]:
        with self.footage.path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        # An incomplete line is read the next time.
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        read = (self._reading.take(line) for line in io.BytesIO(whole))
        return [entry for entry in read if entry is not None]

    def _frame(self, t: float, picture: PaintedPage) -> Frame | None:
        try:
            data = _masked(self.footage, picture)
        except (RecordingError, UsageError):
            return None
        place: dict[str, Any] = self._screen.places[-1] if self._screen.places else {"front": 0, "tabs": []}
        url = next((tab["url"] for tab in place["tabs"] if tab["tab"] == place["front"]), "")
        return Frame(
            t=self._since(t), jpeg=base64.b64encode(data).decode(), width=picture.width, height=picture.height,
            url=url,
        )  # fmt: skip

    def _since(self, t: float) -> float:
        return round(max(t - self.footage.head.t, 0.0), 3)


async def followed(footage: Footage) -> AsyncIterator[Frame | Grown]:
    """Yield a session's pictures and growth from now on, until it ends."""
    following = SessionFollower(footage)
    while True:
        for item in await asyncio.to_thread(following.look):
            yield item
        if following.over:
            return
        await asyncio.sleep(_LOOK)
