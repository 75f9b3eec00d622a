"""Write a recording as one HTML file that needs no server."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from reenact.analysis.diff import compare
from reenact.analysis.pages.blocks import Section, redacted
from reenact.analysis.pages.html import PlayerPage, page_html
from reenact.analysis.report import sections
from reenact.analysis.report.exported import conversation, timeline
from reenact.analysis.report.story import page
from reenact.core import private
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recording import Recording
from reenact.core.store.local import LocalStore
from reenact.core.trust.consent import standing_of
from reenact.errors import MissingExtra, RecordingError, UsageError
from reenact.verbs.diagnose import anomalies
from reenact.verbs.interface import Context
from reenact.verbs.report import redactor_of
from reenact.verbs.video import folder_of

FILM = 60_000_000
"""Bytes of a film that still fit into the page; of a longer one the pictures are left out."""


def write(ref: str, target: Path | None, context: Context, *, beside: str | None, force: bool) -> Path:
    """Write the file; return its path.

    Args:
        ref: The recording.
        target: The file, or a folder for it; None: ID.html here.
        context: The home and the progress.
        beside: Another recording to compare it with.
        force: Replace an existing file.

    Raises:
        UsageError: A file is in the way.
        RecordingError: There is no such recording.
    """
    store = context.store
    recording = store.load(ref)
    other = store.load(beside) if beside is not None else None
    path = target or Path(f"{recording.id}.html")
    path = path / f"{recording.id}.html" if path.is_dir() else path
    if path.exists() and not force:
        raise UsageError(f"{path} exists; --force replaces it")
    facts = RecordingFacts(recording)
    more = [section for section in _more(recording, other, context) if section.blocks]
    standing = standing_of(recording, LocalStore(context.home).root)
    whole = page(recording, more, _commands(recording), standing=standing)
    asked, came, *rest = whole.sections
    shown = (asked, came, conversation(facts), timeline(facts), *rest)
    whole = type(whole)(
        recording.agent or f"recording {recording.id}",
        whole.lead,
        tuple(section for section in shown if section.blocks),
        kind="A recording",
    )
    player = _player(store, ref, beside, recording, context.say)
    private.write(path, page_html(redacted(whole, redactor_of(recording)), None, player).encode())
    return path


def _more(recording: Recording, other: Recording | None, context: Context) -> Iterator[Section]:
    if recording.steps:
        yield sections.anomalies(anomalies(recording, home=context.home))
    if other is not None and recording.steps and other.steps:
        yield sections.diff(compare(recording, other))


def _commands(recording: Recording) -> list[tuple[str, str]]:
    """Return the commands for the place of the recording; this page is no file to import."""
    return [
        ("run it again", f"reenact replay {recording.id}"),
        ("run it under the debugger", f"reenact debug {recording.id}"),
    ]


def _player(
    store: LocalStore, ref: str, beside: str | None, recording: Recording, say: Callable[[str], None]
) -> PlayerPage | None:
    """Return the page that plays the first browser session, or None without one."""
    if not any(step.call.kind == "browser" for step in recording):
        return None
    # The browser's code is loaded only for a recording that has a session.
    watch, player = import_module("reenact.browser.watch"), import_module("reenact.browser.watch.html")
    with ExitStack() as stack:
        folders = [stack.enter_context(folder_of(store, each)) for each in (ref, beside) if each is not None]
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reenact-"))) / "film.html"
        pair = folders[1] if len(folders) > 1 else None
        try:
            watch.write(folders[0], place, beside=pair)
        except (RecordingError, MissingExtra) as error:
            say(f"without its film: {error}")
            return None
        if place.with_suffix(".mp4").exists() or place.stat().st_size > FILM:
            say(
                f"without its film, which is larger than {FILM:,} bytes: reenact watch {recording.id} plays it"
            )
            return None
        markup = place.read_text(encoding="utf-8")
        moments = 'id="moments-' in markup
        style, script = player.sources(moments=moments)
        return PlayerPage(markup, style, script, moments)
