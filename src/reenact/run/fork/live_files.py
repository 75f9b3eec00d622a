"""Record the files of the live part of a fork, or of a resumed run."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

from reenact.core.boundary import Run, entered
from reenact.core.files.trees import first_states, singles, states_until, whole_roots
from reenact.core.model.header import salt_of
from reenact.core.model.log import CallRecord
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.given_folders import script_folders
from reenact.core.record.places import Places
from reenact.core.record.recorder import Recorder


def record_files(
    run: Run,
    recorder: Recorder,
    recording: RecordedRun,
    received: Iterable[CallRecord],
    home: str,
    *,
    shares: bool = False,
    until: float | None = None,
) -> None:
    """Record the files that the program uses and changes from here on.

    Files that differ from the recorded ones by then are recorded as changed from outside.

    Args:
        run: The run under way.
        recorder: Writes the events.
        recording: The recording that the program was answered from so far.
        received: The calls of the recording whose outcomes the program has received.
        home: The home of the recordings, which is left out.
        shares: The recording under way has that recording's events so far, and no later ones.
        until: The time of that recording that the program has come to; None: that of the last outcome.
    """
    last = last_received(received)
    # Changes found here come after the last outcome, and before a call that is made now.
    recorder.snapshots.last = 0 if last is None else last.number
    with entered(None), nullcontext() if run.view is None else run.view.shown():
        folders = (*script_folders(), str(Path.cwd()), *map(str, whole_roots(recording)))
        salt = salt_of(recording.header)
        files = recorder.record_files(Places(folders, (home,)), salt, run.view)
        behind = -1.0 if last is None or last.outcome is None else float(last.outcome["t"])
        first = first_states(recording)
        told = first_states(recording, behind) if shares else first
        files.resume(
            first, states_until(recording, behind if until is None else until), told, singles(recording)
        )
    run.files = files


def last_received(calls: Iterable[CallRecord]) -> CallRecord | None:
    """Return the call whose outcome came last, or None."""
    ended = [call for call in calls if call.outcome is not None]
    return max(ended, key=lambda call: float((call.outcome or {})["t"]), default=None)
