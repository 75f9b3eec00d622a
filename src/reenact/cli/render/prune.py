"""The output of `reenact prune`."""

from __future__ import annotations

from reenact.analysis.views.text import many
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.cli.render import rm
from reenact.verbs.prune import Options, Result
from reenact.verbs.rm import named


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the old and the deleted recordings, and left files, on standard error."""
    if result.scratch:
        word = "would delete" if options.dry_run else "deleted"
        say(f"{word} the files of {many(len(result.scratch), 'killed replay')}")
    if not result.chosen and result.among == 0 and result.scratch:
        return
    if not result.chosen:
        say(f"nothing to delete among {many(result.among, 'recording')}")
    elif options.dry_run:
        for line in named(result.chosen, "would delete"):
            say(line)
    else:
        rm.show(result.done, options, context)
