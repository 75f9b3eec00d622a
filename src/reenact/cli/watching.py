"""`reenact watch`: a browser session as a page to play."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from reenact.browser.session.file_server import shelf
from reenact.browser.video.pace import Kind
from reenact.browser.watch import write
from reenact.cli import present
from reenact.cli.opening import opened
from reenact.cli.options import Home, Ref, ids
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.open import Reaching
from reenact.verbs.video import folder_of

_SERVED = 8 * 3600.0


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
    session: Annotated[
        int, typer.Option(min=1, help="The number of the browser session, if a run had several.")
    ] = 1,
    pace: Annotated[
        Kind,
        typer.Option(help="real: true to time; compact: stretches in which nothing happens are squeezed."),
    ] = "real",
    frames: Annotated[
        bool, typer.Option("--frames", help="Play the pictures themselves, not a video of them.")
    ] = False,
    mask: Annotated[bool, typer.Option("--mask/--no-mask", help="Cover what holds secrets.")] = True,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            help="Of two runs, what need not be the same: args.value. May be given several times.",
            show_default=False,
        ),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it on this machine at a signed address, until Ctrl-C.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    home: Home = None,
) -> None:
    """Watch a browser session: screen, steps, messages, network, console and accessibility tree.

    One page that needs nothing else, to open in any browser, to send, or to keep. Two runs stand side by side, with the
    first difference marked. A session that still goes on, or was killed, is shown as far as it came.

    [bold]reenact watch last[/bold]
    [bold]reenact watch GOOD BAD -o parting.html[/bold]
    """
    store = Reaching(home)
    with ExitStack() as stack:
        folders = [stack.enter_context(folder_of(store, each)) for each in (ref, other) if each is not None]
        target = _written(output, force=force) if output is not None else _kept(store, folders, session)
        progress = stack.enter_context(present.progress("video"))
        write(
            folders[0], target, beside=folders[1] if other is not None else None, session=session, frames=frames,
            pace=pace, mask=mask, ignore=ignore or (), progress=progress,
        )  # fmt: skip
    size = present.size(target.stat().st_size)
    if serve:
        _serve(target, store.root)
        return
    sys.stdout.write(f"{target}\n")
    shown = output is None and opened(target.as_uri())
    present.say(f"{size}, opened in your browser" if shown else f"{size}, to open in any browser")


def _serve(page: Path, home: Path) -> None:
    """Serve the page until Ctrl-C, at a signed address of this machine."""
    if page.with_suffix(".mp4").exists():
        raise UsageError(f"its video of hours lies beside the page, and only the page is served: open {page}")
    url, expires = shelf(home).lend(f"pages/{page.name}", page, seconds=_SERVED)
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    present.say(f"good until {expires:%Y-%m-%d %H:%M} UTC and until Ctrl-C")
    threading.Event().wait(_SERVED)


def _written(output: Path, *, force: bool) -> Path:
    if output.is_dir():
        raise UsageError(f"-o {output}: that is a folder; name a file, such as {output / 'replay.html'}")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}")
    if output.exists() and not force:
        raise UsageError(f"{output} exists; --force replaces it")
    return output


def _kept(store: LocalStore, folders: list[Path], session: int) -> Path:
    """Return the path of a page without a given one: with its recording, or a temporary folder."""
    own = folders[0]
    ours = own.parent == store.recordings and os.access(own, os.W_OK)
    folder = own / "pages" if ours else Path(tempfile.mkdtemp(prefix="reenact-"))
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"watch-{session}{''.join(f'-beside-{other.name}' for other in folders[1:])}.html"
