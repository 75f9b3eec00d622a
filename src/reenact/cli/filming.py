"""`reenact video`: a browser session as a video."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from reenact.browser.camera import footage
from reenact.browser.video import Video, render
from reenact.browser.video.pace import Kind
from reenact.cli import present
from reenact.cli.options import Home, Ref
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.open import Reaching


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(video)


def video(
    ref: Ref,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="NAME.mp4, or NAME.html for a page that plays by itself; by default ID.mp4 here.",
            show_default=False,
        ),
    ] = None,
    pace: Annotated[
        Kind,
        typer.Option(help="real: true to time; compact: idle time squeezed, a halt before each action."),
    ] = "real",
    session: Annotated[
        int | None,
        typer.Option(min=1, help="Which of its browser sessions, where it has several.", show_default=False),
    ] = None,
    mask: Annotated[
        bool, typer.Option("--mask/--no-mask", help="Cover passwords, card numbers and one-time codes.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    home: Home = None,
) -> None:
    """Make a video of a browser session: each step named below the page, its element marked.

    It is drawn from the recording, at any time: while the session goes on, after a crash, and again with other
    options. Captions (.vtt) and the map of its time (.json) go beside it.

    [bold]reenact video last -o failure.mp4 --pace compact[/bold]
    """
    with folder_of(Reaching(home), ref) as folder:
        target = output or Path(f"{folder.name}.mp4")
        for path in {target, *(target.with_suffix(suffix) for suffix in (".vtt", ".json"))}:
            if path.exists() and not force:
                raise UsageError(f"{path} exists; --force replaces it")
        there = len(footage.sessions(folder))
        if there > 1 and session is None:
            present.say(
                f"reenact: {folder.name} has {there} browser sessions; this is the first (--session 2 …)"
            )
        made = _render(folder, target, session or 1, pace, mask=mask)
    _tell(made, target)


def _render(folder: Path, target: Path, session: int, pace: Kind, *, mask: bool) -> Video:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    console = present.err()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("drawing", total=None)

        def told(done: int, all: int) -> None:
            progress.update(task, completed=done, total=all)

        return render(folder, target, session=session, pace=pace, mask=mask, progress=told)


def _tell(video: Video, target: Path) -> None:
    size = present.size(video.path.stat().st_size)
    steps = sum(chapter.call is not None for chapter in video.chapters)
    length = present.seconds(video.duration_ms / 1000)
    present.say(f"wrote {video.path} ({size}, {length}, {present.many(steps, 'step')})")
    if video.path.suffix != target.suffix:
        present.say(
            "reenact: nothing here encodes H.264, so it is a page that plays by itself; for MP4: pip install av, or "
            "put ffmpeg on PATH"
        )
    if video.lost:
        present.say(f"reenact: {present.many(video.lost, 'picture')} of the session could not be read")


@contextmanager
def folder_of(store: LocalStore, ref: str) -> Iterator[Path]:
    """The recording's folder; of an exported file, one that it is unpacked into."""
    source = store.find(ref)
    if source.is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="reenact-") as name:
        unpacked = LocalStore(name)
        yield unpacked.folder(bundle.bring(unpacked, source))
