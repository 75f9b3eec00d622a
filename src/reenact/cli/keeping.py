"""`reenact export`, `import`, `rm`, `prune`: recordings as files, and getting rid of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from reenact.analysis.interchange import importers
from reenact.cli import collecting, present
from reenact.cli.options import Home, Json, Ref, ids
from reenact.core.model.storable import LONGEST, LONGEST_TAG
from reenact.core.query.summary import Summary
from reenact.core.store import bundle, shared
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore, load
from reenact.errors import ReenactError, UsageError
from reenact.team.open import Reaching
from reenact.verbs.interface import recordable

_AGE = re.compile(r"(\d+)\s*([mhdw])")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command()(export)
    app.command("import")(import_)
    app.command()(rm)
    app.command()(prune)


def export(
    ref: Ref,
    file: Annotated[
        Path, typer.Argument(help="The file to write, NAME.reenact, or a folder for it.", show_default=False)
    ] = Path(),
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    salvage: Annotated[
        bool,
        typer.Option("--salvage", help="Of a damaged recording, keep what is whole and note the holes."),
    ] = False,
    otlp: Annotated[
        str,
        typer.Option(
            "--otlp",
            metavar="URL",
            help="Send it as a trace to this OTLP endpoint instead.",
            show_default=False,
        ),
    ] = "",
    otlp_header: Annotated[
        list[str] | None,
        typer.Option(
            "--otlp-header",
            metavar="'NAME: VALUE'",
            help="A header to send along, besides those of OTEL_EXPORTER_OTLP_HEADERS.",
            show_default=False,
        ),
    ] = None,
    otlp_json: Annotated[
        Path | None,
        typer.Option(
            "--otlp-json",
            metavar="FILE",
            help="Write it as a trace, in OTLP's JSON; - is standard output.",
            show_default=False,
        ),
    ] = None,
    home: Home = None,
) -> None:
    """Write a recording to one file, to attach to a bug report. `reenact import` and `reenact show` read it.

    With [bold]--otlp[/bold] or [bold]--otlp-json[/bold] it becomes a trace instead, by OpenTelemetry's GenAI
    conventions.
    """
    if otlp or otlp_json is not None:
        if salvage:
            raise UsageError("--salvage writes a file: send or show that one as a trace")
        if file != Path():
            raise UsageError(f"{file}: with --otlp and --otlp-json no other file is written")
        if otlp_json is not None:
            collecting.write(Reaching(home), ref, otlp_json, force=force)
        if otlp:
            collecting.send(Reaching(home), ref, otlp, otlp_header or [])
        return
    with present.progress("exporting") as report:
        target = bundle.export(Reaching(home), ref, file, force=force, whole=not salvage, progress=report)
    if salvage:
        for note in load(target).notes:
            present.say(note)
    present.say(f"exported to {target} ({present.size(target.stat().st_size)})")


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Files, each of any format that is known, or folders of them.",
            show_default=False,
        ),
    ],
    *,
    format: Annotated[
        str, typer.Option(help=f"reenact, {', '.join(importers.FORMATS)}; by default recognised.")
    ] = "",
    name: Annotated[str, typer.Option(help="A name for the recordings, instead of the file's.")] = "",
    tag: Annotated[
        list[str] | None,
        typer.Option(help="A tag to give them; may be given several times.", show_default=False),
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Import exported recordings, and runs that other programs wrote down.

    Traces (OTLP with the GenAI conventions or OpenInference, as JSON, JSON lines, protobuf; Langfuse; OpenAI's Agents
    SDK), logs of Inspect, ATIF, Claude Code, Codex, OpenHands, SWE-agent, Who&When, cassettes of vcrpy, chats in
    OpenAI's form (one run, a list, or one per line), Pydantic AI's message JSON. What is imported lists, shows and
    searches like any recording; there is no program to replay, but code that speaks HTTP replays from a cassette by
    reenact.replay().
    """
    store, tags = LocalStore(home), recordable("--tag", tag or (), LONGEST_TAG)
    recordable("--name", [name], LONGEST)
    failures: list[str] = []
    kept: list[dict[str, object]] = []
    for file in _expanded(files, failures):
        try:
            with present.progress(f"importing {file.name}") as report:
                found, new = importers.bring(
                    store, file, format=format, name=name, tags=tags, progress=report
                )
        except ReenactError as error:
            failures.append(str(error))
            continue
        kept.append({"file": str(file), "format": found, "ids": new})
        if not json:
            shown = new[0] if len(new) == 1 else present.many(len(new), "recording")
            present.say(f"imported {shown} from {file} ({found})")
    if json:
        present.dump(kept)
    if failures:
        for failure in failures:
            present.say(f"reenact: {failure}")
        raise typer.Exit(2)


