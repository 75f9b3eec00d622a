"""The output of `reenact export-script`."""

from __future__ import annotations

import sys

from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.export_script import Result


def show(result: Result, options: object, context: TerminalContext) -> None:
    """Print the script, or the name of its file to standard error."""
    if result.file is None:
        sys.stdout.write(result.text)
    else:
        say(f"written to {result.file}")
