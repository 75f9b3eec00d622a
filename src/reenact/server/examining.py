"""What the rules find in recordings."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import Any

from reenact.analyze.anomalies import Choice, examine
from reenact.api.diagnosing import chosen
from reenact.errors import RecordingError
from reenact.model.recording import Recording


class Examiner:
    """Asks the rules that are on in this folder."""

    @cached_property
    def choice(self) -> Choice:
        """The rules, as `reenact.toml` or `pyproject.toml` sets them. Raises UsageError."""
        return chosen()

    def examined(self, recording: Recording) -> dict[str, Any]:
        """What is odd about a recording: `items`, and `problem` where it cannot be examined."""
        try:
            found = examine(recording, self.choice)
        except RecordingError as error:
            return {"items": [], "problem": str(error)}
        return {"items": [{**asdict(one), "others": list(one.others)} for one in found], "problem": None}
