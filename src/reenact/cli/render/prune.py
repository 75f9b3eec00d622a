"""The output of `reenact prune`."""

from __future__ import annotations

from reenact.cli import present
from reenact.cli.context import Context
from reenact.cli.render import rm
from reenact.verbs.prune import Options, Result
from reenact.verbs.rm import named


def show(result: Result, options: Options, context: Context) -> None:
    """Report the old and the deleted recordings, and left files, on standard error."""
    if result.scratch:
        word = "would delete" if options.dry_run else "deleted"
        present.say(f"{word} the files of {present.many(len(result.scratch), 'killed replay')}")
    if not result.chosen and result.among == 0 and result.scratch:
        return
    if not result.chosen:
        present.say(f"nothing to delete among {present.many(result.among, 'recording')}")
    elif options.dry_run:
        for line in named(result.chosen, "would delete"):
            present.say(line)
    else:
        rm.show(result.done, options, context)
