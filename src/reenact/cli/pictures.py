"""The pictures of a recording: named beside their step, and written out as files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.analysis.views.text import many
from reenact.cli.printing import say
from reenact.core import private
from reenact.core.model.plain import binary
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.errors import UsageError

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"RIFF", "webp"),
)
_HOLDS = ("$bytes", "$blob")


@dataclass(frozen=True, slots=True)
class StepPicture:
    """A picture of a step: its path in the outcome (`images[0].data`), its kind, its bytes."""

    path: str
    kind: str
    data: bytes

    def __str__(self) -> str:
        return f"{self.path}: image/{self.kind}, {len(self.data):,} bytes"


def of(step: StepFacts) -> list[StepPicture]:
    """Return the pictures in a step's outcome."""
    outcome = step.call.outcome
    return [] if outcome is None else list(_found(step, outcome.get("value"), ""))


def _found(step: StepFacts, tree: Any, path: str, *, tagged: bool = False) -> Iterator[StepPicture]:
    if isinstance(tree, list):
        for place, item in enumerate(tree):
            yield from _found(step, item, f"{path}[{place}]")
    elif isinstance(tree, dict):
        if len(tree) == 1 and next(iter(tree)) in _HOLDS:
            data = binary(step.step.log.filled(tree)) or b""
            kind = next((kind for mark, kind in _KINDS if data.startswith(mark)), None)
            if kind is not None:
                yield StepPicture(path, kind, data)
            return
        for name, item in tree.items():
            # A tag of the codec's, and the fields in it, are no part of what a reader calls the place.
            tag = name.startswith("$")
            inner = path if tag or (tagged and name == "fields") else f"{path}.{name}".lstrip(".")
            yield from _found(step, item, inner, tagged=tag)


def write(facts: RecordingFacts, chosen: Sequence[int], folder: Path) -> None:
    """Write the pictures of those steps as files, and name each. Raises UsageError."""
    written = 0
    for number in chosen:
        for picture in of(facts.steps[number - 1]):
            name = re.sub(r"\W+", "-", picture.path).strip("-") or "picture"
            path = folder / f"{number:04d}-{name}.{picture.kind}"
            try:
                private.folder(folder)
                private.write(path, picture.data)
            except OSError as error:
                raise UsageError(f"{path}: {error.strerror}") from error
            say(f"{path}  {len(picture.data):,} bytes")
            written += 1
    if not written:
        say(f"no pictures in what {many(len(chosen), 'step')} gave")
