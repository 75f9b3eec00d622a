"""The output of `reenact harden`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.verbs.harden import Result

if TYPE_CHECKING:
    from reenact.browser.heal.harden.hardening import StepTrials


def show(result: Result, options: object, context: TerminalContext) -> None:
    """Print a row for each step, and the counts."""
    if context.json:
        return
    found = result.hardened
    console = present.out()
    table = present.table(
        ">step", "line", "what", ">held", "would break it", "saved by", ">stopped", ">wrong element"
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
        if one.worst is not None:
            console.print(_worst(one), highlight=False)


def _worst(one: StepTrials) -> str:
    worst = one.worst
    assert worst is not None
    closed = ", ".join(f"{name}={value!r}" for name, value in (worst.closed_by or {}).items())
    return (
        f"step {one.step.number}: the smallest change that misleads its selector: {escape(worst.told)}. It meets "
        f"{escape(worst.met)}. {escape(f'This closes it: {closed}' if closed else 'Nothing found closes it.')}"
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
