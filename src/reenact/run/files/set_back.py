"""Set the user's own files back to their recorded first states, for a resumed run.

The present files are copied first, into a folder inside of the recording.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.files import databases
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import changes, first_states, roots
from reenact.core.model.header import salt_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.run.files.disk import ENTERED, Laid, Layer
from reenact.run.files.path_state import blob, is_state_of
from reenact.run.files.placing import kind_of, put, remove

COPIES = "set-back"
"""The folder, in a recording's own, of the files that were replaced."""

_LIST = "copies.json"


@dataclass(frozen=True, slots=True)
class SavedPath:
    """A path as it was before it was set back.

    Attributes:
        path: The path.
        kind: `file`, `folder`, `link` or `none`.
        copy: The copy of a file or link, relative to the folder of copies; empty without one.
        known: The recording has this state.
    """

    path: str
    kind: str
    copy: str
    known: bool


class SetBack:
    """The files that a run has changed, to be set back.

    Args:
        recording: The recording that was cut off.
        copies: The folder, which does not exist yet, for copies of the replaced files.
        keep: Folders that are not changed: the store of recordings.
    """

    def __init__(self, recording: RecordedRun, copies: Path, keep: Iterable[Path]) -> None:
        self._recording, self._copies = recording, copies
        self._keep = tuple(map(str, keep))
        self._roots = roots(recording)
        self._first = first_states(recording)
        self._salt = salt_of(recording.header)
        self._paths: Collection[Path] = ()
        self._left: dict[str, list[Path]] = {}

    def run(self, scratch: Path) -> Laid:
        """Copy the files, then set them back. Return the laid files for a replay on them.

        Raises OSError if a file cannot be copied or set back, and CorruptRecording. `scratch` is a folder for notes.
        """
        back = dict(self._chosen())
        if back:
            self._copy(back)
            self._apply(back)
        layers = tuple(Layer(str(root), str(root), str(root), "") for root in self._roots)
        left = [str(path) for paths in self._left.values() for path in paths]
        laid = Laid(str(scratch), layers, self.lacking, (*self._keep, *left))
        scratch.mkdir(exist_ok=True)
        laid.write()
        (scratch / ENTERED).touch()
        return laid

    def _chosen(self) -> Iterator[tuple[Path, tuple[FileState, bool]]]:
        """Yield the paths to set back.

        Each comes with its first state, and True if the recording has the present state.
        """
        used = self._used()
        self._paths = used.keys()
        for path, (states, own) in sorted(used.items()):
            state = self._first.get(path, NOTHING)
            as_first = is_state_of(path, state, self._salt)
            if as_first and not own:
                continue
            known = as_first or any(is_state_of(path, each, self._salt) for each in reversed(states))
            why = ""
            if not self._is_inside(path):
                why = "a link leads out of the folders of the run"
            elif state.kind == "file" and not state.blob:
                why = "" if as_first and state.print else "its bytes are not recorded"
            elif not known and not own:
                why = "something else has changed it since the run was cut off"
            else:
                yield path, (state, known)
                yield from self._beside(path)
            if why:
                self._left.setdefault(why, []).append(path)

    def _beside(self, path: Path) -> Iterator[tuple[Path, tuple[FileState, bool]]]:
        """Yield the files beside a database that the run has left.

        SQLite would apply them to the older one.
        """
        for each in (Path(f"{path}{end}") for end in databases.BESIDE):
            if each not in self._first and each not in self._paths and os.path.lexists(each):
                yield each, (NOTHING, False)

    def _used(self) -> dict[Path, tuple[list[FileState], bool]]:
        """Return the used paths, each with its recorded states, and True if the run has changed it."""
        found: dict[Path, tuple[list[FileState], bool]] = {}
        for change in (each for log in self._recording.logs for each in changes(log)):
            for path, state in change.states.items():
                states, own = found.get(path, ([], False))
                states.append(state)
                found[path] = states, own or change.own
        return found

    @property
    def lacking(self) -> tuple[str, ...]:
        """The files that are not set back, in a sentence for each reason."""
        return tuple(
            f"{first}{f' and {len(more)} more' if more else ''} not set back: {why}"
            for why, (first, *more) in self._left.items()
        )

    def _is_inside(self, path: Path) -> bool:
        above = Path(os.path.realpath(path.parent))
        kept = any(path.is_relative_to(each) for each in self._keep)
        return not kept and any(
            above == root.parent or above.is_relative_to(root)
            for root in self._roots
            if path.is_relative_to(root)
        )

    def _copy(self, back: Mapping[Path, tuple[FileState, bool]]) -> None:
        """Copy the present files, and list them."""
        private.folder(self._copies)
        found = [self._copied(path, known=known) for path, (_, known) in back.items()]
        for path, (state, _) in back.items():
            if state.kind != "folder" and kind_of(path) == "folder":
                found += [self._copied(each, known=False) for each in _below(path) if each not in back]
        list_of = self._copies / _LIST
        list_of.write_bytes(orjson.dumps([asdict(each) for each in found], option=orjson.OPT_INDENT_2))

    def _copied(self, path: Path, *, known: bool) -> SavedPath:
        kind, name = kind_of(path), ""
        if kind == "link" or path.is_file():
            name = str(path).lstrip("/")
            private.folder((self._copies / name).parent)
            shutil.copy2(path, self._copies / name, follow_symlinks=False)
        return SavedPath(str(path), kind, name, known or kind in ("folder", "none"))

    def _apply(self, back: Mapping[Path, tuple[FileState, bool]]) -> None:
        for path, (state, _) in reversed([*back.items()]):
            if kind_of(path) != state.kind:
                remove(path)
        for path, (state, _) in back.items():
            if not is_state_of(path, state, self._salt):
                put(path, state, partial(blob, self._recording))


