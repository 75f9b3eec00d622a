"""Gather the data of one session's page: steps, screen, network, console and trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from reenact.analysis.views.step_pictures import pictures
from reenact.browser.camera.footage import Footage, FootageEntry
from reenact.browser.camera.moments import moments_of
from reenact.browser.video import Video
from reenact.browser.video.tabs import PaintedPage, size_of
from reenact.browser.watch import activity
from reenact.browser.watch.budget import Budget
from reenact.browser.watch.film import Film
from reenact.browser.watch.rows import ActionMarks, rows
from reenact.browser.watch.screen import chosen, follow, thumbnails
from reenact.core.query.facts import RecordingFacts
from reenact.errors import CorruptRecording

PICTURES = 20_000_000
"""Most bytes of pictures in messages on one side of a page."""

LETTERS = 24_000_000
"""Most characters of texts on one side of a page, which compress to a tenth."""

_USUAL = (1280.0, 720.0)
_TIMES = ("t", "end")
_ERROR = 1e-6


@dataclass
class WatchContent:
    """One session, ready for a page.

    Attributes:
        view: The session.
        count: The number of the recording's steps.
        footage: The session's file, or None: a replay without a browser has no pictures.
        scenes: The times at which pictures appear, and their places in `pictures`.
        pictures: The pictures to show, if there is no video.
        video: The video to show instead.
        file: The name of the video's file, if it is beside the page.
        moments: The addresses of the kept pages.
        images: The pictures in messages: step, place among its pictures, and the bytes.
        thumbnails: The numbers of the actions in the strip of pictures, each with the page after the action.
    """

    view: Film
    count: int
    footage: Footage | None
    scenes: Sequence[tuple[float, int]]
    pictures: Sequence[PaintedPage]
    video: Video | None = None
    file: str | None = None
    moments: Sequence[str] = ()
    images: Sequence[tuple[int, int, bytes]] = ()
    thumbnails: Sequence[tuple[int, PaintedPage]] = ()

    def data(self) -> dict[str, Any]:
        """Return the data for the page's script."""
        view = self.view.model_dump(exclude={"begin", "over"})
        video = self.video
        return {
            **view,
            "id": view.pop("recording"),
            "rows": view.pop("steps"),
            "steps": self.count,
            "scenes": self.scenes,
            "images": [(step, place) for step, place, _ in self.images],
            "thumbnails": [place for place, _ in self.thumbnails],
            "sizes": [(picture.width, picture.height) for picture in self.pictures],
            "video": None if video is None else [(one / 1000, other / 1000) for one, other in video.segments],
            **({} if self.file is None else {"file": self.file}),
        }


def film(
    facts: RecordingFacts,
    sessions: Sequence[Footage],
    number: int,
    video: Video | None = None,
    *,
    ref: str = "",
) -> WatchContent:
    """Gather all data of one session's page.

    Args:
        facts: The recording.
        sessions: All its filmed sessions.
        number: The number of the session, from 1.
        video: Its video; without one, its pictures are shown one by one.
        ref: The argument that names the recording in a command; by default its id.

    Raises:
        CorruptRecording: The recording has values that no session can have.
    """
    recording = facts.recording
    budget = Budget(LETTERS, f"`reenact show {ref or recording.id}`")
    footage = sessions[number - 1] if sessions else None
    entries = sorted(footage.entries(), key=lambda entry: entry.t) if footage is not None else []
    screen = follow(entries, viewport_of(footage))
    steps = rows(facts, _marks(entries, sessions, footage), budget)
    start = footage.head.t if footage is not None else min((row["t"] for row in steps), default=0.0)
    shown = chosen(screen.scenes, _moments(steps)) if video is None else []
    strip = thumbnails(steps, screen.scenes)
    pictures = {
        picture: place for place, picture in enumerate(dict.fromkeys(picture for _, picture in shown))
    }
    data: dict[str, Any] = {
        "steps": steps,
        "places": screen.places,
        **_activity(entries, footage, budget),
    }
    kept, pages = moments_of(entries)
    data["moments"] = [{"t": t, "tab": tab, "page": page} for t, tab, page in kept]
    scenes = [(_painted(t, start), pictures[picture]) for t, picture in shown]
    data["duration"] = _shift(data, start, entries)
    data["reads"] = [(_painted(t, start), place) for t, place in data["reads"]]
    view = _checked(
        **data,
        recording=recording.id,
        name=recording.agent,
        status=recording.status,
        started=recording.started,
        session=number,
        sessions=len(sessions),
        begin=start,
        viewport=viewport_of(footage),
        browser=str((footage.head["browser"] if footage is not None else None) or ""),
        over=recording.status != "unsealed" or bool(_of(entries, ("end",))),
        notes=tuple(recording.notes),
        scenes=tuple(t for t, _ in scenes),
        missing=0 if video is not None else len(screen.scenes) - len(shown),
    )
    count, shown_once = len(facts.steps), tuple(pictures)
    return WatchContent(
        view, count, footage, scenes, shown_once, video, moments=tuple(pages), thumbnails=strip
    )


