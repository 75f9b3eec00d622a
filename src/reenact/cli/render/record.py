"""The output of `reenact record`."""

from __future__ import annotations

from reenact.analysis.views.text import visible
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.cli.reference import reference
from reenact.run.launch import ended_by
from reenact.verbs.record import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the recording on standard error, and the command to replay it."""
    done, home = result.done, context.home
    recording = done.recording
    if recording is None:
        say(f"reenact: {result.failure}")
        return
    ref = reference(recording.id, recording.path, home)
    steps = len(recording.steps)
    counted = f"{steps} {'step' if steps == 1 else 'steps'}"
    if len(recording.logs) > 1:
        counted += f" in {len(recording.logs)} processes"
    if recording.status == "unsealed":
        how = f"ended by {ended_by(done.status)}" if done.status < 0 else "it left no word"
        say(f"reenact: recorded {recording.id} up to its end ({counted}; unsealed: {how})")
    else:
        say(f"reenact: recorded {recording.id} ({counted}, {recording.status})")
    command = "" if options.command else " -- COMMAND"
    say(f"reenact: replay it with: reenact replay {ref}{command}")
    if recording.status == "unsealed" and len(recording.logs) == 1 and not options.proxy:
        say(f"reenact: go on with it: reenact resume {ref}")
    if options.proxy and not recording.steps:
        say("reenact: no request came by the proxy: docs/proxy.md names the variables that SDKs read")
    if result.proved is not None:
        from reenact.cli.framing import print_framed  # noqa: PLC0415 - as below
        from reenact.cli.render.prove import panel  # noqa: PLC0415 - few recordings are proved at once

        print_framed(panel(result.proved))
    elif result.unproved:
        say(f"reenact: not proved: {visible(result.unproved)}")
