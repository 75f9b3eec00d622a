"""`reenact.find`: the recordings and steps that match a filter."""

from __future__ import annotations

import os
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.core.query.filter import Filter
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore, load


@dataclass(frozen=True, slots=True)
class Found:
    """One recording that matches a filter, and its matching steps.

    `steps` is empty if the filter is about recordings only (`tag:staging`, `not error`).
    """

    recording: RecordedRun
    steps: tuple[Step, ...]


def find(filter: str, limit: int | None = 20, *, home: str | os.PathLike[str] | None = None) -> list[Found]:
    """Return the recordings that match a filter, the newest first.

        for found in reenact.find("tool:cancel_order error"):
            print(found.recording.id, [step.number for step in found.steps])

    Args:
        filter: In the language of docs/filters.md: `tool:cancel_order and error`, `tokens > 4000`, `text ~ "refund"`.
        limit: The maximum number of recordings, or None for all.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` here.

    Raises:
        FilterError: The filter does not parse; the text points at the column.
    """
    wanted = Filter(filter)
    index = Index(LocalStore(home))
    try:
        hits = list(index.search(wanted, limit=limit))
    finally:
        index.close()
    found = []
    for hit in hits:
        recording = load(Path(hit.summary.path))
        found.append(Found(recording, tuple(recording.step(number) for number in hit.steps)))
    return found
