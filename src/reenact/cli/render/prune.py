"""The output of `reenact prune`."""

from __future__ import annotations

from reenact.cli import present
from reenact.cli.context import Context
from reenact.cli.render import rm
from reenact.verbs.prune import Options, Result
from reenact.verbs.rm import named


def show(result: Result, options: Options, context: Context) -> None:
    """Report the old and the deleted recordings on standard error."""
    if not result.chosen:
        present.say(f"nothing to delete among {present.many(result.among, 'recording')}")
    elif options.dry_run:
        for line in named(result.chosen, "would delete"):
            present.say(line)
    else:
        rm.show(result.done, options, context)
