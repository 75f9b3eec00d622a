"""The output of `reenact list`."""

from __future__ import annotations

import sys
from importlib import import_module

from reenact.analysis.views.text import WIDE, many
from reenact.cli import recordings
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.core.query.summary import Summary
from reenact.core.store.base import Looked
from reenact.verbs.list import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the list as a table or a tree, and remarks on it to standard error."""
    found = result.listed
    lines = [hit.summary for hit in found.hits]
    if lines and not context.json:
        if options.tree:
            import_module("reenact.cli.forks").show(lines, result.origins)
        else:
            _print_table(result, lines)
    if options.why:
        say(_work(found.looked, result.searched))
    if not lines and not result.searched:
        say(f"no recordings in {result.place}; `reenact record -- python agent.py` makes one")
    elif not lines:
        hint = f"; {result.hint}" if result.hint else ""
        say(f"no recordings match ({result.searched} searched){hint}")
    elif found.matching is None:
        say(f"the newest {len(lines)}; --all shows the others")
    elif len(lines) < found.matching:
        say(f"{len(lines)} of {found.matching}; --all shows the others")


def _work(looked: Looked | None, total: int) -> str:
    """Describe the work of a search."""
    if looked is None:
        return "index: columns of recordings; no steps were looked into"
    steps = many(looked.steps, "step")
    return f"index: {looked.index}; looked into {looked.recordings} of {total} recordings, {steps}"


def _print_table(result: Result, lines: list[Summary]) -> None:
    found = result.listed
    steps = {hit.summary.id: hit.steps for hit in found.hits if result.wanted.about_steps}
    piped = recordings.in_a_pipe()
    # rich is imported only for a terminal.
    present = None if piped else import_module("reenact.cli.present")
    width = WIDE if present is None else present.out().width
    columns = recordings.columns(
        lines,
        list(found.ids),
        steps,
        width,
        book=result.book,
        proofs=result.proofs,
        parents=result.origins,
    )
    if present is None:
        sys.stdout.write(recordings.printed(columns))
    else:
        present.show(present.listed(columns, width))
