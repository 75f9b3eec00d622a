"""`reenact collect`: receive traces of other programs over the network."""

from __future__ import annotations

import logging
import os
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Annotated, ClassVar

from reenact.analysis.views.text import many, one_line
from reenact.cli.printing import say
from reenact.core.extras import needing
from reenact.core.model.storable import LONGEST_TAG
from reenact.core.store.local import LocalStore
from reenact.server.operations import logs
from reenact.server.settings import token_of
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, Shown, recordable

if TYPE_CHECKING:
    from reenact.server.traces import KeptTrace, Traces


class Options(interface.Options):
    """Collect traces over OTLP/HTTP; each becomes a recording.

    Set [bold]OTEL_EXPORTER_OTLP_ENDPOINT[/bold] of the programs to the printed URL. Traces without a model call or a
    tool call are left out. Ctrl-C ends it.
    """

    common: ClassVar = (marks.HOME,)

    port: Annotated[int, Field(ge=0, le=65535, description="The port; 0 is any free one.")] = 4318
    host: Annotated[
        str, Field(description="The address to listen at; by default, loopback."), marks.NEVER
    ] = "127.0.0.1"
    quiet: Annotated[
        float, Field(ge=0.0, description="A trace is complete this many seconds after its last span.")
    ] = 2.0
    tag: Annotated[
        tuple[str, ...], Field(description="A tag for the recordings; may be given several times.")
    ] = ()
    log: logs.Log = None


def run(options: Options, context: Context) -> Shown:
    """Collect traces until Ctrl-C. Raises UsageError."""
    with needing("server", "reenact collect"):
        from reenact.server import traces as collector  # noqa: PLC0415 - no other command should pay for a server

    log = options.log
    token = token_of(os.environ)
    traces = collector.Traces(
        LocalStore(context.home),
        quiet=options.quiet,
        tags=recordable("--tag", options.tag, LONGEST_TAG),
        now=monotonic(),
    )
    address = collector.listen(options.host, options.port)
    if log is None:
        say(f"collecting traces at {address.url}/v1/traces; Ctrl-C stops it")
    if (resumed := traces.waiting) and log is None:
        say(f"taken up from a collector that was cut off: {many(resumed, 'trace')}")
    if log is not None:
        logs.begin(log)
        logs.event("started", command="collect", address=address.url)
    collector.serve(
        traces,
        address,
        kept=lambda kept: _kept(kept, log),
        failed=lambda text: _failed(text, log),
        ended=lambda: _ended(traces, log),
        token=token,
    )
    return Shown()


def _ended(traces: Traces, log: str | None) -> None:
    if log is None:
        say(_summary(traces))
        return
    logs.event("ended", **asdict(traces.counts))


def _failed(text: str, log: str | None) -> None:
    if log is None:
        say(f"reenact: {text}")
        return
    # The text may quote a span, so only the trace's id is logged.
    logs.event("trace_failed", logging.WARNING, trace=text.split()[1])


def _kept(kept: KeptTrace, log: str | None) -> None:
    if log is None:
        say(_line(kept))
        return
    # The sender chooses the name, so it is not logged.
    logs.event("recorded", recording=kept.id, steps=kept.steps, again=kept.again)


def _line(kept: KeptTrace) -> str:
    verb = "recorded anew" if kept.again else "recorded"
    return f"{verb} {kept.id}: {one_line(kept.name, 60)}, {many(kept.steps, 'step')}"


def _summary(traces: Traces) -> str:
    counts = traces.counts
    parts = [f"{many(counts.spans, 'span')} came, {many(counts.recordings, 'recording')} made"]
    if counts.strange:
        parts.append(f"{many(counts.strange, 'trace')} without a model call or a tool left out")
    if counts.late:
        parts.append(f"{many(counts.late, 'span')} too late: an earlier collector recorded their traces")
    return "; ".join(parts)
