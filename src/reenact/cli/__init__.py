"""The `reenact` command, with its subcommands. Errors cost one line and exit status 2."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Annotated

import typer

from reenact import __version__
from reenact.cli import present
from reenact.errors import ReenactError
from reenact.verbs.registry import VERBS, Verb

UNABLE = 2

INTERFACES = [
    Verb("browse", "reenact.cli.browsing"),
    Verb("debug", "reenact.cli.debugging"),
    Verb("watch", "reenact.cli.watching"),
    Verb("console", "reenact.cli.console"),
    Verb("serve", "reenact.cli.hosting"),
    Verb("collect", "reenact.cli.collecting"),
    Verb("mcp", "reenact.cli.serving"),
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
    if asked == "--version":
        return app
    # Only the module of the given command is imported: all of them take a second.
    verbs = [verb for verb in (*VERBS, *INTERFACES) if verb.name == asked]
    groups = [asked] if asked in GROUPS else []
    every = not verbs and not groups
    for verb in (*VERBS, *INTERFACES) if every else verbs:
        importlib.import_module("reenact.cli.derive").add(app, verb)
    for group in GROUPS if every else groups:
        importlib.import_module(f"reenact.cli.{GROUPS[group]}").register(app)
    return app


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if arguments is None:
        # A process of our own. Recordings are many small objects that stay: to look at them often takes a tenth of
        # the time.
        gc.set_threshold(50_000, 20, 50)
    try:
        return application(words)(args=words, prog_name="reenact", standalone_mode=True) or 0
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1 if leaving.code else 0
    except ReenactError as error:
        present.say(f"reenact: {error}")
        return UNABLE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # `reenact show last | head`: who read has enough. Python would complain once more on closing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        present.say(f"reenact: {error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        return UNABLE
