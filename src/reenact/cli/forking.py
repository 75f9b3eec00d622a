"""`reenact fork`: again up to a step, and on from there."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from reenact.cli import present
from reenact.cli.consent import agreed
from reenact.cli.options import Command, Home, Ignore, Json, Live, Ref, RunForeign, given
from reenact.cli.running import die_like
from reenact.core.store.local import LocalStore
from reenact.run.launch.forking import Options
from reenact.run.launch.forking import fork as launch

UNABLE, STOPPED = 2, 3


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(fork)


def fork(
    ref: Ref,
    command: Command = None,
    *,
    at: Annotated[int, typer.Option(help="The step that is the first to be live.", show_default=False)],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Edit that step's answer: 'output.status = \"lost\"', 'text = No.', 'error = \"KeyError: x\"'.",
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(help="Ask this language model from there on.", show_default=False)
    ] = "",
    live: Live = None,
    ignore: Ignore = None,
    run_foreign: RunForeign = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Run the recorded program again up to a step, and live from there; what comes of it is recorded.

    With --set that step has another answer, and the replay goes on as far as the program asks what was recorded.

    Exit status: the program's; 2 could not fork, 3 stopped because no model is at hand.
    """
    options = Options(at, tuple(set_ or ()), model, tuple(live or ()), tuple(ignore or ()))
    words = given(command)
    run_foreign = agreed((ref,), words, home, run_foreign=run_foreign)
    done = launch(ref, options, command=words, home=home, quiet=json, run_foreign=run_foreign)
    if json:
        present.dump(done.tree(at))
    if done.recording is None:
        present.say(f"reenact: {done.parent.id} was not forked: {done.reason}")
        raise SystemExit(UNABLE)
    steps = present.many(len(done.recording.steps), "step")
    child, status = done.recording.id, done.recording.status
    if done.how == "stopped":
        present.say(
            f"reenact: forked {done.parent.id} at step {at} as {child} ({steps}), and stopped: {done.reason}"
        )
        raise SystemExit(STOPPED)
    present.say(
        f"reenact: forked {done.parent.id} at step {at} as {child} ({steps}, {done.reason or status})"
    )
    inside = Path(done.recording.path).parent == LocalStore(home).recordings
    where = f"--home {shlex.quote(str(home))} " if home and inside else ""
    present.say(f"reenact: replay it with: reenact replay {where}{child}")
    die_like(done.status)
