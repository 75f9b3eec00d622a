"""The output of `reenact resume`."""

from __future__ import annotations

from reenact.analysis.views.text import many
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.cli.reference import reference
from reenact.verbs.resume import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the end on standard error, and the command to replay it."""
    done = result.resumed
    if done.how == "failed":
        say(f"reenact: {result.failure}")
        return
    id = done.recording.id
    if done.how == "stopped":
        say(f"reenact: {id} was not resumed: {done.reason}")
        return
    if done.ran:
        say(f"reenact: ran by the policy: {'; '.join(done.ran)}")
    if done.answered:
        tools = "; ".join(done.answered)
        say(f"reenact: did not run again, nor change the program's own state again: {tools}")
    if done.changed:
        first, *others = done.changed
        more = f" and {many(len(others), 'more file')}" if others else ""
        say(f"reenact: {first}{more} had changed after the last recorded step; copies are in {done.copies}")
    steps = many(len(done.recording.steps), "step")
    say(f"reenact: resumed {id} after {many(done.before, 'step')} ({steps}, {done.recording.status})")
    named = reference(id, done.recording.path, context.home)
    say(f"reenact: replay it with: reenact replay {named}")
