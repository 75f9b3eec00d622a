"""The output of `reenact fork`."""

from __future__ import annotations

import shlex
from pathlib import Path

from reenact.cli import present
from reenact.cli.context import Context
from reenact.core.store.local import LocalStore
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
    if done.how == "stopped":
        present.say(f"{forked} ({steps}), and stopped: {done.reason}")
        return
    present.say(f"{forked} ({steps}, {done.reason or status})")
    inside = Path(done.recording.path).parent == LocalStore(context.home).recordings
    where = f"--home {shlex.quote(str(context.home))} " if context.home and inside else ""
    present.say(f"reenact: replay it with: reenact replay {where}{child}")
