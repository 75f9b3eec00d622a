"""Make a session's video from its recording, at any time and with any options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from reenact.browser.camera import footage as footages
from reenact.browser.camera.footage import Footage
from reenact.browser.video import cache, captions, encode, facts, pace, page_encoder
from reenact.browser.video.finished_video import Video, known
from reenact.browser.video.timeline import VideoTimeline
from reenact.core import boundary, private
from reenact.core.store import local
from reenact.core.store.base import Progress
from reenact.errors import MissingExtra, RecordingError, ReenactError, UsageError

if TYPE_CHECKING:
    from reenact.browser.video.encode import VideoEncoder

VERSION = 5
"""Version of the rendering; kept videos of another version are made again."""

Means = Literal["pyav", "ffmpeg", "page"]


def render(
    source: Path | Footage,
    target: Path | None = None,
    *,
    session: int = 1,
    pace: pace.Kind = "real",
    mask: bool = True,
    means: Means | None = None,
    progress: Progress | None = None,
) -> Video:
    """Make a session's video, or return the kept one.

    The session may be running or have been cut off: the video shows its recorded part.

    Args:
        source: A recording's folder, or one session of it.
        target: The file, `NAME.mp4` or `NAME.html`; without it, the video is kept in the recording's folder. Captions
            (`NAME.vtt`) and the map of its time (`NAME.json`) are written beside it.
        session: The number of the folder's session, from 1.
        pace: `real` keeps all time; `compact` shortens idle time, and stands still before each action.
        mask: True to cover secrets.
        means: `pyav`, `ffmpeg` or `page`; by default the first available one.
        progress: Called with the progress.

    Raises:
        RecordingError: There is no such session, or its file cannot be read.
        UsageError: An unknown option, or a target of another kind.
    """
    footage = source if isinstance(source, Footage) else one_of(source, session)
    chosen = _means(means, target, pace)
    # Rendering is no effect of a recorded program that calls it.
    with boundary.entered(None):
        place = _place(footage, chosen, pace, mask=mask)
        video = known(place)
        if video is None:
            video = _make(footage, place, chosen, pace, mask=mask, progress=progress)
            cache.forget(place)
        return video if target is None else cache.copied(video, target)


def kept(footage: Footage, pace: pace.Kind = "real") -> Video | None:
    """Return the kept video of a session's current state, or None."""
    with boundary.entered(None):
        return known(_place(footage, means(), pace, mask=True))


def _place(footage: Footage, means: Means, kind: pace.Kind, *, mask: bool) -> Path:
    suffix = ".html" if means == "page" else ".mp4"
    label = kind if mask else f"{kind}-bare"
    return cache.place(footage, f"{VERSION} {means} {kind} {mask}", label, suffix)


def one_of(folder: Path, number: int) -> Footage:
    """Return one session of a recording, from 1.

    Raises RecordingError if there is none of that number.
    """
    found = footages.sessions(folder)
    if not found:
        raise RecordingError(f"{folder.name} has no browser session, and so no video")
    if not 1 <= number <= len(found):
        there = "one browser session" if len(found) == 1 else f"{len(found)} browser sessions"
        raise RecordingError(f"{folder.name} has {there}: there is no session {number}")
    return found[number - 1]


def means() -> Means:
    """Return the best available way to make a video here."""
    return "pyav" if encode.pyav() else "ffmpeg" if encode.ffmpeg() else "page"


def _means(asked: Means | None, target: Path | None, kind: str) -> Means:
    if kind not in pace.KINDS:
        raise UsageError(f"pace {kind!r}: it is {' or '.join(pace.KINDS)}")
    if asked is not None and asked not in get_args(Means):
        raise UsageError(f"means {asked!r}: one of {', '.join(get_args(Means))}")
    if find_spec("PIL") is None:
        raise MissingExtra("a video", "browser")
    if target is None:
        return asked or means()
    if target.suffix not in {".mp4", ".html"}:
        raise UsageError(f"{target}: a video is NAME.mp4, or NAME.html for a page that plays by itself")
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is no folder; make it first")
    return "page" if target.suffix == ".html" else asked or means()


def _make(
    footage: Footage, place: Path, means: Means, kind: pace.Kind, *, mask: bool, progress: Progress | None
) -> Video:
    # Imported here because Pillow is optional and slow to import.
    from reenact.browser.video.draw import Layout, Painter  # noqa: PLC0415

    read = facts.read(footage, kind, mask=mask, numbers=_numbers(footage))
    timeline = VideoTimeline(footage, read, smooth=means != "page")
    layout = Layout.of(read.size)
    painter = Painter(layout, footage.blob, mask=mask)
    video = _described(footage, place, read, timeline, (layout.width, layout.height))
    try:
        private.folder(place.parent)
        part = cache.unfinished(place)
        try:
            with _encoder(means, part, video) as encoder:
                for shot in timeline.shots():
                    encoder.add(shot.ms, painter.draw(shot))
                    if progress is not None:
                        progress(shot.ms, timeline.duration)
                encoder.close(timeline.duration)
            private.write(video.captions, captions.webvtt(timeline.marks, timeline.duration))
            part.replace(place)
        finally:
            part.unlink(missing_ok=True)
        video = replace(video, lost=len(painter.lost))
        video.keep()
    except OSError as error:
        raise RecordingError(f"the video cannot be written: {place}: {error.strerror or error}") from None
    return video


def _numbers(footage: Footage) -> dict[object, int]:
    """Return the recording's step numbers by effect number; empty without events."""
    try:
        steps = local.load(footage.path.parent).steps
        return {step.call.number: step.number for step in steps if step.call.kind == "browser"}
    except (ReenactError, OSError):
        return {}


def _described(
    footage: Footage, place: Path, read: facts.SessionFacts, timeline: VideoTimeline, size: tuple[int, int]
) -> Video:
    return Video(
        path=place,
        captions=cache.beside(place)[0],
        session=footage.id,
        begin=read.begin,
        start_ms=round((read.start - read.begin) * 1000),
        duration_ms=timeline.duration,
        size=size,
        segments=tuple(
            (round(one * 1000), round((other - read.begin) * 1000)) for one, other in read.pace.knots
        ),
        chapters=tuple(captions.chapters(timeline.marks, timeline.duration)),
        lost=0,
    )


@contextmanager
def _encoder(means: Means, path: Path, video: Video) -> Iterator[VideoEncoder]:
    """Open the encoder of the file; abandon it if the body fails."""
    title = f"Browser session {video.session}"
    encoder: VideoEncoder
    if means == "pyav":
        encoder = encode.PyAvEncoder(path, video.size, title, video.chapters)
    elif means == "ffmpeg":
        encoder = encode.FfmpegEncoder(path, video.size, title, video.chapters)
    else:
        encoder = page_encoder.PageEncoder(path, title, video.chapters)
    try:
        yield encoder
    except BaseException:
        encoder.abandon()
        raise
