"""The `reenact` command, with its subcommands."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated

import typer
from rich.markup import escape

from reenact import __version__
from reenact.cli import overview, present
from reenact.cli.interfaces import GROUPS, INTERFACES
from reenact.cli.panels import panel_of
from reenact.core import extras, messages
from reenact.errors import MissingExtra
from reenact.verbs.registry import VERBS


@cache
def _readers() -> None:
    """Let installed packages add readers of model calls; one that cannot is named, and left out."""
    # Only what reads recordings looks through the installed packages.
    for point in importlib.import_module("importlib.metadata").entry_points(group="reenact.readers"):
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
    app.callback(help=_help())(reenact)
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
        importlib.import_module(GROUPS[group][0]).register(app)
    return app


def _help() -> str:
    longest = max(len(command) for command, _ in overview.EXAMPLES)
    lines = (
        f"[bold]{command}[/bold]{' ' * (longest - len(command) + 3)}{text}"
        for command, text in overview.EXAMPLES
    )
    return "\n\n".join((overview.SUMMARY, "\n".join(lines)))


def _refusing(lacks: MissingExtra) -> Callable[[], None]:
    def refuse() -> None:
        raise lacks

    return refuse


def reenact(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version, and no more.")
    ] = False,
) -> None:
    """Let installed packages add readers of model calls before one is read."""
    messages.add_readers_later(_readers)
