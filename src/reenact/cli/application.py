"""The `reenact` command, with its subcommands."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Annotated

import typer
from rich.markup import escape

from reenact import __version__
from reenact.cli import present
from reenact.cli.panels import panel_of
from reenact.core import extras
from reenact.errors import MissingExtra
from reenact.verbs.registry import VERBS, Verb

INTERFACES = [
    Verb("browse", "reenact.cli.browsing", extra="tui"),
    Verb("debug", "reenact.cli.debugging", extra="tui"),
    Verb("watch", "reenact.cli.watching", extra="browser"),
    Verb("console", "reenact.cli.console", extra="server"),
    Verb("serve", "reenact.cli.hosting", extra="server"),
    Verb("collect", "reenact.cli.collecting", extra="server"),
    Verb("mcp", "reenact.cli.serving", extra="mcp"),
    Verb("config", "reenact.cli.configuring"),
]
"""The commands that open another interface: a screen, a page, a server."""

GROUPS = {"keys": "keys", "team": "projects", "trust": "trusting"}
"""The groups of commands, with their modules."""

_waiting = list(entry_points(group="reenact.readers"))


def _readers() -> None:
    """Let installed packages add readers of model calls; one that cannot is named, and left out."""
    while _waiting:
        point = _waiting.pop()
        try:
            point.load()()
        except Exception as error:
            present.say(f"reenact: the reader {point.name} ({point.value}) is left out: {error}")


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"reenact {__version__}\n")
        raise typer.Exit


def application(words: Sequence[str]) -> typer.Typer:
    """Return the application for a command line: with its command only, or with all."""
    app = typer.Typer(
        name="reenact",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(reenact)
    asked = words[0] if words else ""
    # Only the module of the given command is imported: all of them take a second.
    verbs = [verb for verb in (*VERBS, *INTERFACES) if verb.name == asked]
    groups = [asked] if asked in GROUPS else []
    every = not verbs and not groups
    for verb in (*VERBS, *INTERFACES) if every else verbs:
        try:
            importlib.import_module("reenact.cli.derive").add(app, verb)
        except ImportError as error:
            lacks = extras.missing(error, f"reenact {verb.name}", verb.extra)
            if lacks is None or not every:
                raise lacks or error from None
            # In the list of all commands its line says how it is installed.
            panel = panel_of(verb.name)
            app.command(verb.name, help=escape(str(lacks)), rich_help_panel=panel)(_refusing(lacks))
    for group in GROUPS if every else groups:
        importlib.import_module(f"reenact.cli.{GROUPS[group]}").register(app)
    return app


def extra_of(command: str) -> str:
    """Return the extra that a command needs; empty if it needs none, or is no command."""
    if command == "trust":
        return "sign"
    if command == "team":
        return "team"
    return next((verb.extra for verb in (*VERBS, *INTERFACES) if verb.name == command), "")


def _refusing(lacks: MissingExtra) -> Callable[[], None]:
    def refuse() -> None:
        raise lacks

    return refuse


def reenact(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version, and no more.")
    ] = False,
) -> None:
    """Record an LLM agent's run, replay it exactly, find where it goes wrong.

    [bold]reenact record -- python agent.py[/bold]   record a run
    [bold]reenact list[/bold]                        what there is
    [bold]reenact browse[/bold]                      the same, to search and choose from
    [bold]reenact show last[/bold]                   the run as a conversation
    [bold]reenact diagnose last[/bold]               what is odd about it, and where
    [bold]reenact replay last[/bold]                 run it again, offline and exactly
    [bold]reenact debug last[/bold]                  run it step by step, back too
    [bold]reenact fork last --at 7[/bold]            again up to step 7, and live from there
    [bold]reenact diff A B[/bold]                    where two runs part
    [bold]reenact watch last[/bold]                  a browser session, played
    [bold]reenact console[/bold]                     all of it in the browser
    """
    _readers()
