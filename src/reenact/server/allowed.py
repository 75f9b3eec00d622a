"""Which recordings' programs this server runs: its own, those of trusted keys, and those that its operator allowed."""

from __future__ import annotations

from pathlib import Path

from reenact.core.query.recording import Recording
from reenact.core.trust import consent
from reenact.errors import ForeignRecording


def allowed(recording: Recording, home: Path) -> None:
    """Raise ForeignRecording, for people who have no terminal here, where the program of a recording may not run."""
    if not consent.steers(recording) or consent.allowed(recording, home):
        return
    raise ForeignRecording(
        f"recording {recording.id}: {consent.standing_of(recording, home).sentence}; it would run "
        f"{consent.command(recording)}. `reenact replay {recording.id}` in a terminal of this machine shows it "
        "and asks; `reenact trust add` and `reenact serve --run-foreign` allow it, too"
    )
