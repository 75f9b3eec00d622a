"""`verify`: replay a fleet of recordings against today's code."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from reenact.analysis.views.verification import Outcome, Status, VerificationView, verification
from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.query.filter import Filter
from reenact.core.store.base import Library
from reenact.core.store.local import SUFFIX, LocalStore
from reenact.errors import UsageError
from reenact.run import launch
from reenact.team.open import place_of
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, RECORDING, Cli, Ignore, Live, Tools, WireType
from reenact.verbs.replay import OnDivergence
from reenact.verbs.verify import pages, verify
from reenact.verbs.verify.cluster import Cluster
from reenact.verbs.verify.fleet import TIMEOUT
from reenact.verbs.verify.shard import Shard


class Engines(StrEnum):
    """The engines that run the replays."""

    LOCAL = "local"
    RAY = "ray"


class Options(interface.Options):
    """Replay many recordings against today's code, in parallel, each in a process of its own.

    Foreign recordings are refused by name, and the others run; --run-foreign runs them too, and --entry runs all with
    your function.

    Exit status: 0 all as recorded (or better), 1 some differ, 2 could not begin, or foreign recordings were refused.
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME, marks.TEAM, marks.JSON)
    runs_programs: ClassVar = True
    sorts_foreign: ClassVar = True

    refs: Annotated[
        tuple[str, ...],
        Field(description="Ids, files, folders of files. By default all recordings."),
        Cli(argument=True, metavar="[RECORDING...]"),
        RECORDING,
    ] = ()
    entry: Annotated[
        str,
        Field(
            description="The function that runs the program: pkg.module:function. By default the recorded commands."
        ),
        WireType(max_length=200),
    ] = ""
    filter: Annotated[str, Field(description="Only recordings that match it."), LOCAL, marks.ANYONE] = ""
    workers: Annotated[
        int,
        Field(ge=0, description="The number of parallel replays; 0: one for each core."),
        Cli(names=("--workers", "-j")),
        WireType(le=64),
        marks.ANYONE,
    ] = 0
    timeout: Annotated[
        float,
        Field(ge=0.1, description="The limit of each replay, in seconds."),
        WireType(le=3600),
        marks.ANYONE,
    ] = TIMEOUT
    engine: Annotated[
        Engines,
        Field(description="Run the replays on this machine's cores, or on a Ray cluster."),
        LOCAL,
    ] = Engines.LOCAL
    address: Annotated[
        str,
        Field(description="The address of the Ray cluster: ray://head:10001, or auto on one of its nodes."),
        LOCAL,
        marks.NEVER,
    ] = ""
    shard: Annotated[
        str,
        Field(description="Only a part of the recordings, for parallel CI jobs: 2/5 is the second of five."),
        LOCAL,
        marks.ANYONE,
    ] = ""
    from_zero: Annotated[
        bool,
        Field(description="Count the parts of --shard from 0: 0/5 is the first."),
        LOCAL,
        marks.ANYONE,
    ] = False
    exclude: Annotated[
        tuple[str, ...],
        Field(
            description="Files of this folder that are not copied to the nodes of the cluster, as in a .gitignore."
        ),
        LOCAL,
        marks.ANYONE,
    ] = ()
    resume: Annotated[
        bool,
        Field(description="Skip recordings that an earlier run has verified with the same code and options."),
        LOCAL,
    ] = False
    live: Live = ()
    tools: Tools = ()
    ignore: Ignore = ()
    on_divergence: OnDivergence = "raise"
    junit: Annotated[Path | None, Field(description="Write JUnit XML to this file."), LOCAL] = None
    html: Annotated[Path | None, Field(description="Write a page to this file."), LOCAL] = None


@dataclass(frozen=True)
class Result(interface.Result):
    """The outcomes."""

    view: VerificationView

    @property
    def status(self) -> int:
        """1 if some recording does not run as recorded, 2 if some were refused, else 0."""
        bad = {failures.status for failures in self.view.failures}
        return 1 if bad - {Status.REFUSED} else 2 if bad else 0

    def tree(self) -> Sequence[Outcome]:
        """Return the outcomes as views, in the order of the recordings."""
        return self.view.outcomes


def run(options: Options, context: Context) -> Result:
    """Replay the recordings, and write the files that were asked for. Raises as `verify` does."""
    _check(options)
    chosen_options = launch.Options(options.live, options.ignore, options.on_divergence, tools=options.tools)
    with context.opened() as (store, index):
        # A job names full ids: none of them stands for a file or a folder here.
        chosen = list(options.refs) if context.files else _chosen(options, store, index)
        if options.shard:
            chosen = Shard.parsed(options.shard, first=0 if options.from_zero else 1).among(chosen)
        place = place_of() if context.team else None
        cluster = Cluster(
            options.address, options.workers, excludes=options.exclude, team=place, say=context.note
        )
        counted = _Counted(context, len(chosen))
        outcomes = verify(
            chosen, entry=options.entry, options=chosen_options, workers=options.workers, timeout=options.timeout,
            home=context.home, progress=counted, engine=cluster if options.engine is Engines.RAY else None,
            resume=options.resume, team=cast("Any", store) if context.team else None, run_foreign=context.run_foreign,
        )  # fmt: skip
    found, files = verification(outcomes), context.files
    for path, write in (
        (options.junit or (files and files / "verify.xml"), pages.junit),
        (options.html or (files and files / "verify.html"), pages.page),
    ):
        if path is not None:
            private.write(path, write(found))
    return Result(found)


def _check(options: Options) -> None:
    """Raise UsageError for options that contradict each other, before an hour of replays."""
    if options.engine is not Engines.RAY and (options.address or options.exclude):
        name = "--address" if options.address else "--exclude"
        raise UsageError(f"{name} is of a Ray cluster: --engine ray")
    if options.from_zero and not options.shard:
        raise UsageError("--from-zero is how parts are counted: --shard 0/5 --from-zero")
    for name, file in (("--junit", options.junit), ("--html", options.html)):
        if file is not None and not file.absolute().parent.is_dir():
            raise UsageError(f"{name} {file}: there is no folder {file.parent}")


class _Counted:
    """Reports the number of finished replays to the context."""

    def __init__(self, context: Context, total: int) -> None:
        self._context, self._total = context, total
        self._done = self._bad = 0

    def __call__(self, outcome: Outcome) -> None:
        self._done += 1
        self._bad += not outcome.status.good
        self._context.progress(
            "verifying",
            self._done,
            self._total,
            label=f"{outcome.recording}: {outcome.status.value}",
            note=f"{self._bad} not as they should be",
        )


def _chosen(options: Options, store: LocalStore, index: Library) -> list[str]:
    """Return the recordings to replay: ids, files, and those of folders."""
    wanted = Filter(options.filter)
    files = [
        str(path)
        for ref in options.refs
        for path in (sorted(Path(ref).glob(f"**/*{SUFFIX}")) if _is_folder(ref) else [ref])
    ]
    if not options.refs:
        files = store.ids()
    if options.filter:
        meant = {hit.summary.id for hit in index.search(wanted)}
        files = [ref for ref in files if ref in meant]
    if not files:
        where = f" for which `{options.filter}` holds" if options.filter else ""
        listed = "reenact list" if store.place == str(store.root) else "reenact list --team"
        raise UsageError(f"there are no recordings to verify{where}; `{listed}` shows what there is")
    return files


def _is_folder(ref: str) -> bool:
    return Path(ref).is_dir() and not (Path(ref) / "events.jsonl").exists()
