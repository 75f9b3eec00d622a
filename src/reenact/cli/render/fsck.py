"""The output of `reenact fsck`."""

from __future__ import annotations

from reenact.analysis.views.text import many, one_line
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.fsck import Result


def show(result: Result, options: object, context: TerminalContext) -> None:
    """Print each fault, and the number of things checked to standard error."""
    if context.json:
        return
    found = result.checked
    for one in found.findings:
        done = f" -> {one.repaired}" if one.repaired else ""
        print(one_line(f"{one.kind}: {one.what}: {one.detail}{done}"))
    looked = f"{many(found.recordings, 'recording')} and {many(found.blobs, 'blob')} in {result.place}"
    faults = many(len(found.findings), "finding") if found.findings else "nothing is wrong"
    say(f"reenact: {looked}: {faults}")
