"""Sessions of an earlier run of the server, or recorded into its home by another program."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from reenact.browser.session.session import Session
from reenact.errors import RecordingError
from reenact.run.api.forking import load
from reenact.server.wire.hosted import Hosted, UnknownSessionError


def recalled(project: str, home: Path, id: str) -> Hosted:
    """Return an ended session from its recording. Raises UnknownSessionError."""
    session = Session(id, home=home)
    try:
        footage = session.core.recording.footage(id)
        recording = load(footage.path.parent)
    except RecordingError:
        raise UnknownSessionError(f"there is no session {id} here") from None
    began = datetime.fromtimestamp(footage.path.parent.stat().st_mtime, UTC)
    if isinstance(started := recording.header.get("started"), str):
        began = datetime.fromisoformat(started)
    ended = datetime.fromtimestamp(footage.path.stat().st_mtime, UTC)
    for step in recording.steps:
        if step.call.kind == "browser" and isinstance(step.output, dict) and "success" in step.output:
            session.core.outcomes.append(step.output)
    return Hosted(
        session, project, None, created=began, used=ended, closed=max(began, ended), reason="it was stopped",
        cause="unknown",
    )  # fmt: skip