def _expanded(given: list[Path], failures: list[str]) -> Iterator[Path]:
    for path in given:
        try:
            yield from importers.files_in(path)
        except ReenactError as error:
            failures.append(str(error))


def rm(
    refs: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...", help="Ids, or the beginnings of some.", autocompletion=ids, show_default=False
        ),
    ],
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Delete recordings."""
    store = LocalStore(home)
    # All are looked up before any is deleted: a mistyped one among them costs none of the others.
    found = list(dict.fromkeys(store.find(ref) for ref in refs))
    for path in found:
        if path.parent != store.recordings:
            raise UsageError(f"{path} lies outside of {store.recordings}; delete it as a file")
    lines = {line.id: line for line in Index(store).summaries()}
    chosen = [lines.get(path.name) or Summary(path.name, str(path)) for path in found]
    if _agreed(chosen, yes=yes):
        _remove(store, chosen, "reenact rm")


def prune(
    *,
    keep: Annotated[
        int | None, typer.Option(min=0, help="Keep this many, the newest.", show_default=False)
    ] = None,
    older_than: Annotated[
        str, typer.Option(help="Only those last written before: 30d, 12h, 2w.", show_default=False)
    ] = "",
    status: Annotated[
        str, typer.Option(help="Only ok, error, stopped, unsealed or broken.", show_default=False)
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")
    ] = False,
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Delete old recordings: all but the newest, or all from before some time."""
    if keep is None and not older_than:
        raise UsageError("say which to delete: --keep 100, --older-than 30d, or both")
    if status not in ("", "ok", "error", "stopped", "unsealed", "broken"):
        raise UsageError(f"--status {status}: it is one of ok, error, stopped, unsealed, broken")
    store = LocalStore(home)
    lines = Index(store).summaries()
    chosen = lines[keep or 0 :]
    if older_than:
        limit = (datetime.now(UTC).timestamp() - _age(older_than)) * 1e9
        chosen = [line for line in chosen if line.written < limit]
    if status:
        chosen = [line for line in chosen if ("broken" if line.broken else line.status) == status]
    if not chosen:
        present.say(f"nothing to delete among {present.many(len(lines), 'recording')}")
    elif dry_run:
        _name(chosen, "would delete")
    elif _agreed(chosen, yes=yes):
        _remove(store, chosen, "reenact prune")


def _age(text: str) -> int:
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"--older-than {text}: give a number with m, h, d or w, such as 30d")
    return int(match[1]) * _UNITS[match[2]]


def _name(chosen: list[Summary], verb: str) -> None:
    for line in chosen[:20]:
        what = (
            line.broken
            or f"{line.name or '-'}, {present.many(line.steps, 'step')}, {present.ago(line.started)}"
        )
        present.say(f"{verb} {line.id} ({what})")
    if len(chosen) > 20:
        present.say(f"{verb} {len(chosen) - 20} more")


def _agreed(chosen: list[Summary], *, yes: bool) -> bool:
    """Ask the user; a script has to give --yes."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            f"{present.many(len(chosen), 'recording')} would be deleted; without a terminal to ask on, give --yes"
        )
    _name(chosen, "delete")
    return typer.confirm(f"Delete {present.many(len(chosen), 'recording')}?", err=True)


def _remove(store: LocalStore, chosen: list[Summary], why: str) -> None:
    kept = shared.detach(store.recordings, [line.id for line in chosen])
    if kept:
        present.say(
            f"made whole before, as {'it shares' if len(kept) == 1 else 'they share'} lines: {', '.join(kept)}"
        )
    with present.progress("deleting") as report:
        for number, line in enumerate(chosen):
            report(number, len(chosen))
            store.remove(store.folder(line.id), detached=True, why=why)
    present.say(f"deleted {present.many(len(chosen), 'recording')}")
