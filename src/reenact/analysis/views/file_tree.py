"""The files of a run: the tree at a step, and what has changed."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from reenact.analysis.views.base import View
from reenact.core.files import trees
from reenact.core.files.states import NOTHING, FileState
from reenact.core.query.recorded_run import RecordedRun

_FILES = 1000
"""The maximum number of files whose differences are shown."""

_LINES = 200
"""The maximum number of lines of one file's differences."""

_LONGEST = 400
"""The maximum number of characters of a line."""

_TEXT = 1 << 20
"""The largest file in bytes whose lines are compared."""


class FileView(View):
    """A path at a step.

    `change` is what the run has done to it: `added`, `changed`, `removed`, or `same`. `why` is the reason that a
    file's bytes are not in the recording (`ignored`, `secret`, `large`, `unread`), or empty. `size` is that before, if
    it was removed.
    """

    path: str
    kind: Literal["file", "folder", "link"]
    change: Literal["added", "changed", "removed", "same"]
    size: int
    mode: str
    why: str
    target: str


class FilesView(View):
    """The files that a run used, as they were after a step, null for the end."""

    id: str
    step: int | None
    roots: tuple[str, ...]
    files: tuple[FileView, ...]


class FileDifferenceView(View):
    """A changed file: its lines as a unified difference, or a sentence in their place."""

    path: str
    change: Literal["added", "changed", "removed", "same"]
    lines: tuple[str, ...]
    left_out: int


class FileDifferencesView(View):
    """The files that a step changed, or the whole run if `step` is null.

    `left_out` more files are not listed.
    """

    id: str
    step: int | None
    files: tuple[FileDifferenceView, ...]
    left_out: int = 0


class TreeDifferencesView(View):
    """The files that differ at the ends of two runs."""

    a: str
    b: str
    files: tuple[FileDifferenceView, ...]


def files_view(recording: RecordedRun, step: int | None) -> FilesView:
    """Return the files of a run after a step, or at its end.

    Raises StepNotFound, CorruptRecording.
    """
    first = trees.first_states(recording)
    now = trees.final_states(recording) if step is None else trees.states_at(recording, step)
    found = (_file(path, first.get(path, NOTHING), now[path]) for path in sorted(now))
    return FilesView(
        id=recording.id,
        step=step,
        roots=tuple(map(str, trees.roots(recording))),
        files=tuple(one for one in found if one is not None),
    )


def step_differences(recording: RecordedRun, step: int | None) -> FileDifferencesView:
    """Return the changes of files by a step, or by the whole run.

    Raises StepNotFound, CorruptRecording.
    """
    if step is None:
        changed = trees.differences(trees.first_states(recording), trees.final_states(recording))
    else:
        changed = trees.changed_states(recording, step)
    shown = dict(islice(changed.items(), _FILES))
    return FileDifferencesView(
        id=recording.id,
        step=step,
        files=differences(shown, blobs_of(recording)),
        left_out=len(changed) - len(shown),
    )


def root_of(path: Path, roots: Sequence[Path]) -> Path:
    """Return the innermost of some folders that contains a path."""
    return max((root for root in roots if path.is_relative_to(root)), key=lambda root: len(root.parts))


def tree_differences(one: RecordedRun, other: RecordedRun) -> tuple[FileDifferenceView, ...]:
    """Return the differences of the files of two runs at their ends.

    A path counts within its recorded folder. Raises CorruptRecording.
    """
    changed = trees.differences(_by_name(one), _by_name(other))
    return differences(changed, blobs_of(one), blobs_of(other))


def _by_name(recording: RecordedRun) -> dict[Path, FileState]:
    roots = trees.roots(recording)
    return {
        path.relative_to(root_of(path, roots)): state for path, state in trees.final_states(recording).items()
    }


def blobs_of(recording: RecordedRun) -> Callable[[str], bytes]:
    """Return the function that reads the bytes of an address."""
    return recording.logs[0].blob


def differences(
    changed: Mapping[Path, tuple[FileState, FileState]],
    old_blobs: Callable[[str], bytes],
    new_blobs: Callable[[str], bytes] | None = None,
) -> tuple[FileDifferenceView, ...]:
    """Return the differences of changed paths, each as before and after.

    Raises CorruptRecording.
    """
    return tuple(
        _difference(path, old, new, _text(old, old_blobs), _text(new, new_blobs or old_blobs))
        for path, (old, new) in changed.items()
    )


def _file(path: Path, first: FileState, now: FileState) -> FileView | None:
    shown = first if now.kind == "none" else now
    if shown.kind == "none":
        return None
    return FileView(
        path=str(path),
        kind=shown.kind,
        change=_change(first, now),
        size=shown.size,
        mode=f"{shown.mode:o}",
        why=shown.why,
        target=shown.target,
    )


def _change(old: FileState, new: FileState) -> Literal["added", "changed", "removed", "same"]:
    if old.kind == "none":
        return "same" if new.kind == "none" else "added"
    if new.kind == "none":
        return "removed"
    same = (old.kind, old.mode, old.size, old.blob, old.print, old.target)
    return "same" if same == (new.kind, new.mode, new.size, new.blob, new.print, new.target) else "changed"


def _text(state: FileState, blobs: Callable[[str], bytes]) -> list[str] | str:
    """Return a file's lines, or a sentence in place of them."""
    if state.kind == "none":
        return []
    if state.kind == "folder":
        return f"a folder, mode {state.mode:o}"
    if state.kind == "link":
        return f"a link to {state.target}"
    if not state.blob:
        return f"{state.size} bytes, not kept ({state.why or 'unknown'})"
    if state.size > _TEXT:
        return f"{state.size} bytes"
    try:
        return state.content(blobs).decode().splitlines()
    except UnicodeDecodeError:
        return f"{state.size} bytes, not text"


def _difference(
    path: Path, old: FileState, new: FileState, before: list[str] | str, after: list[str] | str
) -> FileDifferenceView:
    if isinstance(before, str) or isinstance(after, str):
        lines = [f"-{before}"] if isinstance(before, str) else []
        lines += [f"+{after}"] if isinstance(after, str) else []
        if old.kind == "none" or new.kind == "none":
            lines = [line[1:] for line in lines]
    else:
        lines = list(islice(difflib.unified_diff(before, after, lineterm="", n=2), 2, _LINES * 20))
        if old.mode != new.mode and "none" not in {old.kind, new.kind}:
            lines.insert(0, f"mode {old.mode:o} -> {new.mode:o}")
    return FileDifferenceView(
        path=str(path),
        change=_change(old, new),
        lines=tuple(line[:_LONGEST] for line in lines[:_LINES]),
        left_out=max(0, len(lines) - _LINES),
    )
