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

from pydantic import BaseModel, ConfigDict

from reenact.browser.camera import footage as footages
from reenact.browser.camera.footage import Footage, FootageEntry
from reenact.browser.video import one_of
from reenact.browser.video.tabs import SEEN, PaintedPage
from reenact.browser.watch.content import film, viewport_of
from reenact.browser.watch.html import shown
from reenact.browser.watch.pictures import jpeg
from reenact.browser.watch.screen import ScreenHistory, follow
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recording import Recording
from reenact.errors import RecordingError, UsageError

_LOOK = 0.1
"""Seconds between two looks at a growing file: at most ten pictures a second are shown."""

_BEAT = 1.0
"""Seconds between two announcements of new data other than pictures."""

_QUIET = ("frame", "anchor")
"""Events that change nothing but the picture."""


class Told(BaseModel):
    """Part of an answer; what it has not is said too."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class FilmSaid(Told):
    """One message of a model call."""

    role: str
    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, str]] = []
    answer: bool = False


class Target(Told):
    """The place of an action's element, in pixels of the page: x, y, width and height."""

    box: tuple[float, float, float, float] | None = None
    point: tuple[float, float] | None = None


class FilmStep(Told):
    """A step of a session, or a model call between two. Times are seconds since its start."""

    n: int | None
    call: int
    kind: str
    name: str
    t: float
    end: float | None = None
    status: str
    edited: bool = False
    acts: bool = False
    title: str
    message: str = ""
    actor: str = ""
    url: str = ""
    tab: int | None = None
    fields: list[tuple[str, str]] = []
    gave: str = ""
    why: list[tuple[str, str]] = []
    selectors: list[tuple[str, str]] = []
    target: Target | None = None
    said: list[FilmSaid] | None = None
    known: int | None = None
    model: str = ""


class FilmTab(Told):
    """A tab that is open."""

    tab: int
    url: str
    title: str


class FilmPlace(Told):
    """From that moment on these tabs were open, and that one was in front."""

    t: float
    front: int
    tabs: list[FilmTab]


class FilmRequest(Told):
    """A request of a page, and what came of it."""

    t: float
    end: float | None = None
    tab: int | None = None
    method: str = ""
    url: str = ""
    type: str = ""
    status: int | None = None
    size: int | None = None
    ms: float | None = None
    failed: str = ""
    asked: str = ""
    post: str = ""
    answered: str = ""
    body: str = ""


class FilmLine(Told):
    """A line of the page's console, or a text beside the page (`card`)."""

    t: float
    level: str
    text: str
    where: str = ""
    card: bool = False


class Film(Told):
    """A session. `scenes` are changes of the picture; `reads` give the time of each of `trees`.

    `begin` is the session's beginning in the recording's time.
    """

    recording: str
    name: str
    status: str
    started: str
    session: int
    sessions: int
    begin: float
    duration: float
    viewport: tuple[float, float]
    browser: str
    over: bool
    notes: list[str]
    steps: list[FilmStep]
    scenes: list[float]
    missing: int
    places: list[FilmPlace]
    network: list[FilmRequest]
    console: list[FilmLine]
    reads: list[tuple[float, int]]
    trees: list[str]


class Frame(Told):
    """A masked picture of the page as base64 JPEG; its time in seconds since the start."""

    t: float
    jpeg: str
    width: float
    height: float
    url: str


class Grown(Told):
    """Notice of new steps, requests or console lines of the session, or of its end."""

    t: float
    over: bool


def film_of(recording: Recording, folder: Path, number: int) -> Film:
    """All that is shown of a session beside its pictures.

    Raises RecordingError where the recording has no session of that number.
    """
    found = footages.sessions(folder)
    footage = one_of(folder, number)
    data = film(RecordingFacts(recording), found, number).data
    return Film.model_validate(
        {
            **shown({name: value for name, value in data.items() if name not in _OTHERWISE}),
            "recording": recording.id,
            "begin": footage.head.t,
            "steps": [_step(row) for row in shown(data["rows"])],
            "scenes": [t for t, _ in data["scenes"]],
            "over": any(True for _ in footage.entries("end")) or recording.status != "unsealed",
        }
    )


_OTHERWISE = ("id", "rows", "scenes", "sizes", "video", "steps")


def _step(row: dict[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in row.items() if value is not None}
    return {"n": None, **known, "tab": row.get("tab") if isinstance(row.get("tab"), int) else None}


def picture_at(folder: Path, number: int, ms: float) -> bytes:
    """Return the JPEG shown at a moment, in milliseconds since the session began.

    Secrets in it are covered. Raises RecordingError if there was no picture yet, or it is lost or cannot be covered.
    """
    footage = one_of(folder, number)
    state = footage.path.stat()
    times, pictures = _scenes(footage.path, state.st_mtime_ns, state.st_size)
    # A moment of the film is rounded up to the next millisecond.
    place = bisect_right(times, footage.head.t + ms / 1000 + 1e-6) - 1
    if place < 0:
        raise RecordingError(f"no picture exists yet at {ms:g} ms after the session's start")
    return _masked(footage, pictures[place])


@lru_cache(maxsize=16)
def _scenes(path: Path, changed: int, size: int) -> tuple[Sequence[float], Sequence[PaintedPage]]:
    """Return the times of pictures and the pictures, cached by `changed` and `size`."""
    footage = one_of(path.parent, int(path.name.split(".")[1]))
    screen = follow(sorted(footage.entries(), key=lambda entry: entry.t), viewport_of(footage))
    return [t for t, _ in screen.scenes], [picture for _, picture in screen.scenes]


def _masked(footage: Footage, picture: PaintedPage) -> bytes:
    try:
        return jpeg(footage, picture)
    except ImportError:
        raise UsageError(
            "this picture contains a secret, and Pillow is needed to cover it: pip install 'reenact[browser]'"
        ) from None
    except OSError:
        raise RecordingError("this picture is damaged") from None


# -- while it goes on ----------------------------------------------------------------------------------------


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
        """Return the news since the last look: the current picture, and the growth of the film."""
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
        # A line that is not whole yet is read next time.
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
            url=shown(url),
        )  # fmt: skip

    def _since(self, t: float) -> float:
        return round(max(t - self.footage.head.t, 0.0), 3)


async def followed(footage: Footage) -> AsyncIterator[Frame | Grown]:
    """Yield a session's pictures and growth from now on; end with the session."""
    following = SessionFollower(footage)
    while True:
        for item in await asyncio.to_thread(following.look):
            yield item
        if following.over:
            return
        await asyncio.sleep(_LOOK)
