"""Write one page about a recording for a newcomer, with the results of running it again."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.analysis.decisive import differences
from reenact.analysis.diff import compare
from reenact.analysis.report import sections
from reenact.analysis.report.html import html
from reenact.analysis.report.markdown import markdown
from reenact.analysis.report.page import Section, redacted
from reenact.analysis.report.story import page
from reenact.core import private
from reenact.core.query.recording import Recording
from reenact.core.redact import Redactor
from reenact.core.store import bundle
from reenact.core.store.local import SUFFIX, LocalStore
from reenact.core.trust.consent import standing_of
from reenact.errors import UsageError
from reenact.run.processes import rules_of
from reenact.team.open import Reaching
from reenact.verbs.diagnose import anomalies
from reenact.verbs.reproduce.attempts import reproduce
from reenact.verbs.reproduce.bisection import bisect
from reenact.verbs.reproduce.trees import summary
from reenact.verbs.reproduce.world import check_world

ATTACHED = 8_000_000
"""Bytes of a recording that still fit into a page; a larger one lies beside it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The content of the page.

    Attributes:
        good: A good run, to show the different answers that it had.
        check: With it: the check for a good outcome, to find the decisive step too.
        times: The number of replays for the page.
        world: Send the recorded GET and HEAD requests again.
        attach: Put the recording in the page, if it is not too large, or beside it.
    """

    good: str = ""
    check: str = ""
    times: int = 0
    world: bool = False
    attach: bool = True

    @property
    def runs(self) -> bool:
        """True if the page needs a program run or a request."""
        return bool(self.times or self.check or self.world)


def report(
    ref: str,
    output: Path,
    wanted: Wanted,
    *,
    command: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    run_foreign: bool = False,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Path | None:
    """Write the page.

    Args:
        ref: The recording.
        output: The page's file: `report.html` or `report.md`.
        wanted: Its content.
        command: Another program than the recorded one.
        home: The folder of the recordings.
        run_foreign: Let the programs of foreign recordings run, where one is to run at all.
        force: Replace files that are there.
        progress: Called with a line for each run of the program.

    Returns:
        The file with the recording where it lies beside the page; None where it is in the page.

    Raises:
        ForeignRecording: A program is to run, of a recording that comes from elsewhere.
        UsageError: Something cannot be meant, or a file is in the way.
        RecordingError: There is no such recording.
    """
    if output.suffix not in (".html", ".md"):
        raise UsageError(f"-o {output}: a page is report.html or report.md")
    if wanted.check and not wanted.good:
        raise UsageError("--check needs a run that went well: --good ID")
    store = Reaching(home)
    recording = store.load(ref)
    other = store.load(wanted.good) if wanted.good else None
    beside = output.with_suffix(SUFFIX)
    for path in (output, beside):
        if path.exists() and not force:
            raise UsageError(f"{path} exists; --force replaces it")
    more = [sections.anomalies(anomalies(recording, home=home))]
    again: dict[str, Any] = {"home": home, "run_foreign": run_foreign, "progress": progress}
    more += _found(recording, other, wanted, command, again)
    data = _exported(store, ref)
    inside = wanted.attach and output.suffix == ".html" and len(data) <= ATTACHED
    name = f"{recording.id}{SUFFIX}" if inside else beside.name
    commands = _commands(recording, other, name, wanted.check)
    standing = standing_of(recording, LocalStore(home).root)
    whole = redacted(page(recording, more, commands, standing=standing), _redactor(recording))
    if output.suffix == ".html":
        _write(output, html(whole, (name, data) if inside else None).encode())
    else:
        _write(output, markdown(whole).encode("utf-8", "replace"))
    if inside:
        return None
    _write(beside, data)
    return beside


def _found(
    recording: Recording,
    other: Recording | None,
    wanted: Wanted,
    command: Sequence[str],
    again: dict[str, Any],
) -> list[Section]:
    """Return the sections about new runs and the good run."""
    more: list[Section] = []
    if wanted.times or wanted.world:
        times = max(wanted.times, 1)
        asked = check_world(recording, **again) if wanted.world else None
        done = reproduce(recording, times=times, command=command, **again)
        more.append(sections.attempts(done, asked))
    if other is None:
        return more
    if wanted.check:
        found = bisect(recording, other, check=wanted.check, command=command, **again)
        more.append(sections.decisive(summary(found), found.changes, found.notes))
    if recording.steps and other.steps:
        more.append(sections.diff(compare(recording, other)))
    more.append(sections.beside(other.name or other.id, differences(recording, other)))
    return more


def _commands(recording: Recording, good: Recording | None, name: str, check: str) -> list[tuple[str, str]]:
    id = recording.id
    rows = [
        ("import the recording", f"reenact import {shlex.quote(name)}"),
        ("show the run", f"reenact show {id}"),
        ("run it again", f"reenact replay {id}"),
        ("check whether it reproduces", f"reenact reproduce {id}"),
        ("write it as a test", f"reenact keep {id}"),
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
    path.parent.mkdir(parents=True, exist_ok=True)
    private.write(path, data)
