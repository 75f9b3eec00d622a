"""`reenact keep`: a recording becomes a test."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from reenact.cli import present
from reenact.cli.consent import agreed
from reenact.cli.options import Home, Ref, RunForeign
from reenact.team.open import Reaching
from reenact.verbs import keep as keeping


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(keep)


def keep(
    ref: Ref,
    *,
    file: Annotated[
        Path, typer.Option("--as", help="The test file to write, or to add to.", show_default=False)
    ] = Path("tests/test_recordings.py"),
    name: Annotated[str, typer.Option(help="The test's name; by default after the recording's.")] = "",
    entry: Annotated[
        str,
        typer.Option(
            help="What the test calls: pkg.module:function('an argument'). By default the recorded function, or "
            "the recorded command.",
            show_default=False,
        ),
    ] = "",
    is_async: Annotated[bool, typer.Option("--async", help="The function of --entry is awaited.")] = False,
    live: Annotated[
        list[str] | None,
        typer.Option(help="Let run for real in the test: tool, or tool:cancel_order.", show_default=False),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the recording's file if it is there.")
    ] = False,
    run_foreign: RunForeign = False,
    home: Home = None,
) -> None:
    """Keep a recording as a pytest test, beside its recording.

    [bold]reenact keep last --as tests/test_orders.py --live tool[/bold]
    """
    if not entry:
        run_foreign = agreed((ref,), (), home, run_foreign=run_foreign)
    recording, test, fixture = keeping.keep(
        Reaching(home),
        ref,
        file,
        home=home,
        name=name,
        entry=entry,
        is_async=is_async,
        live=tuple(live or ()),
        force=force,
        run_foreign=run_foreign,
    )
    present.say(f"kept {recording.id} as {test.name} in {file}, with its recording in {fixture}")
    if "pytest.mark.asyncio" in test.text and importlib.util.find_spec("pytest_asyncio") is None:
        present.say("the test is async: it needs pytest-asyncio")
    present.say(f"run it with: pytest {file}::{test.name}")
