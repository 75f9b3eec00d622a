"""Compare the files of a program seen from outside, on the disk that was laid for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import changes, final_states, first_states
from reenact.core.model.divergence import Verdict
from reenact.core.query.recording import Recording
from reenact.core.record.places import SKIPPED
from reenact.errors import Departure, Divergence
from reenact.run.files.disk import Laid, is_state_of
from reenact.run.files.upper import Upper, hidden
from reenact.run.files.view import OverlayView

_GIT = ".git"


def compared(recording: Recording, laid: Laid) -> Verdict:
    """Compare the files at the end with the recorded ones."""
    if not laid.entered:
        why = f" ({laid.forbidden})" if laid.forbidden else ""
        return Verdict(recording.id, notes=(f"the program ran on the user's own files{why}",))
    view = OverlayView([Upper(Path(layer.path), Path(layer.upper)) for layer in laid.layers], laid.keep)
    salt = bytes.fromhex(str(recording.header.get("salt", "")))
    last, found = final_states(recording), []
    for path in sorted({*_changed(recording), *_touched(laid, first_states(recording))}):
        if _GIT in path.parts or not SKIPPED.isdisjoint(path.parts):
            continue
        state = last.get(path, NOTHING)
        unknown = state.kind == "file" and not (state.blob or state.print)
        if not unknown and not is_state_of(Path(view.real(str(laid.here(path)), follow=False)), state, salt):
            found.append(path)
    git = any(_GIT in path.parts for path in last)
    uncompared = ("files of Git (they have times)",) if git else ()
    if not found:
        return Verdict(recording.id, compared=("files",), uncompared=uncompared, notes=laid.lacking)
    more = f"; {len(found) - 1} more differ" if len(found) > 1 else ""
    detail = f"the file {found[0]} at the end is not the recorded one{more}"
    departure = Divergence(
        Departure.CHANGED, f"main/file:{found[0]}", _step(recording, found[0]), detail=detail
    )
    return Verdict(recording.id, compared=("files",), uncompared=uncompared, divergences=(departure,))


def _changed(recording: Recording) -> Iterator[Path]:
    """Yield the paths that the recorded run has changed."""
    for log in recording.logs:
        for change in changes(log):
            if change.how != "first":
                yield from change.states


def _touched(laid: Laid, first: dict[Path, FileState]) -> Iterator[Path]:
    """Yield the paths in the changed layers that were not laid there."""
    for layer in laid.layers:
        for folder, folders, files in os.walk(layer.upper):
            for name in (*files, *(one for one in folders if Path(folder, one).is_symlink())):
                path = laid.recorded(Path(layer.path) / Path(folder, name).relative_to(layer.upper))
                if path not in first or not hidden(Path(folder, name)):
                    yield path


def _step(recording: Recording, path: Path) -> int | None:
    """Return the step after which a path was last seen to change."""
    calls = [
        change.call
        for change in changes(recording.logs[0])
        if change.how != "first" and path in change.states and change.call is not None
    ]
    steps = {step.call.number: step.number for step in recording}
    return steps.get(calls[-1]) if calls else None
