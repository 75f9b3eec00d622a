"""The output of `reenact import`."""

from __future__ import annotations

from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.import_ import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the files that could not be imported on standard error."""
    for failure in result.failures:
        say(f"reenact: {failure}")
