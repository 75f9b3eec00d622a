"""`report`: write one page about a recording, with the results of running it again."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from reenact.analysis.decisive import differences
from reenact.analysis.diff import compare
from reenact.analysis.pages.blocks import Section, redacted
from reenact.analysis.pages.html import page_html
from reenact.analysis.pages.markdown import markdown
from reenact.analysis.report import sections
from reenact.analysis.report.story import page
from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.model.header import salt_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.redact import Redactor
from reenact.core.store import bundle
from reenact.core.store.local import SUFFIX, LocalStore
from reenact.core.trust.consent import standing_of
from reenact.errors import UsageError
from reenact.run.processes import rules_of
from reenact.verbs import interface, marks
from reenact.verbs.diagnose import anomalies
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, RECORDING, Cli, Command, Ref, WireType
from reenact.verbs.player import player_of
from reenact.verbs.reproduce.attempts import reproduce
from reenact.verbs.reproduce.bisection import bisect
from reenact.verbs.reproduce.world import check_world

ATTACHED = 8_000_000
"""Bytes of a recording that still fit into a page; a larger one lies beside it."""


class Options(interface.Options):
    """Write one page about a recording, for readers without Reenact.

    It shows the task, the answer, the steps, a browser session, the environment, and commands to continue with.

    It runs nothing without --times, --check or --check-world.

    [bold]reenact report last -o report.html --good 3f9a[/bold]
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME)

    ref: Ref
    command: Command = ()
    output: Annotated[
        Path | None,
        Field(description="The page: report.html or report.md."),
        Cli(names=("--output", "-o"), required=True),
        LOCAL,
    ] = None
    format: Annotated[
        Literal["html", "md"], Field(description="The form of the page."), Cli(offered=False)
    ] = "html"
    good: Annotated[
        str | None,
        Field(description="A good run, to compare the answers."),
        RECORDING,
    ] = None
    check: Annotated[
        str, Field(description="With --good: also find the decisive step, as `reenact bisect --check`.")
    ] = ""
    times: Annotated[
        int, Field(ge=0, description="The number of replays for the page; by default none."), WireType(le=100)
    ] = 0
    check_world: Annotated[bool, Field(description="Send the recorded GET and HEAD requests again.")] = False
    attach: Annotated[
        bool, Field(description="Attach the recording: in the page, or as a file beside it."), LOCAL
    ] = True
    force: Annotated[bool, Field(description="Replace existing files."), LOCAL, marks.NEVER] = False

    @property
    def starts_programs(self) -> bool:
        """True if the page needs a program run or a request."""
        return bool(self.times or self.check or self.check_world)


@dataclass(frozen=True)
class Result(interface.Result):
    """The written page.

    Attributes:
        output: Its file.
        beside: The file with the recording if it lies beside the page; None if it is in the page.
    """

    output: Path
    beside: Path | None

    def tree(self) -> None:
        """Return None: the page is a file."""


def run(options: Options, context: Context) -> Result:
    """Write the page.

    Raises:
        ForeignRecording: A program is to run, of a recording that comes from elsewhere.
        UsageError: Options contradict each other, or a file is in the way.
        RecordingError: There is no such recording.
    """
    output = options.output
    if output is None:
        output = (context.files or Path()) / f"{options.ref}.{options.format}"
    if output.suffix not in (".html", ".md"):
        raise UsageError(f"-o {output}: a page is report.html or report.md")
    if options.check and not options.good:
        raise UsageError("--check needs a run that went well: --good ID")
    run_foreign = context.run_foreign
    if options.starts_programs:
        refs = (options.ref, options.good) if options.check and options.good else (options.ref,)
        run_foreign = context.may_run(refs, options.command, requests=options.check_world)
    store = context.store
    recording = store.load(options.ref)
    other = store.load(options.good) if options.good else None
    beside = output.with_suffix(SUFFIX)
    for path in (output, beside):
        if path.exists() and not options.force:
            raise UsageError(f"{path} exists; --force replaces it")
    more = [sections.anomalies(anomalies(recording, home=context.home))]
    again: dict[str, Any] = {"home": context.home, "run_foreign": run_foreign, "progress": context.say}
    more += _found(recording, other, options, again)
    data = _exported(store, options.ref)
    inside = options.attach and output.suffix == ".html" and len(data) <= ATTACHED
    name = f"{recording.id}{SUFFIX}" if inside else beside.name
    commands = _commands(recording, other, name, options.check)
    standing = standing_of(recording, LocalStore(context.home).root)
    whole = redacted(page(recording, more, commands, standing=standing), redactor_of(recording))
    if output.suffix == ".html":
        player = player_of([options.ref], recording, context)
        _write(output, page_html(whole, (name, data) if inside else None, player).encode())
    else:
        _write(output, markdown(whole).encode("utf-8", "replace"))
    if not inside:
        _write(beside, data)
    return Result(output, None if inside else beside)


def _found(
    recording: RecordedRun,
    other: RecordedRun | None,
    options: Options,
    again: dict[str, Any],
) -> list[Section]:
    """Return the sections about new runs and the good run."""
    more: list[Section] = []
    if options.times or options.check_world:
        times = max(options.times, 1)
        asked = check_world(recording, **again) if options.check_world else None
        done = reproduce(recording, times=times, command=options.command, **again)
        more.append(sections.attempts(done, asked))
    if other is None:
        return more
    if options.check:
        found = bisect(recording, other, check=options.check, command=options.command, **again)
        more.append(sections.decisive(found.sentence, found.changes, found.notes))
    if recording.steps and other.steps:
        more.append(sections.diff(compare(recording, other)))
    more.append(sections.beside(other.name or other.id, differences(recording, other)))
    return more


def _commands(
    recording: RecordedRun, good: RecordedRun | None, name: str, check: str
) -> list[tuple[str, str]]:
    """Return the commands for a reader who has the page and its recording on any machine."""
    id, may = recording.id, "--run-foreign"
    rows = [
        ("import the recording", f"reenact import {shlex.quote(name)}"),
        ("show the run", f"reenact show {id}"),
        (f"run it again; {may} allows the program of another machine", f"reenact replay {id} {may}"),
        ("check whether it reproduces", f"reenact reproduce {id} {may}"),
        ("write it as a test", f"reenact keep {id} {may}"),
    ]
    if good is not None:
        asked = f"--check {shlex.quote(check)}" if check else "--check-output"
        rows.append(("find the decisive step", f"reenact bisect {id} --good {good.id} {asked} {may}"))
    return rows


def redactor_of(recording: RecordedRun) -> Redactor:
    """Return the redactor of a recording: its rules, its salt, and today's environment."""
    salt = salt_of(recording.header)
    return Redactor(rules_of(recording.header), salt=salt, environ=dict(os.environ))


def _exported(store: LocalStore, ref: str) -> bytes:
    source = store.find(ref)
    if source.is_file():
        return source.read_bytes()
    with tempfile.TemporaryDirectory(prefix="reenact-") as place:
        return bundle.export(store, ref, Path(place, f"recording{SUFFIX}")).read_bytes()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    private.write(path, data)
