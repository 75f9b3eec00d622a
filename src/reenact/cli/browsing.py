"""`reenact browse`: all recordings on a terminal's whole screen."""

from __future__ import annotations

import io
import sys
from typing import ClassVar

from reenact.analysis.views.terminal import Terminal
from reenact.cli.render.show import told
from reenact.core.extras import needing
from reenact.core.query.filter import Filter
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.interface import Context, Shown
from reenact.verbs.marks import Filtered


class Options(interface.Options):
    """Browse the recordings in the terminal: search, open, replay and debug them.

    Enter opens, r replays, d debugs, e exports, / searches (docs/filters.md), s sorts by the next column, t shows
    forks below their parents, q quits.
    """

    common: ClassVar = (marks.HOME,)

    filter: Filtered = ()


def run(options: Options, context: Context) -> Shown:
    """Show the screen until the user leaves it. Raises UsageError without a terminal."""
    wanted = Filter(" ".join(options.filter)).text
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("browsing needs a terminal; `reenact list` prints the recordings")
    with needing("tui", "reenact browse"):
        from reenact.tui import browse as screen  # noqa: PLC0415 - a tenth of a second that no other command should pay

    store = LocalStore(context.home)
    screen.browse(store, lambda id, width: as_text(store, id, width), wanted)
    return Shown()


def as_text(store: LocalStore, ref: str, width: int) -> str:
    """Return a recording as `reenact show` prints it on a terminal of that width."""
    console = Terminal(
        file=io.StringIO(), force_terminal=True, color_system="truecolor", width=width, highlight=False
    )
    with console.capture() as capture:
        told(console, store, ref)
    return capture.get()