def _activity(
    entries: Sequence[FootageEntry], footage: Footage | None, budget: Budget
) -> dict[str, list[Any]]:
    """Return the rows of the console and the network, the trees, and the times to read them."""
    console = activity.lines(_of(entries, activity.TOLD), budget)
    if footage is None:
        return {"console": console, "network": [], "reads": [], "trees": []}
    network = activity.network(_of(entries, activity.NETWORK), footage, budget)
    reads, trees = activity.trees(_of(entries, ("tree",)), footage, budget)
    return {"console": console, "network": network, "reads": reads, "trees": trees}


def _checked(**fields: Any) -> Film:
    """Return a film of these fields. Raises CorruptRecording for values that do not fit."""
    try:
        return Film(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        where = f"{fields['recording']}, session {fields['session']}"
        raise CorruptRecording(f"{where}: {place}: {first['msg']}") from None


def images_of(facts: RecordingFacts, view: Film) -> list[tuple[int, int, bytes]]:
    """Return the pictures in a film's messages, up to a limit: step, place, and bytes."""
    found: list[tuple[int, int, bytes]] = []
    room = PICTURES
    for row in view.steps:
        wanted = {place for said in row.said or () for place in said.pictures}
        held = pictures(facts, facts.steps[row.n - 1]) if wanted and row.n is not None else []
        for place in sorted(wanted):
            if row.n is not None and len(held[place].data) <= room:
                room -= len(held[place].data)
                found.append((row.n, place, held[place].data))
    return found


def _moments(steps: Sequence[Mapping[str, Any]]) -> list[float]:
    return [row[name] for row in steps for name in _TIMES if row.get(name) is not None]


def viewport_of(footage: Footage | None) -> tuple[float, float]:
    """Return the page's size at the session's start, in CSS pixels."""
    known = size_of(footage.head["viewport"]) if footage is not None else (0, 0)
    return known if known[0] else _USUAL


def _of(entries: Sequence[FootageEntry], kinds: Sequence[str]) -> list[FootageEntry]:
    return [entry for entry in entries if entry.event in kinds]


def _marks(
    entries: Sequence[FootageEntry], sessions: Sequence[Footage], footage: Footage | None
) -> ActionMarks:
    marks = ActionMarks()
    marks.take(_of(entries, ("before", "after")))
    for other in sessions:
        if other is not footage:
            marks.others |= {entry["call"] for entry in other.entries("before", "after")}
    marks.others -= {*marks.before, *marks.after}
    return marks


def _shift(data: dict[str, Any], start: float, entries: Sequence[FootageEntry]) -> float:
    """Count all times from the session's beginning; return its length in seconds."""
    last = entries[-1].t if entries else start
    for name in ("steps", "places", "console", "network", "moments"):
        for row in data[name]:
            last = max(last, *(row[key] for key in _TIMES if row.get(key) is not None))
            _since(row, start)
    return round(max(last - start, 0.1), 3)


def _since(row: Mapping[str, Any], start: float) -> None:
    assert isinstance(row, dict)
    for key in _TIMES:
        if row.get(key) is not None:
            row[key] = _moment(row[key], start)


def _moment(t: float, start: float) -> float:
    return math.floor(max(t - start, 0.0) * 1000 + _ERROR) / 1000


def _painted(t: float, start: float) -> float:
    # Round up: a picture painted just after an action's start must not be shown at that start.
    return math.ceil(max(t - start, 0.0) * 1000 - _ERROR) / 1000
