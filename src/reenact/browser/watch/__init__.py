"""A page that plays a session: screen, steps, messages, network, console and trees in sync."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from reenact.analysis.diff import compare
from reenact.browser.camera.footage import Footage, sessions
from reenact.browser.video import Video, means, render
from reenact.browser.video.pace import KINDS, Kind
from reenact.browser.watch import html
from reenact.browser.watch.content import WatchContent, film, images_of
from reenact.browser.watch.pairs import pairs
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store import local
from reenact.core.store.base import Progress
from reenact.errors import UsageError

__all__ = ["write"]


def write(
    folder: Path,
    target: Path,
    *,
    beside: Path | None = None,
    session: int = 1,
    frames: bool = False,
    pace: Kind = "real",
    mask: bool = True,
    ignore: Sequence[str] = (),
    progress: Progress | None = None,
    refs: Sequence[str] = (),
) -> Path:
    """Write a self-contained page that plays a session, alone or beside another one.

    The session may be running or have been killed: the page shows its recorded part. The page fetches nothing.

    Args:
        folder: The recording's folder.
        target: The file to write.
        beside: Another recording's folder, to compare it with.
        session: The number of their session, from 1.
        frames: Play pictures instead of a video, as without a video encoder.
        pace: `real`, or `compact`: periods without changes are skipped.
        mask: Cover secrets.
        ignore: Parts left out of the comparison, by the rules of `reenact diff`.
        progress: Called with the drawn milliseconds of video and their total.
        refs: Arguments that name the recordings in a command; by default their ids.

    Returns:
        The file.

    Raises:
        RecordingError: There is no such recording.
        UsageError: It has neither a session of that number nor an action of a browser.
    """
    if pace not in KINDS:
        raise UsageError(f"pace {pace!r}: it is {' or '.join(KINDS)}")
    folders = [folder] if beside is None else [folder, beside]
    recordings = [local.load(each) for each in folders]
    films: list[WatchContent] = []
    for number, (each, recording) in enumerate(zip(folders, recordings, strict=True)):
        ref = refs[number] if refs else local.argument_of(recording)
        found = _sessions(recording, each, session, ref)
        video = None
        if not frames and found:
            video = _video(found[session - 1], pace, progress, mask=mask)
        facts = RecordingFacts(recording)
        content = film(facts, found, session, video, ref=ref)
        films.append(replace(content, images=images_of(facts, content.view)))
    together = None
    if beside is not None:
        together = pairs(compare(recordings[0], recordings[1], ignore), [each.view.steps for each in films])
    html.write(target, films, together, mask=mask, compact=pace == "compact")
    return target


def _sessions(recording: RecordedRun, folder: Path, number: int, ref: str) -> list[Footage]:
    found = sessions(folder)
    if found and not 1 <= number <= len(found):
        held = "one browser session" if len(found) == 1 else f"browser sessions 1 to {len(found)}"
        raise UsageError(f"{recording.id} has {held}: there is no session {number}")
    if not found and not any(step.call.kind == "browser" for step in recording):
        raise UsageError(
            f"recording {recording.id} has no browser session to watch; "
            f"`reenact show {ref}` shows what it holds"
        )
    return found


def _video(footage: Footage, pace: Kind, progress: Progress | None, *, mask: bool) -> Video | None:
    """Return the session as a video; None without an encoder or without pictures."""
    if (
        find_spec("PIL") is None
        or means() == "page"
        or not any(entry["blob"] for entry in footage.entries("frame", "anchor"))
    ):
        return None
    return render(footage, pace=pace, mask=mask, progress=progress)
