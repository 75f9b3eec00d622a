"""The output of `reenact fsck`."""

from __future__ import annotations

from reenact.cli import present
from reenact.cli.context import Context
from reenact.verbs.fsck import Result


def show(result: Result, options: object, context: Context) -> None:
    """Print each fault, and the number of things checked to standard error."""
    if context.json:
        return
    found = result.checked
    for one in found.findings:
        done = f" -> {one.repaired}" if one.repaired else ""
        print(present.one_line(f"{one.kind}: {one.what}: {one.detail}{done}"))
    looked = f"{present.many(found.recordings, 'recording')} and {present.many(found.blobs, 'blob')} in {result.place}"
    many = present.many(len(found.findings), "finding") if found.findings else "nothing is wrong"
    present.say(f"reenact: {looked}: {many}")
