"""A whole recording: its line, its origin and program, its processes and steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

from reenact.analysis.views.base import Json, View
from reenact.analysis.views.listing import (
    ServedLineView,
    StoredLineView,
    fields_of_line,
    origin_view,
    parent_view,
    proved,
)
from reenact.analysis.views.steps import ShownStepView, shown_step
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.summary import summarise
from reenact.core.store import shared
from reenact.core.trust import Provenance
from reenact.core.trust.proofs import Proof
from reenact.core.unpack import Archive


class BrowserSessionView(View):
    """A browser session of a recording."""

    number: int


class ProcessView(View):
    """A process that took part: its name, and the file of its events."""

    name: str
    file: str
    pid: int | None
    offset: float
    steps: int
    events: int


class ServedRecordingView(ServedLineView):
    """A recording on a server: its line, and what it says of itself.

    `labels`: those of the tags that people gave it after its run.
    """

    labels: tuple[str, ...]
    header: dict[str, Json]
    program: Json
    source: Json
    notes: tuple[str, ...]
    output: Json
    torn: bool
    processes: tuple[ProcessView, ...]
    browser_sessions: tuple[BrowserSessionView, ...]


class StoredRecordingView(StoredLineView):
    """A recording of this machine with its steps, as `show ID --json` writes it."""

    program: Json
    source: Json
    notes: tuple[str, ...]
    output: Json
    step_list: tuple[ShownStepView, ...]


class EventsView(View):
    """Stored lines of a process's events from number `first` on; `total` is their count."""

    process: str
    first: int
    items: tuple[str, ...]
    total: int


def stored_recording(
    facts: RecordingFacts, chosen: Collection[int], standing: Provenance, proof: Proof | None = None
) -> StoredRecordingView:
    """Return a recording of this machine with some of its steps.

    Args:
        facts: The recording.
        chosen: The numbers of the steps.
        standing: Its origin.
        proof: Its proof, if it has one.
    """
    found = facts.recording
    line = summarise(facts, path=found.path)
    about = fields_of_line(
        line, parent=parent_view(shared.origin(found.header)), origin=origin_view(standing)
    )
    steps = tuple(shown_step(facts.steps[number - 1], brief=True) for number in chosen)
    head = fields_of_head(found)
    return StoredRecordingView(**about, **head, path=line.path, proved=proved(proof), step_list=steps)


def fields_of_head(found: RecordedRun) -> dict[str, Any]:
    """Return the fields of a recording beyond those of its line."""
    sealed = found.logs[0].sealed or {}
    return {
        "notes": tuple(found.notes),
        "program": found.header.get("program"),
        "source": plain(found.header.get("source")),
        "output": plain(sealed["output"]) if "output" in sealed else None,
    }


# -- the events as they are stored -----------------------------------------------------------------------------


def stored(path: Path, first: str) -> Iterator[list[bytes]]:
    """Yield the lines of each process's events, from a folder or an exported file."""
    if path.is_file():
        # Imported here, as few recordings are in zip files.
        limit: int = import_module("reenact.core.store.bundle").LIMIT
        with Archive(path, str(path), limit) as archive:
            names = [name for name in archive.names if name.endswith(".jsonl")]
            for name in sorted(names, key=lambda name: (name != first, name)):
                yield _lines(archive.read(name))
        return
    for file in sorted(path.glob("events*.jsonl"), key=lambda file: (file.name != first, file.name)):
        with shared.opened(file) as opened:
            data = opened.read()
        yield _lines(shared.whole(data, path) if file.name == first else data)


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line]


def process(line: bytes) -> str:
    """Return the process of a header line."""
    return str(_data(line).get("process") or "main")


def call(line: bytes) -> Any:
    """Return the call that a line belongs to, or None."""
    return _data(line).get("call")


def _data(line: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return data if isinstance(data, dict) else {}
