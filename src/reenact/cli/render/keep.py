"""The output of `reenact keep`."""

from __future__ import annotations

import importlib.util

from reenact.analysis.views.text import visible
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs.keep import Options, Result


def show(result: Result, options: Options, context: TerminalContext) -> None:
    """Report the kept test on standard error, and the command to run it."""
    test, file = result.test, result.file
    say(f"kept {result.recording.id} as {test.name} in {file}, with its recording in {result.fixture}")
    if result.proof:
        say(visible(result.proof))
    if "pytest.mark.asyncio" in test.text and importlib.util.find_spec("pytest_asyncio") is None:
        say("the test is async: it needs pytest-asyncio")
    say(f"run it with: pytest {file}::{test.name}")
