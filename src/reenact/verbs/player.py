"""Make the player of a recording's browser session, for a page about the recording."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path

from reenact.analysis.pages.html import PlayerPage
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import argument_of
from reenact.errors import MissingExtra, RecordingError
from reenact.verbs.interface import Context
from reenact.verbs.video import folder_of

FILM = 60_000_000
"""Bytes of a film that still fit into the page; of a longer one the pictures are left out."""


def player_of(
    refs: Sequence[str], recording: RecordedRun, context: Context, *, frames: bool = False
) -> PlayerPage | None:
    """Return the page that plays the first browser session, or None without one.

    Args:
        refs: The recording, and perhaps another one beside it.
        recording: The recording.
        context: The home, the progress, and the reader of a note on a film that is left out.
        frames: Play the pictures themselves: a larger page in a fifth of the time.
    """
    if not any(step.call.kind == "browser" for step in recording):
        return None
    # The browser's code is loaded only for a recording that has a session.
    watch, player = import_module("reenact.browser.watch"), import_module("reenact.browser.watch.html")
    with ExitStack() as stack:
        folders = [stack.enter_context(folder_of(context.store, each)) for each in refs]
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reenact-"))) / "film.html"
        pair = folders[1] if len(folders) > 1 else None
        try:
            watch.write(
                folders[0], place, beside=pair, frames=frames, progress=partial(context.progress, "drawing")
            )
        except (RecordingError, MissingExtra) as error:
            context.say(f"without its film: {error}")
            return None
        if place.with_suffix(".mp4").exists() or place.stat().st_size > FILM:
            named = argument_of(recording)
            context.say(
                f"without its film, which is larger than {FILM:,} bytes: `reenact watch {named}` plays it"
            )
            return None
        markup = place.read_text(encoding="utf-8")
        moments = 'id="moments-' in markup
        style, script = player.sources(moments=moments)
        return PlayerPage(markup, style, script, moments)
