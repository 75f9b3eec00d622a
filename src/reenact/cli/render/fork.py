"""The output of `reenact fork`."""

from __future__ import annotations

from reenact.analysis.views.difference import written
from reenact.analysis.views.text import many, one_line
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.cli.reference import reference
from reenact.core.query.recorded_run import RecordedRun
from reenact.run.fork.edit import edited
from reenact.verbs.fork import Options, Result

_VALUE = 60
"""Most characters of a value that are shown."""


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the fork on standard error, and the command to replay it."""
    done = result.forked
    if done.recording is None:
        say(f"reenact: {result.failure}")
        return
    steps = many(len(done.recording.steps), "step")
    child, status = done.recording.id, done.recording.status
    forked = f"reenact: forked {done.parent.id} at step {result.at} as {child}"
    if options.set:
        _edit(done.parent, done.recording, result.at)
    if done.ran and done.how != "stopped":
        say(f"reenact: ran for real: {'; '.join(done.ran)}")
    if done.how == "stopped":
        say(f"{forked} ({steps}), and stopped: {done.reason}")
        return
    say(f"{forked} ({steps}, {done.reason or status})")
    named = reference(child, done.recording.path, context.home)
    say(f"reenact: replay it with: reenact replay {named}")


def _edit(parent: RecordedRun, child: RecordedRun, at: int) -> None:
    """Print the change of the step's answer on one line: the old and the new value."""
    if not 0 < at <= len(child.steps):
        return  # the fork stopped before that step
    step = parent.step(at)
    found = edited(step, child.step(at))
    change = "as recorded"
    if found:
        old, new = (one_line(written(value), _VALUE) for value in (found[0].recorded, found[0].actual))
        change = f"{found[0].path} was {old}, is {new}"
    if len(found) > 1:
        change += f" (and {many(len(found) - 1, 'more difference')})"
    say(f"reenact: edited step {at} ({step.call.label}): {change}")
