"""The output of `reenact diff`."""

from __future__ import annotations

from pathlib import Path

from reenact.analysis.diff import Diff
from reenact.analysis.pages.html import page_html
from reenact.analysis.views.text import many
from reenact.cli import present
from reenact.cli.comparing import page, terminal
from reenact.cli.context import TerminalContext
from reenact.cli.framing import paged
from reenact.cli.printing import say
from reenact.cli.render.files import tell_files
from reenact.cli.transcript import TextPage
from reenact.core import private
from reenact.errors import UsageError
from reenact.verbs.diff import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the comparison, or write it as a page.

    Raises UsageError for runs that share nothing.
    """
    found, whole = result.found, options.all
    if result.files is not None:
        if not context.json:
            tell_files(TextPage(present.out(), full=whole), result.files)
            if not result.files:
                say("the same files")
        return
    if not (context.json or whole):
        _refuse_strangers(found)
    if options.html is not None:
        _write(options.html, page_html(page.page(found, whole=whole)))
    elif not context.json:
        console = present.out()
        with paged(console):
            terminal.tell(terminal.ComparisonOutput(found, console, whole=whole))


def _refuse_strangers(found: Diff) -> None:
    if not found.shared:
        raise UsageError(
            f"{found.a.id} and {found.b.id} share nothing: none of the {many(found.a.steps, 'step')} of the "
            f"one resembles any of the {found.b.steps} of the other; are they runs of one agent? "
            f"`reenact list` shows which are, and --all compares these all the same"
        )


def _write(file: Path, text: str) -> None:
    if file.is_dir():
        raise UsageError(f"--html {file}: that is a folder; name a file, such as {file / 'diff.html'}")
    if not file.parent.is_dir():
        raise UsageError(f"--html {file}: there is no folder {file.parent}")
    private.write(file, text)
    say(f"written to {file}")
