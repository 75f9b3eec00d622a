"""`export`: write a recording to one file, or send it as a trace."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, ClassVar

import orjson

from reenact.analysis.interchange.exporters import otel
from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store import bundle
from reenact.core.store.local import load
from reenact.errors import UsageError
from reenact.verbs import export_html, interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, RECORDING, Cli, Ref

STDOUT = Path("-")


class Options(interface.Options):
    """Write a recording to one file, for example to attach to a bug report.

    `reenact import` and `reenact show` read it, and the viewer shows it in any browser.

    With [bold]--html[/bold], or a name that ends with .html, it becomes one page for readers without Reenact.

    With [bold]--otlp[/bold] or [bold]--otlp-json[/bold] it becomes a trace instead, by OpenTelemetry's GenAI
    conventions.
    """

    common: ClassVar = (marks.HOME,)

    ref: Ref
    file: Annotated[
        Path | None,
        Field(description="The file to write, NAME.reenact or NAME.html, or a folder for it."),
        Cli(argument=True),
        LOCAL,
    ] = None
    output: Annotated[
        Path | None,
        Field(description="The same as an option."),
        Cli(names=("--output", "-o")),
        LOCAL,
    ] = None
    html: Annotated[
        bool,
        Field(
            description="Write a page for any browser: conversation, film, timeline, steps. It fetches nothing."
        ),
    ] = False
    viewer: Annotated[
        Path | None,
        Field(
            description="Write the viewer instead, a page into which such files are dropped, for your own site."
        ),
        Cli(metavar="FILE"),
        LOCAL,
    ] = None
    beside: Annotated[
        str | None,
        Field(description="With a page: another recording, to show the differences from it."),
        RECORDING,
        LOCAL,
    ] = None
    force: Annotated[bool, Field(description="Replace an existing file."), LOCAL, marks.NEVER] = False
    salvage: Annotated[
        bool, Field(description="Keep the undamaged parts of a damaged recording, and mark the gaps.")
    ] = False
    otlp: Annotated[
        str,
        Field(description="Send it to this OTLP endpoint instead, as a trace."),
        Cli(metavar="URL"),
        LOCAL,
        marks.NEVER,
    ] = ""
    otlp_header: Annotated[
        tuple[str, ...],
        Field(description="A header of the requests, in addition to OTEL_EXPORTER_OTLP_HEADERS."),
        Cli(metavar="'NAME: VALUE'"),
        LOCAL,
        marks.NEVER,
    ] = ()
    otlp_json: Annotated[
        Path | None,
        Field(description="Write it as a trace in OTLP's JSON to this file; - is standard output."),
        Cli(metavar="FILE"),
        LOCAL,
    ] = None


@dataclass(frozen=True)
class SentTrace:
    """A trace that was sent.

    Attributes:
        recording: The id of its recording.
        target: The address.
        trace: The trace's id.
        spans: The number of its spans.
    """

    recording: str
    target: str
    trace: str
    spans: int


@dataclass(frozen=True)
class Result(interface.Result):
    """The file or the trace.

    Attributes:
        file: The written file.
        notes: The holes of a salvaged recording.
        spans: The number of spans, if the file is a trace.
        output: A trace for standard output.
        sent: The trace that was sent.
    """

    file: Path | None = None
    notes: tuple[str, ...] = ()
    spans: int = 0
    output: bytes = b""
    sent: SentTrace | None = None

    def tree(self) -> dict[str, str | None]:
        """Return the path of the written file as JSON values."""
        return {"file": None if self.file is None else str(self.file)}


def run(options: Options, context: Context) -> Result:
    """Export the recording. Raises ReenactError if it cannot be read, written or sent."""
    if options.file is not None and options.output is not None:
        raise UsageError(f"{options.file} and -o {options.output} are two files: name one")
    if context.files is not None:
        return Result(Path(_job(options, context.files, context).name))
    name = options.file or options.output
    if options.viewer is not None:
        return Result(_viewer(options.viewer, force=options.force))
    if options.html or (name is not None and name.suffix == ".html"):
        return Result(_page(options, name, context))
    if options.beside is not None:
        raise UsageError("--beside needs a page: --html, or a file NAME.html")
    if not options.otlp and options.otlp_json is None:
        target = _file(options, name or Path(), context)
        return Result(target, load(target).notes if options.salvage else ())
    if options.salvage:
        raise UsageError("--salvage writes a file: send or show that one as a trace")
    if name is not None:
        raise UsageError(f"{name}: with --otlp and --otlp-json no other file is written")
    recording = context.store.load(options.ref)
    spans = otel.spans_of(recording)
    file, output = None, b""
    if options.otlp_json is not None:
        data = orjson.dumps(otel.to_json(spans)) + b"\n"
        if options.otlp_json == STDOUT:
            output = data
        else:
            file = _written(options.otlp_json, recording, data, force=options.force)
    sent = None
    if options.otlp:
        address = otel.deliver(spans, options.otlp, otel.headers_of(options.otlp_header))
        sent = SentTrace(recording.id, address, str(spans[0].trace), len(spans))
    return Result(file, (), len(spans), output, sent)


def _job(options: Options, folder: Path, context: Context) -> Path:
    """Write the page or the file of a server's job."""
    return (_page if options.html else _file)(options, folder, context)


def _file(options: Options, target: Path, context: Context) -> Path:
    return bundle.export(
        context.store,
        options.ref,
        target,
        force=options.force,
        whole=not options.salvage,
        progress=partial(context.progress, "exporting"),
        page=lambda path: export_html.packed(path, context, file=_file_name(target)),
    )


def _page(options: Options, name: Path | None, context: Context) -> Path:
    if options.otlp or options.otlp_json is not None or options.salvage:
        raise UsageError("--html writes a page alone: leave out --otlp, --otlp-json and --salvage")
    return export_html.write(options.ref, name, context, beside=options.beside, force=options.force)


def _file_name(given: Path | None) -> str:
    return "" if given is None or given.is_dir() else given.name


def _viewer(file: Path, *, force: bool) -> Path:
    """Write the page that shows exported files."""
    if file.exists() and not force:
        raise UsageError(f"{file} exists; --force replaces it")
    # The browser's code is loaded only for a page with its player.
    file.write_text(import_module("reenact.browser.watch.viewer").viewer(), encoding="utf-8")
    return file


def _written(file: Path, recording: RecordedRun, data: bytes, *, force: bool) -> Path:
    """Write a trace to a file, or to one in a folder."""
    if file.is_dir():
        file /= f"{recording.id}.json"
    if file.exists() and not force:
        raise UsageError(f"{file} is there already; --force replaces it")
    private.write(file, data)
    return file
