"""`compare_sessions`, and sessions as recordings, which `diff` and `diagnose` read."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import orjson

from reenact.analysis.diff import Diff
from reenact.analysis.interchange import importers
from reenact.core.model.plain import parsed
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import LocalStore
from reenact.lesson.session import Session, session_of
from reenact.verbs.diff import diff


def compare_sessions(first: Session, second: Session, *, ignore: Iterable[str] = ()) -> Diff:
    """Compare the messages, tool calls and outputs of two sessions with `reenact.diff`.

        found = compare_sessions("sessions/monday.json", "sessions/tuesday.json")
        if found.parting:
            print(found.parting.why, found.parting.a, found.parting.b)

    Args:
        first: A SessionRecord, its dict, its file, or a loaded recording.
        second: The other one.
        ignore: Parts of questions to leave out, as for `reenact.diff`.

    Raises:
        RecordingError: A file cannot be read, or is no session.
        UsageError: `ignore` names no part.
    """
    return diff(imported(first), imported(second), ignore=ignore)


def imported(session: Session) -> RecordedRun:
    """Return a session as the recording that `reenact import` makes of its file.

    The recording is in a temporary folder, which is removed with it.

    Raises NotARecording if the session contains no message of a model.
    """
    record = session_of(session)
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS
    document = orjson.loads(orjson.dumps(asdict(record), default=str, option=options))
    for message in document["messages"]:
        for part in message["parts"]:
            if part.get("kind") == "tool-return":
                # In a session that was made from a recording, a tool's result is text.
                part["content"] = parsed(part.get("content"))
    _, (run,) = importers.runs_of(document, Path(f"session {record.session_id}"), "lesson")
    folder = Path(tempfile.mkdtemp(prefix="reenact-"))
    try:
        store = LocalStore(folder)
        recording = store.load(importers.keep(store, run))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(recording, shutil.rmtree, folder, ignore_errors=True)
    return recording
