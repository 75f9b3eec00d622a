"""`reenact harden`: a browser script on changed pages, before production changes them."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from reenact.analysis.views.terminal import Terminal
from reenact.cli import present
from reenact.cli.options import Json
from reenact.errors import UsageError

BREAKS = 1


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("harden", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True})(
        harden
    )


def harden(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="A Python script of session.execute calls.")
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ARGUMENTS]...", help="Its arguments, behind `--`.", show_default=False),
    ] = None,
    *,
    mutations: Annotated[int, typer.Option(help="Changes that are tried of each step.")] = 4,
    seed: Annotated[int, typer.Option(help="The same seed makes the same changes.")] = 0,
    json: Json = False,
) -> None:
    """Try each step of a browser script on changed pages, and show what breaks and what helps.

    The script runs once as it is, and is recorded. Then its steps are done again on the recorded pages, each time with
    one change around the step's element: other ids and classes, another label, another place, a cookie banner … Nothing
    is sent to a server meanwhile but requests for what the recording does not keep. Exit status 1: a step would stop,
    or something else would be acted on.
    """
    found = _harden()
    with Terminal(stderr=True).status("", spinner="dots") as status:
        hardened = found.harden(
            script,
            arguments or (),
            mutations=mutations,
            seed=seed,
            told=lambda text: status.update(escape(text)),
        )
    if json:
        present.dump(found.as_data(hardened))
    else:
        _show(hardened)
    if not hardened.holds:
        raise typer.Exit(BREAKS)


def _harden() -> Any:
    try:
        return importlib.import_module("reenact.browser.heal.harden.harden")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"browser sessions need more ({error.name}): pip install 'reenact[browser]'"
        ) from None


def _show(found: Any) -> None:
    console = present.out()
    table = Table(box=None, pad_edge=False)
    for name in ("step", "line", "what", "held", "would break it", "saved by", "stopped", "wrong element"):
        table.add_column(
            name, justify="right" if name in {"step", "held", "stopped", "wrong element"} else "left"
        )
    for one in found.steps:
        table.add_row(*_row(one))
    console.print(table)
    where = "on its recorded pages" if found.pages == "recorded" else f"on live pages: {found.why_live}"
    ends = Counter(trial.ending for trial in found.trials)
    console.print()
    console.print(
        f"{len(found.trials)} changed steps {escape(where)}: {ends['held']} held, {ends['saved']} saved, "
        f"{ends['stopped']} stopped, {ends['wrong'] + ends['misled']} on a wrong element",
        highlight=False,
    )
    if found.asked_live:
        console.print(
            f"{found.asked_live} requests went out for what the recording does not keep (pictures, …)",
            highlight=False,
        )
    for text in found.left:
        console.print(f"left out: {escape(text)}", highlight=False)
    for one in found.steps:
        if one.unreached:
            console.print(f"step {one.step.number} was not tried: {escape(one.unreached)}", highlight=False)
        for trial in one.trials:
            if trial.ending in {"wrong", "misled"}:
                who = trial.rung or "its own selector"
                console.print(
                    f"[red]step {one.step.number}[/red], {trial.change.kind} ({escape(trial.told)}): {who} met "
                    f"{escape(trial.met)}",
                    highlight=False,
                )


def _row(one: Any) -> tuple[str, ...]:
    trials = one.trials
    broke = [trial for trial in trials if trial.ending != "held"]
    saved = Counter(trial.rung for trial in trials if trial.ending == "saved")
    stopped = [trial.change.kind for trial in trials if trial.ending == "stopped"]
    wrong = [trial.change.kind for trial in trials if trial.ending in {"wrong", "misled"}]
    return (
        str(one.step.number),
        "" if one.step.line is None else str(one.step.line),
        escape(one.step.told[:60]),
        str(sum(trial.ending == "held" for trial in trials)),
        ", ".join(trial.change.kind for trial in broke) or "-",
        ", ".join(f"{rung} {many}" for rung, many in saved.items()) or "-",
        f"{len(stopped)} ({', '.join(stopped)})" if stopped else "0",
        f"[red]{len(wrong)} ({', '.join(wrong)})[/red]" if wrong else "0",
    )
