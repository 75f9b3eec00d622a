"""`reenact watch`: a page that plays a browser session."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from reenact.analysis.views.text import size
from reenact.browser.session.file_server import shelf
from reenact.browser.video.pace import Kind
from reenact.browser.watch import write
from reenact.cli.opening import opened
from reenact.cli.printing import say
from reenact.cli.reference import reference
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.open import Reaching
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, Shown
from reenact.verbs.marks import RECORDING, Cli, Ref
from reenact.verbs.video import folder_of

_SERVED = 8 * 3600.0


class Options(interface.Options):
    """Watch a browser session: screen, steps, messages, network, console and accessibility tree.

    It makes one self-contained page for any browser. Two runs are shown side by side, with the first difference
    marked. An unfinished or killed session is shown up to its last event.

    [bold]reenact watch last[/bold]
    [bold]reenact watch GOOD BAD -o parting.html[/bold]
    """

    common: ClassVar = (marks.HOME,)

    ref: Ref
    other: Annotated[
        str | None,
        Field(description="A second run, beside the first."),
        Cli(argument=True, metavar="[ID]"),
        RECORDING,
    ] = None
    output: Annotated[
        Path | None,
        Field(description="Write the page to this file, and do not open it."),
        Cli(names=("--output", "-o")),
    ] = None
    session: Annotated[
        int, Field(ge=1, description="The number of the browser session, if the recording has several.")
    ] = 1
    pace: Annotated[
        Kind,
        Field(description="real: the recorded times; compact: idle time shortened."),
        marks.ANYONE,
    ] = "real"
    frames: Annotated[
        bool, Field(description="Show the single pictures, not a video of them."), marks.ANYONE
    ] = False
    mask: Annotated[bool, Field(description="Cover secret fields.")] = True
    ignore: Annotated[
        tuple[str, ...],
        Field(
            description="Of two runs, parts that are not compared: args.value. May be given several times."
        ),
        marks.ANYONE,
    ] = ()
    serve: Annotated[
        bool, Field(description="Serve the page on this machine at a signed address, until Ctrl-C.")
    ] = False
    force: Annotated[bool, Field(description="Replace an existing file."), marks.NEVER] = False


def run(options: Options, context: Context) -> Shown:
    """Write the page, and open or serve it. Raises RecordingError, UsageError."""
    store, output = Reaching(context.home), options.output
    with ExitStack() as stack:
        refs = [ref for ref in (options.ref, options.other) if ref is not None]
        folders = [stack.enter_context(folder_of(store, ref)) for ref in refs]
        force = options.force
        target = _written(output, force=force) if output else _kept(store, folders, options.session)
        write(
            folders[0],
            target,
            beside=folders[1] if options.other is not None else None,
            progress=partial(context.progress, "video"),
            session=options.session,
            frames=options.frames,
            pace=options.pace,
            mask=options.mask,
            ignore=options.ignore,
            refs=[
                reference(each.name, each, context.home, typed=ref)
                for each, ref in zip(folders, refs, strict=True)
            ],
        )
    room = size(target.stat().st_size)
    if options.serve:
        _serve(target, store.root)
        return Shown()
    sys.stdout.write(f"{target}\n")
    shown = output is None and opened(target.as_uri())
    say(f"{room}, opened in your browser" if shown else f"{room}, to open in any browser")
    return Shown()


def _serve(page: Path, home: Path) -> None:
    """Serve the page until Ctrl-C, at a signed address of this machine."""
    if page.with_suffix(".mp4").exists():
        raise UsageError(f"its video of hours lies beside the page, and only the page is served: open {page}")
    url, expires = shelf(home).lend(f"pages/{page.name}", page, seconds=_SERVED)
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    say(f"good until {expires:%Y-%m-%d %H:%M} UTC and until Ctrl-C")
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
    """Return the default path of a page: in its recording's folder, or a temporary one."""
    own = folders[0]
    ours = own.parent == store.recordings and os.access(own, os.W_OK)
    folder = own / "pages" if ours else Path(tempfile.mkdtemp(prefix="reenact-"))
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"watch-{session}{''.join(f'-beside-{other.name}' for other in folders[1:])}.html"
