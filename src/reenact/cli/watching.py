"""`reenact watch`: a browser session as a page to play."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from reenact.browser.watch import Source, write
from reenact.cli import present
from reenact.cli.options import Home, Ref, ids
from reenact.errors import UsageError
from reenact.store.local import LocalStore

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(watch)


def watch(
    ref: Ref,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="A second run, beside the first.", autocompletion=ids, show_default=False
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the page to this file, and do not open it.", show_default=False
        ),
    ] = None,
    session: Annotated[int, typer.Option(min=1, help="Which browser session, where a run had several.")] = 1,
    pace: Annotated[
        str, typer.Option(help="real, or compact: pass over what is idle.")
    ] = "real",
    frames: Annotated[
        bool, typer.Option("--frames", help="Play the pictures themselves, not a video of them.")
    ] = False,
    mask: Annotated[bool, typer.Option("--mask/--no-mask", help="Cover what holds secrets.")] = True,
    home: Home = None,
) -> None:
    """Watch a browser session: screen, steps, model messages, network, console and accessibility tree together.

    One page that needs nothing else, to open in any browser, to send, or to keep. Two runs stand side by side, with the
    first place marked where they part. A session that still goes on, or was killed, is shown as far as it came.

    [bold]reenact watch last[/bold]
    [bold]reenact watch GOOD BAD -o parting.html[/bold]
    """
    store = LocalStore(home)
    folders = [_folder(store, each) for each in (ref, other) if each is not None]
    target = _target(output, folders, session)
    sources = [Source(folder, session) for folder in folders]
    beside = sources[1] if other is not None else None
    write(sources[0], target, beside=beside, pace=pace, mask=mask)
    sys.stdout.write(f"{target}\n")
    if output is None and _opened(target):
        present.say(f"opened in your browser ({present.size(target.stat().st_size)})")


def _folder(store: LocalStore, ref: str) -> Path:
    path = store.find(ref)
    if path.is_file():
        raise UsageError(f"{path} is one file; `reenact import {path}` first, then watch it by its id")
    return path


def _target(output: Path | None, folders: list[Path], session: int) -> Path:
    if output is None:
        folder = folders[0] / "pages"
        if not os.access(folders[0], os.W_OK):
            folder = Path(tempfile.mkdtemp(prefix="reenact-"))
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"watch-{session}{''.join(f'-beside-{other.name}' for other in folders[1:])}.html"
    if output.is_dir():
        raise UsageError(f"-o {output}: that is a folder; name a file, such as {output / 'replay.html'}")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}")
    return output


def _opened(page: Path) -> bool:
    """Open the page where there is a screen to show it."""
    seen = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _SCREENS)
    return seen and webbrowser.open(page.as_uri())
