"""Compare the files of a program from outside, on the disk that was laid for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import changes, final_states, first_states
from reenact.core.model.divergence import Verdict
from reenact.core.model.header import salt_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.places import SKIPPED
from reenact.errors import Departure, Divergence
from reenact.run.files.disk import Laid
from reenact.run.files.final import LOG, MIXED, FinalFiles
from reenact.run.files.path_state import is_state_of
from reenact.run.files.upper import Upper, hidden
from reenact.run.files.view import OverlayView

_GIT = ".git"


def compared(recording: RecordedRun, laid: Laid) -> Verdict:
    """Compare the files at the end with the recorded ones."""
    if not laid.entered:
        why = f" ({laid.forbidden})" if laid.forbidden else ""
        return Verdict(recording.id, notes=(f"the program ran on the user's own files{why}",))
    salt = salt_of(recording.header)
    last, here, found = final_states(recording), _seen_on(laid), []
    for path in sorted({*_changed(recording), *_touched(laid, first_states(recording))}):
        if _GIT in path.parts or not SKIPPED.isdisjoint(path.parts):
            continue
        state = last.get(path, NOTHING)
        unknown = state.kind == "file" and not (state.blob or state.print)
        if not unknown and not is_state_of(here(path), state, salt):
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


def compared_last(
    recording: RecordedRun,
    laid: Laid,
    ended: AbstractSet[str],
    logs: AbstractSet[str],
    clean: Callable[[bytes], bytes],
) -> Verdict:
    """Compare the files that another process than the first changed last, when all have ended.

    Args:
        recording: The recording.
        laid: The files that were laid for the run.
        ended: The processes that have ended.
        logs: The files that the module `logging` writes.
        clean: Returns bytes with tokens in place of the recording's secrets.
    """
    files = FinalFiles(recording, _seen_on(laid), clean)
    first, found, uncompared = recording.logs[0].process, [], []
    for path, processes in sorted(files.writers.items()):
        state, name = files.last.get(path, NOTHING), str(laid.here(path))
        unknown = state.kind == "file" and not (state.blob or state.print)
        if processes[-1] == first or unknown or not SKIPPED.isdisjoint(path.parts):
            continue
        if not set(processes) <= ended:
            uncompared.append(f"the file {path} (a process that wrote it had not ended)")
        elif files.same(path):
            continue
        elif any(name == log or name.startswith(f"{log}.") for log in logs):
            uncompared.append(LOG.format(path))
        elif files.mixed(path):
            uncompared.append(MIXED.format(path))
        else:
            found.append(path)
    divergences = [
        Divergence(
            Departure.CHANGED,
            f"main/file:{path}",
            _step(recording, path),
            tuple(files.differing(path)),
            f"the file {path} at the end is not the recorded one"
            + (f"; {len(found) - 1} more differ" if len(found) > 1 else ""),
        )
        for path in found[:1]
    ]
    return Verdict(recording.id, divergences=tuple(divergences), uncompared=tuple(uncompared))


def _seen_on(laid: Laid) -> Callable[[Path], Path]:
    """Return a function that finds the file of a recorded path, from outside of the overlays."""
    view = OverlayView([Upper(Path(layer.path), Path(layer.upper)) for layer in laid.layers], laid.keep)
    return lambda path: Path(view.real(str(laid.here(path)), follow=False))


def _changed(recording: RecordedRun) -> Iterator[Path]:
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


def _step(recording: RecordedRun, path: Path) -> int | None:
    """Return the step after which a path was last seen to change."""
    calls = [
        (log.process, change.call)
        for log in recording.logs
        for change in changes(log)
        if change.how != "first" and path in change.states and change.call is not None
    ]
    steps = {(step.log.process, step.call.number): step.number for step in recording}
    return steps.get(calls[-1]) if calls else None
