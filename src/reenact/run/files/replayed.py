"""The files of a replayed process: recorded changes, and the comparison at the end."""

from __future__ import annotations

import os
import shutil
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from reenact.core.boundary import Answer, entered
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import changes, final_states, first_states, has_files
from reenact.core.model.log import CallRecord, Log
from reenact.core.query.recording import Recording
from reenact.core.replay.replayer import Replayer
from reenact.core.store.local import LocalStore
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run.files.disk import LIVE, Disk, Laid, blob, is_state_of
from reenact.run.files.redirect import NOT_COVERED, FileRedirection
from reenact.run.files.upper import Upper, hidden

_OUTER = frozenset(("model", "http", "input", "websocket", "mcp"))
"""Kinds of calls without the program's code inside: other code changes files meanwhile."""

_TEXT = 1 << 16
_CODE = ("__pycache__", ".pyc")


class ReplayedFiles:
    """Puts recorded changes in their place, and compares the files at the end.

    Args:
        recording: The recording.
        log: The process's part of it.
        laid: What was laid for this run.
        replayer: Gets departures.
        say: Gets notes.
        disk: The scratch folder that is removed at the end, if it is this block's own.
    """

    def __init__(
        self,
        recording: Recording,
        log: Log,
        laid: Laid,
        replayer: Replayer,
        *,
        say: Callable[[str], None],
        disk: Disk | None = None,
    ) -> None:
        self._disk = disk
        self._redirection: FileRedirection | None = None
        self._say = say
        self._recording = recording
        self._log = log
        self._laid = laid
        self._replayer = replayer
        self._salt = bytes.fromhex(str(recording.header.get("salt", "")))
        self._changes = [change for change in changes(log) if change.how != "first"]
        self._times = [change.t for change in self._changes]
        self._due = dict(enumerate(self._changes))
        self._after: dict[int | None, list[int]] = {}
        for number, change in enumerate(self._changes):
            if change.how in ("outside", "command"):
                self._after.setdefault(change.call, []).append(number)

    @classmethod
    def begun(
        cls,
        recording: Recording,
        log: Log,
        replayer: Replayer,
        scratch: str,
        *,
        block: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> ReplayedFiles | None:
        """Begin a process with that scratch folder; None for one without, or `LIVE`.

        A `block` is given scratch here: it runs in the user's own process. `say` gets the notes.
        """
        say = say or replayer.remark
        if scratch == LIVE:
            say("the program ran on the user's own files (--files live), not on the recorded ones")
        if scratch == LIVE or not (scratch or (block and has_files(recording))):
            return None
        if block and replayer.lets_commands_run:
            # They would use the user's files, and the block others.
            replayer.uncompared.append(
                "files (commands run for real, so the block ran on the user's own files)"
            )
            return None
        disk = None
        if scratch:
            laid = Laid.read(Path(scratch))
        else:
            with entered(None):
                disk = Disk(recording, (LocalStore().root, Path(recording.path)))
                try:
                    laid = disk.lay(None)
                except BaseException:
                    disk.close()
                    raise
        files = cls(recording, log, laid, replayer, say=say, disk=disk)
        replayer.on_answer, replayer.on_run = files.passed, files.ran
        replayer.tools.disk = True
        files.begin(first=log is recording.logs[0])
        return files

    def begin(self, *, first: bool) -> None:
        """Redirect where there is no overlay; in the first process, say what could not be laid."""
        if not self._laid.entered:
            uppers = [Upper(Path(layer.path), Path(layer.upper)) for layer in self._laid.layers]
            self._redirection = FileRedirection(uppers, list(self._laid.keep))
            self._redirection.install()
            why = f" (no overlay: {self._laid.forbidden})" if self._laid.forbidden else ""
            self._replayer.uncompared.append(f"{NOT_COVERED}{why}")
        if not first:
            return
        for what in self._laid.lacking:
            self._say(what)
        for number in self._after.get(None, ()):
            if self._changes[number].how == "outside":
                self._say("files were changed from outside before the first call: the time is not known")
                self._bring(number)

    def rewind(self) -> None:
        """Put the files back as they were at this place: a later part has changed them."""
        behind = len(self._replayer.cursor.asked) - 1
        known = first_states(self._recording)
        for change in self._changes:
            for path, state in change.states.items():
                known.setdefault(path, NOTHING)
                if change.began <= behind:
                    known[path] = state
        changed = {path: known[path] for change in self._changes for path in change.states}
        with self._seen():
            for path, state in sorted(changed.items()):
                with suppress(OSError):
                    self._put(self._laid.here(path), state)

    def covers(self, path: str) -> bool:
        """Return True for a path on the scratch disk."""
        full = Path(os.path.normpath(path if path.startswith("/") else Path.cwd() / path))
        folders = [folder for layer in self._laid.layers for folder in (layer.path, layer.upper)]
        return any(full.is_relative_to(folder) for folder in folders)

    def end(self) -> None:
        """Let the program see the user's files again, and remove the scratch of a block."""
        if self._redirection is not None:
            self._redirection.uninstall()
        if self._disk is not None:
            with entered(None):
                self._disk.close()

    @contextmanager
    def _seen(self) -> Iterator[None]:
        """See the files as the program does; nothing of it belongs to the program."""
        with entered(None), self._redirection.shown() if self._redirection is not None else nullcontext():
            yield

    def passed(self, answer: Answer, piece: int | None) -> None:
        """An answer reaches the program: what its call had changed when it ran is brought."""
        if answer.call is None or piece is not None or not self._due or answer.call not in self._log.calls:
            return
        call = self._log.calls[answer.call]
        for number in sorted({*self._inside(call), *self._after.get(call.number, ())}):
            self._bring(number)

    def waits(self) -> None:
        """Bring what is due: the program waits more often than recorded, maybe for a command."""
        asked = len(self._replayer.cursor.asked)
        for number in [number for number, change in self._due.items() if change.began <= asked]:
            self._bring(number)

    def ran(self, number: int | None) -> None:
        """A call has run: what was changed from outside after it is brought."""
        for each in self._after.get(number, ()) if number is not None else ():
            if self._changes[each].how == "outside":
                self._bring(each)

    def _inside(self, call: CallRecord) -> Iterator[int]:
        """The changes that code inside of a call made, by their times: it did not run."""
        if call.kind not in _OUTER and call.outcome is not None:
            first = bisect_left(self._times, call.began)
            last = bisect_right(self._times, float(call.outcome["t"]))
            yield from (each for each in range(first, last) if self._changes[each].how != "end")

    def _bring(self, number: int) -> None:
        change = self._due.pop(number, None)
        if change is None:
            return
        with self._seen():
            for path, state in sorted(change.states.items()):
                try:
                    if not self._put(self._laid.here(path), state):
                        self._say(f"the change of {path} is not replayed: its bytes are not recorded")
                except OSError as error:
                    self._say(f"the change of {path} is not replayed: {error.strerror}")

    def _put(self, path: Path, state: FileState) -> bool:
        """Make a path what it became. Return False if its bytes are not known."""
        if not self._on_scratch(path):
            return False
        if is_state_of(path, state, self._salt):
            return True
        if state.kind == "file" and not state.blob:
            return state.why == "unread"
        if _kind(path) != state.kind or state.kind == "link":
            # A file keeps its place: the program may hold it open.
            _removed(path)
        if state.kind == "none":
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        if state.kind == "link":
            path.symlink_to(state.target)
        elif state.kind == "folder":
            path.mkdir(exist_ok=True)
            path.chmod(state.mode)
        else:
            path.write_bytes(blob(self._recording, state.blob))
            path.chmod(state.mode)
        return True

    def _on_scratch(self, path: Path) -> bool:
        """Return True if a change of a path touches nothing but scratch: a link may lead elsewhere."""
        above = Path(os.path.realpath(path.parent))
        if any(above.is_relative_to(kept) or path.is_relative_to(kept) for kept in self._laid.keep):
            return False
        return any(above.is_relative_to(os.path.realpath(layer.path)) for layer in self._laid.layers)

    # -- the end -------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Compare the files with the recorded ones.

        The first that differs is named, and the step that changed it last.
        """
        replayer = self._replayer
        if replayer.divergences or replayer.gone_live:
            return
        with self._seen():
            last, first = final_states(self._recording), first_states(self._recording)
            found = [
                (self._step(path), path, last.get(path, NOTHING))
                for path in self._touched(first, last)
                if not is_state_of(self._laid.here(path), last.get(path, NOTHING), self._salt)
            ]
            replayer.compared.append("files")
            replayer.uncompared += self._unknown(last)
            if not found:
                return
            step, path, state = min(found, key=lambda item: (item[0] or 0, item[1]))
            more = f"; {len(found) - 1} more differ" if len(found) > 1 else ""
            detail = f"the file {path} at the end is not the recorded one{more}"
            place = f"main/file:{path}"
            shown = tuple(self._differing(self._laid.here(path), state))
            replayer.divergences.append(Divergence(Departure.CHANGED, place, step, shown, detail))

    def _touched(self, first: Mapping[Path, FileState], last: Mapping[Path, FileState]) -> Iterator[Path]:
        """The paths that the recorded run has changed, or this one."""
        known = {path for path in last if first.get(path) != last[path]}
        known |= {path for change in self._changes for path in change.states if path in last}
        for layer in self._laid.layers:
            for path in _entries(Path(layer.upper)):
                recorded = Path(layer.recorded) / path.relative_to(layer.upper)
                if recorded in last:
                    known.add(recorded)
        yield from sorted(known)

    def _unknown(self, last: Mapping[Path, FileState]) -> list[str]:
        """Name the files of which neither bytes nor a fingerprint are recorded."""
        names = [
            str(path)
            for path, state in last.items()
            if state.kind == "file" and not (state.blob or state.print)
        ]
        return [f"the content of {len(names)} files ({names[0]} …)"] if names else []

    def _step(self, path: Path) -> int | None:
        """Return the step after which a path was last seen to change."""
        calls = [change.call for change in self._changes if path in change.states and change.call is not None]
        return self._replayer.step_of(calls[-1]) if calls and calls[-1] in self._log.calls else None

    def _differing(self, path: Path, state: FileState) -> Iterator[Mismatch]:
        """The parts in which a path differs, for a reader."""
        kind = _kind(path)
        if kind != state.kind:
            yield Mismatch("kind", state.kind, kind)
            return
        mode = path.lstat().st_mode & 0o7777
        if kind in ("file", "folder") and mode != state.mode:
            yield Mismatch("mode", f"{state.mode:o}", f"{mode:o}")
        if kind == "link" and str(path.readlink()) != state.target:
            yield Mismatch("target", state.target, str(path.readlink()))
        if kind != "file":
            return
        size = path.stat().st_size
        if state.blob and max(size, state.size) <= _TEXT:
            with suppress(OSError, UnicodeDecodeError):
                old = blob(self._recording, state.blob).decode().split("\n")
                new = path.read_bytes().decode().split("\n")
                for number, (one, two) in enumerate(zip(old, new, strict=False), 1):
                    if one != two:
                        yield Mismatch(f"line {number}", one, two)
                        return
        if size != state.size:
            yield Mismatch("size", state.size, size)
        elif mode == state.mode:
            yield Mismatch("content", "other bytes", "of the same size")


def _entries(folder: Path) -> Iterator[Path]:
    """The files, links and marks in a changed layer."""
    for path, folders, files in os.walk(folder):
        yield from (Path(path, name) for name in files)
        yield from (Path(path, name) for name in folders if Path(path, name).is_symlink())


def _removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _kind(path: Path) -> str:
    if path.is_symlink():
        return "link"
    if path.is_dir():
        return "folder"
    return "file" if os.path.lexists(path) and not hidden(path) else "none"
