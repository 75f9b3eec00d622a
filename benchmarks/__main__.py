"""`python -m benchmarks [--quick] [--only NAME]`: measure, and write RESULTS.md."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks import (
    adapters,
    browser,
    comparing,
    elsewhere,
    first_token,
    idle,
    long_chat,
    recording,
    replay,
    report,
    search,
    serving,
    starting,
    state,
    subjects,
    verifying,
)
from benchmarks.plan import Plan, Tell
from benchmarks.workers import Broken

SECTIONS: dict[str, Callable[[Plan], report.Section]] = {
    "idle": idle.measure,
    "recording": recording.measure,
    "first-token": first_token.measure,
    "replay": replay.measure,
    "long-chat": long_chat.measure,
    "state": state.measure,
    "elsewhere": elsewhere.measure,
    "search": search.measure,
    "comparing": comparing.measure,
    "verifying": verifying.measure,
    "adapters": adapters.measure,
    "browser": browser.measure,
    "starting": starting.measure,
    "server": serving.measure,
    "healing": lambda plan: _apart("healing", plan),
    "healing-generated": lambda plan: _apart("generated", plan),
    "healing-models": lambda plan: _apart("healing_models", plan),
}
HEALING = Path(__file__).parent / "HEALING.md"
APART = {"healing": HEALING, "healing-generated": HEALING, "healing-models": HEALING}
"""Measured where somebody asks for it by name, in the environment that has the pages, and written to a file of its own:
`make bench-healing` does the first."""
PARTS = frozenset({"healing-generated", "healing-models"})
"""Written into that file as a part of it: all else that is there stays."""
_HEADS = {
    "healing": "# What changed pages do to scripts, and what mends them\n\nWritten by `{command}` ({took}). Misses are "
    "listed as they are.\n\n- Machine: {machine}\n- Versions: {versions}\n"
}
RESULTS = Path(__file__).parent / "RESULTS.md"

console = Console(stderr=True)


def main(
    quick: Annotated[
        bool, typer.Option(help="A look at whether all of it works, in a minute or two.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help=f"Of: {', '.join(SECTIONS)}. May be repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where the results go, if not to RESULTS.md here.")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Begin nothing new after so long (healing, healing-generated, healing-models)."),
    ] = None,
) -> None:
    """Measure what Reenact costs, side by side with the packages that record the same work."""
    names = only or [name for name in SECTIONS if name not in APART]
    if unknown := [name for name in names if name not in SECTIONS]:
        console.print(f"no benchmark is called {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
        raise typer.Exit(2)
    # A quick or partial run does not overwrite the results of a whole one.
    own = APART.get(names[0]) if len(names) == 1 else RESULTS if not only else None
    path = output or (own if own is not None and not quick else Path(".cache/benchmarks/RESULTS.md"))
    path.parent.mkdir(parents=True, exist_ok=True)
    absent = [name for name, kind in subjects.SUBJECTS.items() if not kind().installed]
    if absent:
        console.print(
            f"not installed here, and so not measured: {', '.join(absent)} (`make bench` installs them)"
        )
    began = monotonic()
    found = _measured(names, quick=quick, minutes=minutes)
    command, took = " ".join(["python -m benchmarks", *sys.argv[1:]]), monotonic() - began
    if len(names) == 1 and names[0] in PARTS:
        report.put(found[0], path, command=command, took=took, quick=quick)
    else:
        head = _HEADS.get(names[0], "") if len(names) == 1 else ""
        report.write(found, path, command=command, took=took, quick=quick, head=head)
    for section in found:
        _show(section)
    console.print(f"written to {path}")


def _measured(names: list[str], *, quick: bool, minutes: float | None) -> list[report.Section]:
    found = []
    with _progress(len(names)) as (tell, done):
        for name in names:
            tell(name)
            try:
                found.append(SECTIONS[name](Plan(quick, tell, minutes)))
            except Exception as error:
                # What was measured before it is not lost.
                found.append(report.Section(name, f"**Could not be measured:** {error}"))
            done()
    return found


def _apart(name: str, plan: Plan) -> report.Section:
    try:
        measure: Callable[[Plan], report.Section] = importlib.import_module(f"benchmarks.{name}").measure
    except ModuleNotFoundError as error:
        raise Broken(
            f"{error.name} is not installed here: run it with the environment of `make setup-dev`"
        ) from None
    return measure(plan)


@contextmanager
def _progress(total: int) -> Iterator[tuple[Tell, Callable[[], None]]]:
    columns = (SpinnerColumn(), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=total)
        yield lambda text: progress.update(task, description=text), lambda: progress.advance(task)


def _show(section: report.Section) -> None:
    console.print(f"\n[bold]{section.title}[/bold]")
    for figure in section.figures:
        mark = {True: "[green]met[/green]   ", False: "[red]missed[/red]", None: "      "}[figure.met]
        console.print(f"  {mark} {figure.what}: {figure.found}  [dim]{figure.target}[/dim]", highlight=False)


if __name__ == "__main__":
    typer.run(main)
