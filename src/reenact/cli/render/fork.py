"""The output of `reenact fork`."""

from __future__ import annotations

from reenact.cli import present
from reenact.cli.context import Context
from reenact.cli.reference import reference
from reenact.verbs.fork import Options, Result


def show(result: Result, options: Options, context: Context) -> None:
    """Report the fork on standard error, and the command to replay it."""
    done = result.forked
    if done.recording is None:
        present.say(f"reenact: {result.failure}")
        return
    steps = present.many(len(done.recording.steps), "step")
    child, status = done.recording.id, done.recording.status
    forked = f"reenact: forked {done.parent.id} at step {result.at} as {child}"
    if done.ran and done.how != "stopped":
        present.say(f"reenact: ran for real: {'; '.join(done.ran)}")
    if done.how == "stopped":
        present.say(f"{forked} ({steps}), and stopped: {done.reason}")
        return
    present.say(f"{forked} ({steps}, {done.reason or status})")
    named = reference(child, done.recording.path, context.home)
    present.say(f"reenact: replay it with: reenact replay {named}")
