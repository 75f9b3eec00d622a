"""Write a recording as one HTML file, or as the page in an exported recording."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reenact.analysis.diff import compare
from reenact.analysis.pages.blocks import Section, redacted
from reenact.analysis.pages.html import PlayerPage, page_html
from reenact.analysis.report import sections
from reenact.analysis.report.exported import conversation, files, timeline
from reenact.analysis.report.story import page
from reenact.core import private
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import LocalStore, argument_of
from reenact.core.trust.consent import standing_of
from reenact.errors import ReenactError, UsageError
from reenact.verbs.diagnose import anomalies
from reenact.verbs.interface import Context
from reenact.verbs.player import player_of
from reenact.verbs.report import redactor_of


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
    recording = context.store.load(ref)
    path = target or Path(f"{recording.id}.html")
    path = path / f"{recording.id}.html" if path.is_dir() else path
    if path.exists() and not force:
        raise UsageError(f"{path} exists; --force replaces it")
    player = player_of([ref, beside] if beside else [ref], recording, context)
    # This page cannot be imported: its commands name the recording itself.
    at_home = standing_of(recording, LocalStore(context.home).root).at_home
    foreign = "" if at_home else " --run-foreign"
    page = _page(recording, beside, player, context, (argument_of(recording), foreign))
    private.write(path, page.encode())
    return path


def packed(ref: str, context: Context, *, file: str = "", frames: bool = False) -> bytes:
    """Return the page for an exported recording, without the player: a viewer has it.

    Args:
        ref: The recording. For one that cannot be shown there is no page.
        context: The home and the progress.
        file: The name of the exported file, as its reader has it; ID.reenact by default.
        frames: Play the pictures themselves, not a video.
    """
    try:
        recording = context.store.load(ref)
        player = player_of([ref], recording, context, frames=frames)
        if player is not None:
            player = replace(
                player, markup=player.markup.replace(player.script, "").replace(player.style, "")
            )
        named = shlex.quote(file or f"{recording.id}.reenact")
        return _page(recording, None, player, context, (named, " --run-foreign")).encode()
    except ReenactError as error:
        context.say(f"without a page for the viewer: {error}")
        return b""


def _page(
    recording: RecordedRun,
    beside: str | None,
    player: PlayerPage | None,
    context: Context,
    named: tuple[str, str],
) -> str:
    ref, foreign = named
    other = context.store.load(beside) if beside is not None else None
    facts = RecordingFacts(recording)
    more = [section for section in _more(recording, other, context) if section.blocks]
    standing = standing_of(recording, LocalStore(context.home).root)
    whole = page(recording, more, _commands(ref + foreign), standing=standing)
    asked, came, *rest = whole.sections
    shown = (asked, came, conversation(facts, ref), timeline(facts), files(recording, ref), *rest)
    whole = type(whole)(
        recording.agent or f"recording {recording.id}",
        whole.lead,
        tuple(section for section in shown if section.blocks),
        kind="A recording",
    )
    return page_html(redacted(whole, redactor_of(recording)), None, player)


def _more(recording: RecordedRun, other: RecordedRun | None, context: Context) -> Iterator[Section]:
    if recording.steps:
        yield sections.anomalies(anomalies(recording, home=context.home))
    if other is not None and recording.steps and other.steps:
        yield sections.diff(compare(recording, other))


def _commands(ref: str) -> list[tuple[str, str]]:
    return [
        ("run it again", f"reenact replay {ref}"),
        ("run it under the debugger", f"reenact debug {ref}"),
    ]
