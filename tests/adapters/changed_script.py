"""A script that is recorded once, and replayed after changes of its text."""

from __future__ import annotations

from pathlib import Path

from tests.soak.scripts.running import Ran, record, replay


class ChangedScript:
    """A recorded script."""

    def __init__(self, folder: Path, text: str) -> None:
        self._script, self._home, self._text = folder / "script.py", folder / "home", text
        self._script.write_text(text)
        assert record(self._script, self._home).status == 0

    def replay(self, before: str, after: str) -> Ran:
        """Replay it with one part of its text changed."""
        assert before in self._text
        self._script.write_text(self._text.replace(before, after))
        return replay(self._script, self._home)
