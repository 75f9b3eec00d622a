"""A page to watch a browser session with: screen, steps, messages, network, console and trees, moving together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reenact.analyze.diff import compare
from reenact.browser.footage import sessions
from reenact.browser.watch import page
from reenact.browser.watch.film import Film, Moving, film
from reenact.browser.watch.pairs import pairs
from reenact.errors import UsageError
from reenact.model.facts import RecordingFacts
from reenact.store import local

__all__ = ["Moving", "Source", "write"]


@dataclass(frozen=True, slots=True)
class Source:
    """What to watch.

    Attributes:
        folder: The recording's folder.
        session: Which of its sessions, from 1.
        video: A video of it; without one its pictures are played one by one.
    """

    folder: Path
    session: int = 1
    video: Moving | None = None


def write(
    source: Source | Path,
    target: Path,
    *,
    beside: Source | Path | None = None,
    pace: str = "real",
    mask: bool = True,
) -> Path:
    """Write a page that plays a session, alone or beside another one. It needs nothing else, and fetches nothing.

    It can be written at any time: of a session that still goes on, or whose program was killed, it shows what there is.

    Args:
        source: The recording's folder, or which session of it and with which video.
        target: The file to write.
        beside: A second one, to compare it with.
        pace: `real`, or `compact`: stretches in which nothing happens are passed over from the start.
        mask: Cover what holds secrets.

    Returns:
        The file.

    Raises:
        RecordingError: There is no such recording.
        UsageError: It has neither a session of that number nor an action of a browser.
    """
    if pace not in ("real", "compact"):
        raise UsageError(f"pace={pace!r}: it is 'real' or 'compact'")
    sources = [Source(each) if isinstance(each, Path) else each for each in (source, beside) if each is not None]
    recordings = [local.load(each.folder) for each in sources]
    films = [_film(RecordingFacts(found), each) for found, each in zip(recordings, sources, strict=True)]
    together = pairs(compare(*recordings), [each.rows for each in films]) if beside is not None else None
    page.write(target, films, together, mask=mask, compact=pace == "compact")
    return target


def _film(facts: RecordingFacts, source: Source) -> Film:
    found = sessions(source.folder) if source.folder.is_dir() else []
    acted = any(step.call.kind == "browser" for step in facts)
    if found and not 1 <= source.session <= len(found):
        raise UsageError(
            f"recording {facts.recording.id} has no session {source.session}: they go from 1 to {len(found)}"
        )
    if not found and not acted:
        raise UsageError(
            f"recording {facts.recording.id} has no browser session to watch; "
            f"`reenact show {facts.recording.id}` shows what it holds"
        )
    return film(facts, found, source.session, source.video)
