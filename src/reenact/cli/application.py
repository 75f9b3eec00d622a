"""The `reenact` command, with its subcommands."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import cache

import click

from reenact import __version__
from reenact.cli.click_commands import SETTINGS, CliCommand, CliGroup
from reenact.cli.derive import command_of
from reenact.cli.interfaces import GROUPS, INTERFACES, OPTIONS
from reenact.cli.printing import say
from reenact.core import extras
from reenact.core.late_readers import add_readers_later
from reenact.errors import MissingExtra
from reenact.verbs.registry import VERBS


@cache
def _readers() -> None:
    """Let installed packages add readers of model calls; report and skip those that fail."""
    # Imported here because only commands that read recordings search the installed packages.
    for point in importlib.import_module("importlib.metadata").entry_points(group="reenact.readers"):
        try:
            point.load()()
        except Exception as error:
            say(f"reenact: the reader {point.name} ({point.value}) is left out: {error}")


def application(words: Sequence[str]) -> CliGroup:
    """Return the application for a command line, with only its command or with all."""
    made = CliGroup("reenact", callback=_begin, params=_own_options(), context_settings=SETTINGS)
    asked = words[0] if words else ""
    # Only the module of the given command is imported, because all of them take a second.
    verbs = [verb for verb in (*VERBS, *INTERFACES) if verb.name == asked]
    groups = [asked] if asked in GROUPS else []
    every = not verbs and not groups
    for verb in (*VERBS, *INTERFACES) if every else verbs:
        try:
            made.add_command(command_of(verb))
        except ImportError as error:
            lacks = extras.missing(error, f"reenact {verb.name}", verb.extra)
            if lacks is None or not every:
                raise lacks or error from None
            made.add_command(CliCommand(verb.name, help=str(lacks), callback=_refusing(lacks)))
    for group in GROUPS if every else groups:
        made.add_command(importlib.import_module(GROUPS[group][0]).group())
    return made


def _refusing(lacks: MissingExtra) -> Callable[[], None]:
    def refuse() -> None:
        raise lacks

    return refuse


def _own_options() -> list[click.Parameter]:
    """Return the options of `reenact` itself, with the texts of its help."""
    actions = {
        "--version": _version,
        "--install-completion": lambda: importlib.import_module("reenact.cli.completion").install(),
        "--show-completion": lambda: importlib.import_module("reenact.cli.completion").show(),
    }
    return [
        click.Option(
            [name], is_flag=True, is_eager=True, expose_value=False, help=text, callback=_doing(actions[name])
        )
        for name, text in OPTIONS
        if name in actions
    ]


def _doing(action: Callable[[], None]) -> Callable[..., None]:
    def do(context: click.Context, _option: click.Parameter, given: bool) -> None:
        if given and not context.resilient_parsing:
            action()
            context.exit()

    return do


def _version() -> None:
    sys.stdout.write(f"reenact {__version__}\n")


def _begin() -> None:
    """Let installed packages add readers of model calls before one is read."""
    add_readers_later(_readers)
