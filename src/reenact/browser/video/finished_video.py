"""A finished video: its files, and the map between its time and the session's."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from reenact.browser.video.captions import Chapter
from reenact.browser.video.pace import between
from reenact.core import private


@dataclass(frozen=True, slots=True)
class Video:
    """A session's video.

    Attributes:
        path: The file: MP4, or a page (`.html`) without an encoder.
        captions: The file of its captions, WebVTT.
        session: The session's id.
        begin: The session's start, in seconds since the recording began.
        start_ms: The moment of the session at which the video begins, in milliseconds since the session began.
        duration_ms: Its duration.
        size: Width and height in pixels, the bar below the page included.
        segments: Pairs of a moment of the video and the moment of the session that it shows, both in milliseconds;
            between two pairs time is interpolated linearly.
        chapters: One for each action.
        lost: The number of pictures of the session that could not be read.
    """

    path: Path
    captions: Path
    session: str
    begin: float
    start_ms: int
    duration_ms: int
    size: tuple[int, int]
    segments: tuple[tuple[int, int], ...]
    chapters: tuple[Chapter, ...]
    lost: int

    def session_ms(self, video_ms: float) -> float:
        """Return the moment of the session shown at a moment of the video, in milliseconds."""
        return _mapped(self.segments, video_ms, 0)

    def video_ms(self, session_ms: float) -> float:
        """Return the moment of the video that shows a moment of the session, in milliseconds."""
        return _mapped(self.segments, session_ms, 1)

    def at(self, t: float) -> float:
        """Return the moment of the video, in milliseconds, that shows a moment of the recording.

        `t` is in seconds since the recording began.
        """
        return self.video_ms((t - self.begin) * 1000)

    @property
    def manifest(self) -> Path:
        """Path of the manifest file, beside the video."""
        return self.path.with_suffix(".json")

    def keep(self) -> None:
        """Write the manifest."""
        data = asdict(self) | {"format": 1, "path": self.path.name, "captions": self.captions.name}
        private.write(self.manifest, orjson.dumps(data, option=orjson.OPT_INDENT_2))


def known(path: Path) -> Video | None:
    """Return the video at a path, from its manifest; None if a file is missing or damaged."""
    try:
        data: dict[str, Any] = orjson.loads(path.with_suffix(".json").read_bytes())
        video = Video(
            path,
            path.with_name(data["captions"]),
            data["session"],
            data["begin"],
            data["start_ms"],
            data["duration_ms"],
            (data["size"][0], data["size"][1]),
            tuple((one, other) for one, other in data["segments"]),
            tuple(Chapter(**one) for one in data["chapters"]),
            data["lost"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return video if path.is_file() and video.captions.is_file() else None


def _mapped(knots: tuple[tuple[int, int], ...], at: float, source: int) -> float:
    return between(knots, bisect_left(knots, at, key=lambda knot: knot[source]), at, source=source)
