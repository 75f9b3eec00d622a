"""`reenact debug`: the debugger, on a terminal's whole screen or as lines."""

from __future__ import annotations

import sys
from typing import Annotated
from urllib.parse import quote

import typer

from reenact.cli import present
from reenact.cli.consent import agreed
from reenact.cli.options import Command, Home, Ignore, Inserted, Live, OnDivergence, Ref, RunForeign, given
from reenact.cli.plain import Lines
from reenact.core.query.facts import RecordingFacts
from reenact.errors import UsageError
from reenact.run.driver.opening import Opening
from reenact.run.launch import Options
from reenact.team.open import Reaching


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(debug)


def debug(
    ref: Ref,
    command: Command = None,
    *,
    break_: Annotated[
        list[str] | None,
        typer.Option(
            "--break", "-b",
            help="Stop there: 7, tool:cancel_order, error, divergence, state:NAME; may be given several times.",
            show_default=False,
        ),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="As lines, from standard input.")] = False,
    read: Annotated[bool, typer.Option("--read", help="Run nothing: only walk the recording.")] = False,
    web: Annotated[
        bool, typer.Option("--web", help="In the browser, on this machine alone: the console's debugger.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="With --web: its port; by default any that is free.", show_default=False),
    ] = None,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="With --web: open it, where there is a screen.")
    ] = True,
    live: Live = None,
    ignore: Ignore = None,
    on_divergence: OnDivergence = "raise",
    inserted: Inserted = "refuse",
    run_foreign: RunForeign = False,
    home: Home = None,
) -> None:  # fmt: skip
    """Debug a recorded run: its program runs again, stops where you want, and goes back too.

    Without a program to run (an imported run, a script that is gone) the recording is walked all the same.

    Exit status of a script (--plain): 0; 1 the program left its recording; 2 a command could not be carried out.
    """
    if plain and web:
        raise UsageError("--plain and --web are two faces of the debugger: choose one")
    if not (plain or web) and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the debugger's screen needs a terminal; --plain reads commands from standard input, --web shows a page"
        )
    store = Reaching(home)
    ref = _stored(store, ref) if web else ref
    recording = store.load(ref)
    if not recording.steps:
        raise UsageError(f"recording {recording.id} has no steps: there is nothing to debug")
    options = Options(tuple(live or ()), tuple(ignore or ()), on_divergence, inserted)
    options.tree()
    words = tuple(given(command))
    if not read:
        run_foreign = agreed((recording,), words, home, run_foreign=run_foreign)
    opening = Opening(recording, words, options, home, tuple(break_ or ()), read, run_foreign)
    if web:
        _page(opening, store, ref, port or 0, show=show)
        return
    if not plain:
        _screen(opening)
        return
    driver, note = opening.open()
    try:
        if note:
            present.say(f"reenact: {note}; reading only")
        status = Lines(driver, RecordingFacts(recording), typed=sys.stdin.isatty()).run()
    finally:
        driver.close()
    raise SystemExit(status)


def _screen(opening: Opening) -> None:
    from reenact import tui  # noqa: PLC0415 - a tenth of a second that no other command should pay

    tui.run(opening.recording, opening.open, home=str(opening.home or ""))


def _page(opening: Opening, store: Reaching, ref: str, port: int, *, show: bool) -> None:
    from reenact.cli.hosting import alone  # noqa: PLC0415 - a web server, for --web alone

    alone(store, f"/debug/{quote(ref)}", port, "the debugger is", show=show, begun=opening)


def _stored(store: Reaching, ref: str) -> str:
    from reenact.cli.hosting import stored  # noqa: PLC0415 - as above

    return stored(store, ref)
