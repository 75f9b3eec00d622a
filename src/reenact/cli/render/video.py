"""The output of `reenact video`."""

from __future__ import annotations

from reenact.cli import present
from reenact.cli.context import Context
from reenact.verbs.video import Options, Result


def show(result: Result, options: Options, context: Context) -> None:
    """Report the written video on standard error."""
    video = result.video
    if result.unchosen:
        present.say(
            f"reenact: {result.id} has {result.unchosen} browser sessions; this is the first (--session 2 …)"
        )
    size = present.size(video.path.stat().st_size)
    steps = sum(chapter.call is not None for chapter in video.chapters)
    length = present.seconds(video.duration_ms / 1000)
    present.say(f"wrote {video.path} ({size}, {length}, {present.many(steps, 'step')})")
    if video.path.suffix != result.target.suffix:
        present.say(
            "reenact: nothing here encodes H.264, so it is a page that plays by itself; for MP4: pip install av, or "
            "put ffmpeg on PATH"
        )
    if video.lost:
        present.say(f"reenact: {present.many(video.lost, 'picture')} of the session could not be read")
