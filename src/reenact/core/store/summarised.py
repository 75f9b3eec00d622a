"""The index rows of a recording, for every kind of store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from reenact.core.query.facts import RecordingFacts
from reenact.core.query.summary import StepSummary, Summary, broken, summarise, summarise_step
from reenact.core.store.details import PARTS, packed
from reenact.core.store.local import load
from reenact.core.trust import Identity, origin_of
from reenact.errors import ReenactError

STEP = [field.name for field in fields(StepSummary) if field.name not in PARTS]
"""The columns of a step, in their order."""

Summarised: TypeAlias = tuple[Summary, Sequence[Sequence[Any]], Sequence[bytes]]
"""A recording's summary, its steps' columns, and the packed other values for filters."""


def summarised(path: Path, written: int, home: Path | None = None) -> Summarised:
    """Read a recording and return its index rows.

    Args:
        path: Its folder.
        written: The time it was last written, in nanoseconds since 1970.
        home: The home that lists it; recordings of its own are marked.
    """
    try:
        recording = load(path)
        facts = RecordingFacts(recording)
        line = summarise(facts, path=str(path), written=written)
        origin = origin_of(recording.logs, Identity.of(home) if home is not None else None, path)
        line = replace(
            line,
            seal=origin.seal.value,
            signer=origin.key,
            here=origin.here,
            endorser=origin.endorser,
        )
        steps = [summarise_step(step) for step in facts]
        return line, [[getattr(step, name) for name in STEP] for step in steps], packed(steps)
    except Exception as error:
        # It is listed as broken, so that the other recordings can still be listed.
        return unsummarised(path, written, reason(error))


def unsummarised(path: Path, written: int, why: str) -> Summarised:
    """Return the index rows of a recording that cannot be summarised: the reason, in one line.

    Args:
        path: Its folder.
        written: The time it was last written, in nanoseconds since 1970.
        why: The reason.
    """
    return broken(path.name, path=str(path), written=written, why=why), [], packed([])


def reason(error: Exception) -> str:
    """Return the reason in words that a recording cannot be summarised."""
    if isinstance(error, ReenactError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"it is damaged, or no recording of ours ({type(error).__name__}: {error})"
