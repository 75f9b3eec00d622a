"""The output of `reenact fork`."""

from __future__ import annotations

from reenact.analysis.views.text import many
from reenact.cli.context import Context
from reenact.cli.printing import say
from reenact.cli.reference import reference
from reenact.verbs.fork import Options, Result


def show(result: Result, options: Options, context: Context) -> None:
    """Report the fork on standard error, and the command to replay it."""
    done = result.forked
    if done.recording is None:
        say(f"reenact: {result.failure}")
        return
    steps = many(len(done.recording.steps), "step")
    child, status = done.recording.id, done.recording.status
    forked = f"reenact: forked {done.parent.id} at step {result.at} as {child}"
    if done.ran and done.how != "stopped":
        say(f"reenact: ran for real: {'; '.join(done.ran)}")
    if done.how == "stopped":
        say(f"{forked} ({steps}), and stopped: {done.reason}")
        return
    say(f"{forked} ({steps}, {done.reason or status})")
    named = reference(child, done.recording.path, context.home)
    say(f"reenact: replay it with: reenact replay {named}")
