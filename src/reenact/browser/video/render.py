"""A session's video, made from what it left behind: at any time, again with other options, and once for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from reenact.browser.camera import footage as footages
from reenact.browser.camera.footage import Footage
from reenact.browser.video import captions, encode, keeping, pace, pages, story
from reenact.browser.video.made import Video, known
from reenact.browser.video.timeline import Timeline
from reenact.core import boundary, private
from reenact.core.store import local
from reenact.errors import RecordingError, ReenactError, UsageError

if TYPE_CHECKING:
    from reenact.browser.video.encode import Encoder

VERSION = 1
"""Raised when a session's video would look different: those that were kept are made anew."""

Means = Literal["pyav", "ffmpeg", "page"]

Progress = Callable[[int, int], None]
"""Told of the milliseconds that are drawn, and of how many there are."""


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
    """Make a session's video, or find it where it was made before.

    The session may still go on, or have broken off: what is there is shown.

    Args:
        source: A recording's folder, or one session of it.
        target: The file, `NAME.mp4` or `NAME.html`; without, it is kept in the recording's folder. Captions
            (`NAME.vtt`) and the map of its time (`NAME.json`) go beside it.
        session: Which of a folder's sessions, from 1.
        pace: `real` is true to time; `compact` squeezes what is idle, and stands still before each action.
        mask: Whether what is secret is covered.
        means: `pyav`, `ffmpeg` or `page`; by default the first of them that is there.
        progress: Told how far it is.

    Raises:
        RecordingError: There is no such session, or its file cannot be read.
        UsageError: An option that is none, or a target of another kind.
    """
    footage = source if isinstance(source, Footage) else one_of(source, session)
    chosen = _means(means, target, pace)
    # Inside a recorded program this is none of its doing.
    with boundary.entered(None):
        place = _place(footage, chosen, pace, mask=mask)
        video = known(place)
        if video is None:
            video = _make(footage, place, chosen, pace, mask=mask, progress=progress)
            keeping.forget(place)
        return video if target is None else keeping.copied(video, target)


def kept(footage: Footage, pace: pace.Kind = "real", *, mask: bool = True) -> Video | None:
    """The video of a session as it is now, where it was made before; None where it is still to be made."""
    with boundary.entered(None):
        return known(_place(footage, means(), pace, mask=mask))


def _place(footage: Footage, means: Means, kind: pace.Kind, *, mask: bool) -> Path:
    suffix = ".html" if means == "page" else ".mp4"
    label = kind if mask else f"{kind}-bare"
    return keeping.place(footage, f"{VERSION} {means} {kind} {mask}", label, suffix)


def one_of(folder: Path, number: int) -> Footage:
    """One session of a recording, from 1. Raises RecordingError where there is none of that number."""
    found = footages.sessions(folder)
    if not found:
        raise RecordingError(f"{folder.name} has no browser session, and so no video")
    if not 1 <= number <= len(found):
        there = "one browser session" if len(found) == 1 else f"{len(found)} browser sessions"
        raise RecordingError(f"{folder.name} has {there}: there is no session {number}")
    return found[number - 1]


def means() -> Means:
    """What makes the videos here."""
    return "pyav" if encode.pyav() else "ffmpeg" if encode.ffmpeg() else "page"


def _means(asked: Means | None, target: Path | None, kind: str) -> Means:
    if kind not in pace.KINDS:
        raise UsageError(f"pace {kind!r}: it is {' or '.join(pace.KINDS)}")
    if asked is not None and asked not in get_args(Means):
        raise UsageError(f"means {asked!r}: one of {', '.join(get_args(Means))}")
    if find_spec("PIL") is None:
        raise UsageError("a video is drawn by Pillow: pip install 'reenact[browser]'")
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
    # Pillow is optional, and takes a moment to import.
    from reenact.browser.video.draw import Layout, Painter  # noqa: PLC0415

    read = story.read(footage, kind, mask=mask, numbers=_numbers(footage))
    timeline = Timeline(footage, read, smooth=means != "page")
    layout = Layout.of(read.size)
    painter = Painter(layout, footage.blob, mask=mask)
    video = _described(footage, place, read, timeline, (layout.width, layout.height))
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = keeping.unfinished(place)
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
    """The recording's number of each step, by the number of its effect; nothing where there are no events to read."""
    try:
        return {step.call.number: step.number for step in local.load(footage.path.parent)}
    except (ReenactError, OSError):
        return {}


def _described(
    footage: Footage, place: Path, read: story.Story, timeline: Timeline, size: tuple[int, int]
) -> Video:
    return Video(
        path=place,
        captions=keeping.beside(place)[0],
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
def _encoder(means: Means, path: Path, video: Video) -> Iterator[Encoder]:
    """What writes the file; where the body fails, it gives up."""
    title = f"Browser session {video.session}"
    encoder: Encoder
    if means == "pyav":
        encoder = encode.ByPyAV(path, video.size, title, video.chapters)
    elif means == "ffmpeg":
        encoder = encode.ByFfmpeg(path, video.size, title, video.chapters)
    else:
        encoder = pages.ByPage(path, title, video.chapters)
    try:
        yield encoder
    except BaseException:
        encoder.abandon()
        raise
