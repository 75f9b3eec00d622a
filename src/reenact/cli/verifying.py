"""`reenact verify`: a fleet of recordings against today's code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self, cast

import orjson
import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from reenact.analysis.views.terminal import Terminal
from reenact.cli import present
from reenact.cli.options import Home, Ignore, Json, Live, OnDivergence, RunForeign
from reenact.cli.teams import Team, opened, place_of
from reenact.core import private
from reenact.core.query.filter import Filter
from reenact.core.store.base import Library
from reenact.core.store.local import SUFFIX, LocalStore
from reenact.errors import UsageError
from reenact.run.launch import Options
from reenact.verbs.verify import Outcome, Status, grouped, pages, passed, verify
from reenact.verbs.verify.cluster import Cluster
from reenact.verbs.verify.outcome import GOOD
from reenact.verbs.verify.shard import Shard

if TYPE_CHECKING:
    from reenact.team.store import TeamStore

_COLORS = {
    Status.SAME: "green",
    Status.FIXED: "green",
    Status.DIVERGED: "red",
    Status.BROKEN: "red",
    Status.UNABLE: "yellow",
    Status.REFUSED: "yellow",
}
_SHOWN = 5
_EVERY = 10.0
"""Seconds between lines on how it goes, where there is no terminal to draw a bar on."""


class Engines(str, Enum):
    """The engines that run the replays."""

    LOCAL = "local"
    RAY = "ray"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("verify")(verify_)


def verify_(
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RECORDING...]",
            help="Ids, files, folders of files. By default all recordings.",
            show_default=False,
        ),
    ] = None,
    *,
    entry: Annotated[
        str,
        typer.Option(help="What runs the program: pkg.module:function. By default the recorded commands."),
    ] = "",
    filter: Annotated[str, typer.Option("--filter", help="Only recordings that it means.")] = "",
    workers: Annotated[
        int, typer.Option("--workers", "-j", help="How many at once; 0: one for each core.", min=0)
    ] = 0,
    timeout: Annotated[float, typer.Option(help="Seconds that one may take.", min=0.1)] = 60.0,
    engine: Annotated[
        Engines, typer.Option(help="Where the replays run: the cores of this machine, or a Ray cluster.")
    ] = Engines.LOCAL,
    address: Annotated[
        str,
        typer.Option(
            help="Of the Ray cluster: ray://head:10001, or auto on a node of it.", show_default=False
        ),
    ] = "",
    shard: Annotated[
        str,
        typer.Option(
            help="Only one of so many equal parts: 2/5. Parts of all jobs make the whole.", show_default=False
        ),
    ] = "",
    from_zero: Annotated[
        bool, typer.Option("--from-zero", help="Parts are counted from 0: 0/5 is the first, 4/5 the last.")
    ] = False,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            help="What of this folder is not shipped to the nodes of the cluster, as in a .gitignore.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Only what no earlier run has found for this very code and these options."
        ),
    ] = False,
    live: Live = None,
    ignore: Ignore = None,
    on_divergence: OnDivergence = "raise",
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML there.", show_default=False)] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page there.", show_default=False)] = None,
    run_foreign: RunForeign = False,
    home: Home = None,
    team: Team = False,
    json: Json = False,
) -> None:
    """Replay many recordings against today's code, in parallel, each in a process of its own.

    Foreign recordings are refused, each by its name, and the others go on; --run-foreign runs them too, and an --entry
    of your own runs all.

    Exit status: 0 all run as recorded (or better), 1 some do not, 2 it could not begin, or foreign ones were refused.
    """
    if engine is not Engines.RAY and (address or exclude):
        raise UsageError(f"{'--address' if address else '--exclude'} is of a Ray cluster: --engine ray")
    if from_zero and not shard:
        raise UsageError("--from-zero is how parts are counted: --shard 0/5 --from-zero")
    for name, file in (("--junit", junit), ("--html", html)):
        # Said before an hour of replays.
        if file is not None and not file.absolute().parent.is_dir():
            raise UsageError(f"{name} {file}: there is no folder {file.parent}")
    options = Options(tuple(live or ()), tuple(ignore or ()), on_divergence)
    with opened(home, team=team) as (store, index):
        chosen = _chosen(refs or [], filter, store, index)
        if shard:
            chosen = Shard.parsed(shard, first=0 if from_zero else 1).among(chosen)
        with Course(len(chosen)) as course:
            place = place_of() if team else None
            cluster = Cluster(address, workers, excludes=exclude or (), team=place, say=course.say)
            outcomes = verify(
                chosen, entry=entry, options=options, workers=workers, timeout=timeout, home=home,
                progress=course.came, engine=cluster if engine is Engines.RAY else None, resume=resume,
                team=cast("TeamStore", store) if team else None, run_foreign=run_foreign,
            )  # fmt: skip
    if junit is not None:
        private.write(junit, pages.junit(outcomes))
    if html is not None:
        private.write(html, pages.page(outcomes))
    if json:
        print(
            orjson.dumps(
                [outcome.tree() for outcome in outcomes], default=repr, option=orjson.OPT_INDENT_2
            ).decode()
        )
    else:
        _show(outcomes)
    ran = [outcome for outcome in outcomes if outcome.status is not Status.REFUSED]
    raise SystemExit(1 if not passed(ran) else 2 if len(ran) < len(outcomes) else 0)


class Course:
    """The progress: a bar on a terminal, else a line now and then."""

    def __init__(self, many: int) -> None:
        console = Terminal(stderr=True)
        self._drawn = console.is_terminal
        self._bar = Progress(
            TextColumn("verifying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.description}"), console=console, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=many)
        self._many, self._came, self._bad = many, 0, 0
        self._next = monotonic() + _EVERY

    def came(self, outcome: Outcome) -> None:
        """Count one more replay."""
        self._came += 1
        self._bad += outcome.status not in GOOD
        self._bar.update(self._task, completed=self._came)
        if not self._drawn and monotonic() > self._next:
            self._next = monotonic() + _EVERY
            present.say(f"reenact: {self._came} of {self._many}, {self._bad} not as they should be")

    def say(self, what: str) -> None:
        """Show the activity of an engine."""
        self._bar.update(self._task, description=escape(what))
        if not self._drawn:
            present.say(f"reenact: {what}")

    def __enter__(self) -> Self:
        if self._drawn:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._bar.stop()


def _chosen(refs: Sequence[str], filter: str, store: LocalStore, index: Library) -> list[str]:
    wanted = Filter(filter)
    files = [
        str(path)
        for ref in refs
        for path in (sorted(Path(ref).glob(f"**/*{SUFFIX}")) if _is_folder(ref) else [ref])
    ]
    if not refs:
        files = store.ids()
    if filter:
        meant = {hit.summary.id for hit in index.search(wanted)}
        files = [ref for ref in files if ref in meant]
    if not files:
        where = f" for which `{filter}` holds" if filter else ""
        listed = "reenact list" if store.place == str(store.root) else "reenact list --team"
        raise UsageError(f"there are no recordings to verify{where}; `{listed}` shows what there is")
    return files


def _is_folder(ref: str) -> bool:
    return Path(ref).is_dir() and not (Path(ref) / "events.jsonl").exists()


def _show(outcomes: Sequence[Outcome]) -> None:
    console = Terminal(highlight=False)
    groups = grouped(outcomes)
    if groups:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for heading in ("count", "outcome", "cause", "recordings"):
            table.add_column(heading, justify="right" if heading == "count" else "left", overflow="fold")
        for status, cause, members in groups:
            known = [
                f"{o.id or o.ref}" + (f" (step {o.step})" if o.step is not None else "") for o in members
            ]
            more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
            shown = f"[{_COLORS[status]}]{status.value}[/]"
            table.add_row(str(len(members)), shown, escape(cause), escape(", ".join(known[:_SHOWN]) + more))
        console.print(table)
        console.print()
    counts = Counter(outcome.status for outcome in outcomes)
    said = [f"[{_COLORS[status]}]{counts[status]} {status.value}[/]" for status in Status if counts[status]]
    took = sum(outcome.seconds for outcome in outcomes)
    console.print(
        f"{present.many(len(outcomes), 'recording')}: {', '.join(said)}  [dim]{took:.1f} s of replays[/]"
    )
