"""`reenact report`: one page for a stranger."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from reenact.analyze.decisive import differences
from reenact.analyze.diff import compare
from reenact.api.diagnosing import anomalies
from reenact.cli import present
from reenact.cli.options import Command, Home, Ref, ids
from reenact.cli.reproducing import summary
from reenact.errors import UsageError
from reenact.family import rules_of
from reenact.model.recording import Recording
from reenact.redact import Redactor
from reenact.report import sections
from reenact.report.html import html
from reenact.report.markdown import markdown
from reenact.report.page import Section, redacted
from reenact.report.story import page
from reenact.reproduction import bisect, reproduce
from reenact.reproduction.world import check_world
from reenact.store import bundle
from reenact.store.local import SUFFIX, LocalStore

ATTACHED = 8_000_000
"""Bytes of a recording that still fit into a page; a larger one lies beside it."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(report)


def report(
    ref: Ref,
    command: Command = None,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page: report.html or report.md.", show_default=False)
    ],
    good: Annotated[
        str,
        typer.Option(help="A run that went well, to show what it was told otherwise.", autocompletion=ids),
    ] = "",
    check: Annotated[
        str, typer.Option(help="With --good: find the decisive step too, as `reenact bisect --check`.")
    ] = "",
    times: Annotated[
        int, typer.Option(min=0, help="How often to replay it for the page; 0 for not at all.")
    ] = 2,
    world: Annotated[
        bool, typer.Option("--check-world", help="Ask the recorded GET and HEAD requests again.")
    ] = False,
    attach: Annotated[
        bool, typer.Option("--attach/--no-attach", help="Put the recording in the page, or beside it.")
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    home: Home = None,
) -> None:
    """Write one page about a recording for somebody who has never seen it: what was asked, what came out, what
    happened, where it ran, whether it reproduces, and the commands to go on with.

    [bold]reenact report last -o report.html --good 3f9a[/bold]
    """
    if output.suffix not in (".html", ".md"):
        raise UsageError(f"-o {output}: a page is report.html or report.md")
    if check and not good:
        raise UsageError("--check needs a run that went well: --good ID")
    store = LocalStore(home)
    recording = store.load(ref)
    other = store.load(good) if good else None
    beside = output.with_suffix(SUFFIX)
    for path in (output, beside):
        if path.exists() and not force:
            raise UsageError(f"{path} exists; --force replaces it")
    words = list(command or ())
    words = words[1:] if words[:1] == ["--"] else words
    more: list[Section] = [sections.anomalies(anomalies(recording, home=home))]
    if times or world:
        done = reproduce(recording, times=max(times, 1), command=words, home=home, progress=present.say)
        asked = check_world(recording, progress=present.say) if world else None
        more.append(sections.attempts(done, asked))
    if other is not None:
        if check:
            found = bisect(recording, other, check=check, command=words, home=home, progress=present.say)
            more.append(sections.decisive(summary(found), found.changes, found.notes))
        if recording.steps and other.steps:
            more.append(sections.diff(compare(recording, other)))
        more.append(sections.beside(other.name or other.id, differences(recording, other)))
    data = _exported(store, ref)
    inside = attach and output.suffix == ".html" and len(data) <= ATTACHED
    name = f"{recording.id}{SUFFIX}" if inside else beside.name
    whole = redacted(page(recording, more, _commands(recording, other, name, check)), _redactor(recording))
    if output.suffix == ".html":
        _write(output, html(whole, (name, data) if inside else None).encode())
    else:
        _write(output, markdown(whole).encode("utf-8", "replace"))
    if not inside:
        _write(beside, data)
    with_it = "with the recording in it" if inside else f"the recording lies beside it: {beside}"
    present.say(f"wrote {output} ({present.size(output.stat().st_size)}), {with_it}")


def _commands(recording: Recording, good: Recording | None, name: str, check: str) -> list[tuple[str, str]]:
    id = recording.id
    rows = [
        ("bring the recording into your store", f"reenact import {shlex.quote(name)}"),
        ("see the run", f"reenact show {id}"),
        ("run it again", f"reenact replay {id}"),
        ("see whether it reproduces", f"reenact reproduce {id}"),
        ("keep it as a test", f"reenact keep {id}"),
    ]
    if good is not None:
        asked = f"--check {shlex.quote(check)}" if check else "--check-output"
        rows.append(("find the decisive step", f"reenact bisect {id} --good {good.id} {asked}"))
    return rows


def _redactor(recording: Recording) -> Redactor:
    salt = bytes.fromhex(str(recording.header.get("salt", "")))
    return Redactor(rules_of(recording.header), salt=salt, environ=dict(os.environ))


def _exported(store: LocalStore, ref: str) -> bytes:
    source = store.find(ref)
    if source.is_file():
        return source.read_bytes()
    with tempfile.TemporaryDirectory(prefix="reenact-") as place:
        return bundle.export(store, ref, Path(place, f"recording{SUFFIX}")).read_bytes()


def _write(path: Path, data: bytes) -> None:
    """As private as the store that it comes from."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    part.replace(path)
