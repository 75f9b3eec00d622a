"""Permission to run a recording's program on this server.

Allowed are the server's own recordings, those of trusted keys, and those that the operator has allowed.
"""

from __future__ import annotations

from pathlib import Path

from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import load
from reenact.core.trust import consent
from reenact.errors import ForeignRecording


def allowed(recording: RecordedRun, home: Path) -> None:
    """Raise ForeignRecording if this server may not run the program of a recording.

    The message is for people without a terminal on this machine.
    """
    if not consent.steers(recording) or consent.allowed(recording, home):
        return
    raise ForeignRecording(
        f"recording {recording.id}: {consent.standing_of(recording, home).sentence}; it would run "
        f"{consent.command(recording)}. `reenact replay {recording.id}` in a terminal of this machine shows it "
        "and asks; `reenact trust add` and `reenact serve --run-foreign` allow it, too"
    )


def allowed_at(folder: Path, home: Path) -> None:
    """Raise ForeignRecording if this server may not run the recording in a folder."""
    allowed(load(folder), home)
