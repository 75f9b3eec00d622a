"""`reenact console`: the console for the user of this machine."""

from __future__ import annotations

from typing import Annotated, ClassVar
from urllib.parse import quote

from reenact.cli.hosting import alone
from reenact.server.hosting import PORT
from reenact.team.open import Reaching
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, Shown
from reenact.verbs.marks import RECORDING, Cli


class Options(interface.Options):
    """Open the console: find, read, watch, compare and debug recordings in the browser.

    It needs no setup and no key, and only this machine can reach it. Ctrl-C ends it.

    [bold]reenact console[/bold]
    [bold]reenact console last[/bold]
    """

    common: ClassVar = (marks.HOME,)

    ref: Annotated[
        str | None,
        Field(description="A recording to open."),
        Cli(argument=True, metavar="[ID]"),
        RECORDING,
    ] = None
    port: Annotated[
        int | None,
        Field(ge=0, le=65535, description=f"By default {PORT}, or where that is taken any free one."),
    ] = None
    show: Annotated[
        bool,
        Field(description="Open the browser, if there is a screen."),
        Cli(names=("--open/--no-open",)),
    ] = True


def run(options: Options, context: Context) -> Shown:
    """Serve the console until Ctrl-C. Raises UsageError."""
    store = Reaching(context.home)
    page = f"/r/{quote(store.kept(options.ref))}" if options.ref is not None else "/"
    alone(store, page, options.port, "the console is", show=options.show)
    return Shown()
