"""Write the pictures of a recording as files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from reenact.analysis.views.step_pictures import pictures
from reenact.analysis.views.text import many
from reenact.cli.printing import say
from reenact.core import private
from reenact.core.query.facts import RecordingFacts
from reenact.errors import UsageError


def write(facts: RecordingFacts, chosen: Sequence[int], folder: Path) -> None:
    """Write the pictures of those steps as files, and print their names. Raises UsageError."""
    written = 0
    for number in chosen:
        for picture in pictures(facts, facts.steps[number - 1]):
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
        say(f"no pictures in {many(len(chosen), 'step')}")
