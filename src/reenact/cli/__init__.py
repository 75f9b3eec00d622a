"""The `reenact` command: one verb per command, each with its help. Mistakes cost one line and exit status 2."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from reenact import __version__
from reenact.cli import (
    browsing,
    collecting,
    comparing,
    debugging,
    diagnosing,
    forking,
    keeping,
    present,
    reading,
    regression,
    reporting,
    reproducing,
    running,
    verifying,
)
from reenact.errors import ReenactError

UNABLE = 2

app = typer.Typer(
    name="reenact",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
running.register(app)
forking.register(app)
reading.register(app)
browsing.register(app)
collecting.register(app)
comparing.register(app)
debugging.register(app)
diagnosing.register(app)
keeping.register(app)
regression.register(app)
reproducing.register(app)
reporting.register(app)
verifying.register(app)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"reenact {__version__}\n")
        raise typer.Exit


@app.callback()
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
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        return (
            app(
                args=None if arguments is None else list(arguments), prog_name="reenact", standalone_mode=True
            )
            or 0
        )
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
