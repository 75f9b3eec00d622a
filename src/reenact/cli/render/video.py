"""The output of `reenact video`."""

from __future__ import annotations

from reenact.analysis.views.text import many, seconds, size
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.video import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the written video on standard error."""
    video = result.video
    if result.unchosen:
        say(f"reenact: {result.id} has {result.unchosen} browser sessions; this is the first (--session 2 …)")
    room = size(video.path.stat().st_size)
    steps = sum(chapter.call is not None for chapter in video.chapters)
    length = seconds(video.duration_ms / 1000)
    say(f"wrote {video.path} ({room}, {length}, {many(steps, 'step')})")
    if video.path.suffix != result.target.suffix:
        say(
            "reenact: nothing here encodes H.264, so it is a page that plays by itself; for MP4: pip install av, or "
            "put ffmpeg on PATH"
        )
    if video.lost:
        say(f"reenact: {many(video.lost, 'picture')} of the session could not be read")
