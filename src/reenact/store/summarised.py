"""What an index keeps of a recording, wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

from reenact.errors import ReenactError
from reenact.model.facts import RecordingFacts
from reenact.model.summary import StepSummary, Summary, summarise, summarise_step
from reenact.store.details import PARTS, packed
from reenact.store.local import load

STEP = [field.name for field in fields(StepSummary) if field.name not in PARTS]
"""The columns of a step, in their order."""

Summarised: TypeAlias = tuple[Summary, Sequence[Sequence[Any]], Sequence[bytes]]
"""A recording's line, its steps' columns, and the packed rest of what filters ask of them."""


def summarised(path: Path, written: int) -> Summarised:
    """What an index keeps of a recording, which is read for that.

    Args:
        path: Its folder.
        written: When it was last written, in nanoseconds since 1970.
    """
    try:
        facts = RecordingFacts(load(path))
        line = summarise(facts, path=str(path), written=written)
        steps = [summarise_step(step) for step in facts]
        return line, [[getattr(step, name) for name in STEP] for step in steps], packed(steps)
    except Exception as error:
        # A folder that cannot be read is listed as such; it must not keep the others from being listed.
        text = str(error) if isinstance(error, ReenactError) else f"{type(error).__name__}: {error}"
        return (
            Summary(id=path.name, path=str(path), written=written, moment=written / 1e9, broken=text),
            [],
            packed([]),
        )