def free_place(folder: Path) -> Path:
    """Return a folder of copies that does not exist yet, in a recording's own folder."""
    number = 1
    while (folder / COPIES / str(number)).exists():
        number += 1
    return folder / COPIES / str(number)


def undo(copies: Path) -> None:
    """Restore the copied files, and remove the copies.

    Harmless without any. Raises OSError.
    """
    listed = _listed(copies)
    for each in sorted(listed, key=lambda one: one.path, reverse=True):
        if kind_of(Path(each.path)) != each.kind:
            remove(Path(each.path))
    for each in sorted(listed, key=lambda one: one.path):
        path = Path(each.path)
        if each.kind == "folder":
            path.mkdir(parents=True, exist_ok=True)
        elif each.copy:
            path.parent.mkdir(parents=True, exist_ok=True)
            if each.kind == "link":
                path.unlink(missing_ok=True)
            shutil.copy2(copies / each.copy, path, follow_symlinks=False)
    _drop(copies)


def keep_unknown(copies: Path) -> Sequence[str]:
    """Remove the copies whose bytes the recording has. Return the paths of the others."""
    unknown = [each for each in _listed(copies) if not each.known]
    if not unknown:
        _drop(copies)
        return ()
    kept = {copies / each.copy for each in unknown}
    for path in [copies / _LIST, *_below(copies)]:
        if path not in kept and kind_of(path) in ("file", "link"):
            path.unlink(missing_ok=True)
    for path in reversed(list(_below(copies))):
        with suppress(OSError):
            path.rmdir()
    return [each.path for each in unknown]


def _drop(copies: Path) -> None:
    shutil.rmtree(copies, ignore_errors=True)
    with suppress(OSError):
        copies.parent.rmdir()


def _listed(copies: Path) -> list[SavedPath]:
    try:
        tree: list[dict[str, Any]] = orjson.loads((copies / _LIST).read_bytes())
    except FileNotFoundError:
        return []
    return [SavedPath(**each) for each in tree]


def _below(folder: Path) -> Iterator[Path]:
    """Yield all paths in a folder, each folder before what is in it."""
    for above, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            yield Path(above, name)
