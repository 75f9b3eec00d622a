"""`reenact export-script`: a recorded browser session as a Python script."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from reenact.cli import present
from reenact.cli.options import Home, Ref
from reenact.core import private
from reenact.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("export-script")(export_script)


def export_script(
    ref: Ref,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write; by default, print it.",
            show_default=False,
        ),
    ] = None,
    session: Annotated[
        str,
        typer.Option(
            metavar="SESSION", help="Which session, where the recording has several.", show_default=False
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    home: Home = None,
) -> None:
    """Write a recorded browser session as a script that does it again.

    Elements are found by durable selectors. What an agent did stands in a block that falls back to an agent where a
    step fails. Secrets are left out: the script reads them from the environment.
    """
    text = _script().export(ref, session=session or None, home=home)
    if output is None or str(output) == "-":
        sys.stdout.write(text)
        return
    try:
        if not force:
            output.touch(0o600, exist_ok=False)
        private.write(output, text)
    except FileExistsError:
        raise UsageError(f"{output} is there already; --force replaces it") from None
    present.say(f"written to {output}")


def _script() -> Any:
    try:
        return importlib.import_module("reenact.browser.script.script")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"browser sessions need more ({error.name}): pip install 'reenact[browser]'"
        ) from None
