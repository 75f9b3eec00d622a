"""The output of `reenact replay`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable

from reenact.analysis.views.text import one_line
from reenact.analysis.views.verdict import facts
from reenact.analysis.views.verdict import word as word_of
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.cli.reference import reference
from reenact.core.model.divergence import Verdict, forking_step
from reenact.verbs.replay import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print warnings and, unless it is printed as JSON, the verdict on standard error."""
    for warning in result.done.warnings:
        say(f"reenact: warning: {warning}")
    verdict = result.done.verdict
    if verdict is None:
        say(f"reenact: {result.failure}")
    elif not context.json:
        recording = result.done.recording
        named = reference(recording.id, recording.path, context.home)
        print_verdict(verdict, recording.name)
        _unused(verdict, options.live, named)
        step = verdict.divergence and forking_step(verdict.divergence)
        if step:
            program = f" -- {shlex.join(options.command)}" if options.command else ""
            say(f"reenact: go on live from there: reenact fork {named} --at {step}{program}")


def print_verdict(verdict: Verdict, name: str) -> None:
    """Print the verdict: in a frame on a terminal, as lines in a pipe."""
    if verdict.faithful and not sys.stderr.isatty() and not os.environ.get("FORCE_COLOR"):
        # Write the same lines without rich, whose import takes a fifth of such a replay's time.
        say("  ".join(filter(None, (word_of(verdict), verdict.recording, one_line(name)))))
        for fact in facts(verdict):
            say(f"  {fact.text}")
        return
    from reenact.cli.framing import print_framed  # noqa: PLC0415 - as above
    from reenact.cli.verdict import panel  # noqa: PLC0415 - as above

    print_framed(panel(verdict, name=name))


def _unused(verdict: Verdict, live: Iterable[str], ref: str) -> None:
    """Warn of effects allowed to run live that did not occur: their names may be misspelt."""
    came = {word for label in verdict.live for word in (label, label.partition(":")[0])}
    for word in live:
        if word not in came and not verdict.divergences:
            say(f"reenact: --live {word}: nothing of that name came; `reenact show {ref}` names the kinds")
