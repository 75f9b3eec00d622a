"""The files of a replayed process: recorded changes, and the comparison at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from math import inf
from pathlib import Path

from reenact.core import system
from reenact.core.boundary import Answer, entered
from reenact.core.boundary.file_sensor import RedirectedView
from reenact.core.files import databases
from reenact.core.files.restore import set_time
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import FileChange, first_states
from reenact.core.model.header import salt_of
from reenact.core.model.log import RESUMED, Log, Received
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.replayer import Replayer
from reenact.core.store.local import LocalStore
from reenact.run.files.changed_since import changed_since, code_that_ran
from reenact.run.files.command_files import CommandFiles
from reenact.run.files.comparison import FileComparison
from reenact.run.files.disk import Disk, Laid, Layer
from reenact.run.files.final import content_of
from reenact.run.files.laid_stand_ins import LaidStandIns, digest
from reenact.run.files.path_state import blob, is_state_of, looks_like
from reenact.run.files.placing import other_names, put
from reenact.run.files.recorded_changes import RecordedChanges, apart
from reenact.run.files.redirect import NOT_COVERED, FileRedirection
from reenact.run.files.renames import FolderRenames
from reenact.run.files.upper import Upper
from reenact.run.files.uses import ReplayedUses, store_of

_REDIRECTIONS: dict[FileRedirection, tuple[int, tuple[Layer, ...]]] = {}
"""The redirections that are in use, each with the process that began it and its layers."""


class ReplayedFiles:
    """Applies recorded changes, and compares the files at the end.

    Args:
        recording: The recording.
        log: The process's part of it.
        laid: The files that were laid for this run.
        replayer: Gets departures.
        say: Gets notes.
        disk: The scratch folder that is removed at the end, if it is this block's own.
    """

    def __init__(
        self,
        recording: RecordedRun,
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
        self._salt = salt_of(recording.header)
        self._recorded = RecordedChanges(recording, log)
        self._renames = FolderRenames(self.covers, self._seen)
        self._stand_ins = LaidStandIns(laid, say)
        self._since = changed_since(laid, recording)
        self._brought: dict[Path, int] = {}
        """The latest change that was applied, by path."""
        self.uses = ReplayedUses(self.covers, replayer, store_of(recording), self._public)
        """Notes the files that the program changes."""
        self._command_files = CommandFiles(self._recorded, laid=laid, replayer=replayer, uses=self.uses)

    @classmethod
    def begun(
        cls,
        recording: RecordedRun,
        log: Log,
        replayer: Replayer,
        scratch: str,
        *,
        say: Callable[[str], None],
    ) -> ReplayedFiles:
        """Begin a process with that scratch folder, or a block without one. `say` gets the notes."""
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
        replayer.on_fire = files.received
        replayer.tools.disk = apart(recording)
        files.begin(first=log is recording.logs[0])
        return files

    @property
    def view(self) -> RedirectedView | None:
        """Shows the files of a redirected program; None behind an overlay, which shows them to all."""
        return self._redirection

    def begin(self, *, first: bool) -> None:
        """Redirect without an overlay; in the first process, note the files that were not laid."""
        if not self._laid.entered:
            self._redirection = redirected(self._laid)
            why = f" (no overlay: {self._laid.forbidden})" if self._laid.forbidden else ""
            self._replayer.uncompared.append(f"{NOT_COVERED}{why}")
        else:
            self._renames.install()
        if not first:
            return
        for what in self._laid.lacking:
            self._say(what)
        self._replayer.changed_since += self._since.values()
        for number in self._recorded.after.get(None, ()):
            change = self._recorded.all[number]
            if change.how == "outside":
                # A resumed run begins with the files of the run that was cut off.
                if change.t < self._resumed_at():
                    self._say("files were changed from outside before the first call: the time is not known")
                self._bring(number)

    def _resumed_at(self) -> float:
        """Return the time at which the recorded run was resumed first."""
        times = (
            float(note["t"]) for note in self._log.notes if note["what"] == RESUMED and "call" not in note
        )
        return min(times, default=inf)

    def rewind(self) -> None:
        """Put the files back as they were at this place: a later part has changed them."""
        behind = len(self._replayer.cursor.asked) - 1
        known = first_states(self._recording)
        made = [change for change in self._recorded.all if change.how != "first"]
        for change in made:
            for path, state in change.states.items():
                known.setdefault(path, NOTHING)
                if change.began <= behind:
                    known[path] = state
        changed = {path: known[path] for change in made for path in change.states}
        with self._seen():
            for path, state in sorted(changed.items()):
                with suppress(OSError):
                    self._put(self._laid.here(path), state, beside=changed)

    def _public(self, path: str) -> str:
        """Return the path that the program knows for a path in scratch."""
        return path if self._redirection is None else self._redirection.public(path)

    def covers(self, path: str) -> bool:
        """Return True for a path on the scratch disk."""
        full = Path(os.path.normpath(path if path.startswith("/") else Path.cwd() / path))
        folders = [folder for layer in self._laid.layers for folder in (layer.path, layer.upper)]
        return any(full.is_relative_to(folder) for folder in folders)

    def end(self) -> None:
        """Let the program see the user's files again, and remove the scratch of a block."""
        if self._redirection is not None:
            self._redirection.uninstall()
            _REDIRECTIONS.pop(self._redirection, None)
        self._renames.uninstall()
        if self._disk is not None:
            with entered(None):
                self._disk.close()

    @contextmanager
    def _seen(self) -> Iterator[None]:
        """See the files as the program does; uses of files in the body are not the program's."""
        paused, self.uses.paused = self.uses.paused, True
        try:
            with entered(None), self._redirection.shown() if self._redirection is not None else nullcontext():
                yield
        finally:
            self.uses.paused = paused

    def passed(self, answer: Answer, piece: int | None) -> None:
        """Apply the recorded changes of a call whose answer reaches the program."""
        if answer.call is None or not self._recorded.due or answer.call not in self._log.calls:
            return
        if piece is not None:
            self.received((answer.call, piece))
            return
        call = self._log.calls[answer.call]
        others = [self._log.calls[each] for each in [*self._replayer.answering] if each != call.number]
        for number in self._recorded.of_answered(call, others):
            self._bring(number)

    def asked(self, call: int) -> None:
        """Compare the files that a recorded command may read, when it is started or gets input.

        Raises `Halt` for a difference.
        """
        if self._replayer.state.on_recording:
            with self._seen():
                found = self._command_files.differing(call, self._stand_ins.unkept)
            if found is not None:
                self._replayer.state.depart(found)

    def received(self, what: Received) -> None:
        """Apply the recorded changes before a chunk, or the end of a wait, that reaches the program."""
        for number in self._recorded.behind.get(what, ()):
            self._bring(number)

    def waits(self) -> None:
        """Apply the next changes: the program waits more often than recorded, maybe for a command."""
        asked = len(self._replayer.cursor.asked)
        due = [number for number, each in self._recorded.due.items() if each.began <= asked]
        for number in due:
            if self._recorded.by_others(number):
                self._bring(number)

    def ran(self, number: int | None) -> None:
        """Apply the recorded changes from outside after a call that has run."""
        for each in self._recorded.after.get(number, ()) if number is not None else ():
            if self._recorded.all[each].how == "outside":
                self._bring(each)

    def _bring(self, number: int) -> None:
        change = self._recorded.due.pop(number, None)
        if change is None:
            return
        done: set[Path] = set()
        with self._seen():
            for path, state in sorted(change.states.items()):
                if str(self._laid.here(path)) in self._laid.keep:
                    continue
                if self._recorded.is_of_other_process(path, number) or self._is_overtaken(path, number):
                    continue
                try:
                    with self._newest(path, change) as newest:
                        if not newest or self._brought.get(path, -1) > number:
                            # Of parallel calls, the one that changed the path first may end last.
                            continue
                        self._brought[path] = number
                        database = self._recorded.database(path, number)
                        if database is not None and database[0] in done:
                            continue
                        if database is not None and self._fill(*database):
                            done.add(database[0])
                        elif not self._put(self._laid.here(path), state, beside=change.states):
                            self._stand_ins.unkept.add(path)
                            self._say(f"the change of {path} is not replayed: its bytes are not recorded")
                except OSError as error:
                    self._say(f"the change of {path} is not replayed: {error.strerror}")

    def _is_overtaken(self, path: Path, number: int) -> bool:
        """Return True if the program's code may have made this change, beside a running command."""
        here = self._laid.here(path)
        later = self._recorded.later_of_program(path, number) if self.uses.touched(str(here)) else []
        return any(is_state_of(here, state, self._salt) for state in later)

    @contextmanager
    def _newest(self, path: Path, change: FileChange) -> Iterator[bool]:
        """Enter with False if another process has applied a later state of a path."""
        if len(self._recording.logs) == 1:
            yield True
            return
        time = float(self._log.opened.get("offset", 0.0)) + change.t
        with Path(self._laid.scratch, f"brought-{digest(path)}").open("a+", encoding="ascii") as file:
            system.lock(file.fileno())
            file.seek(0)
            newest = time >= float(file.read() or "-inf")
            if newest:
                file.truncate(0)
                file.write(repr(time))
                file.flush()
            yield newest

    def _fill(self, path: Path, content: bytes) -> bool:
        """Give a database its recorded content, through SQLite, since the program may have it open.

        Return False if it is not there.
        """
        here = self._laid.here(path)
        if not self._on_scratch(here) or not here.is_file() or here.is_symlink():
            return False
        if databases.equal_content(content_of(here, Path(f"{here}{databases.LOG}")), content):
            return True
        databases.fill(str(here), content)
        return True

    def compare(self, *, others: bool) -> None:
        """Compare the files with the recorded ones, as the program sees them at its end.

        With `others`, those that another process changed last are compared later.
        """
        if self._replayer.divergences or self._replayer.gone_live:
            return
        with self._seen():
            self._stand_ins.tell()
            comparison = FileComparison(self._recorded, self._laid, self._replayer, others=others)
            comparison.run(self.uses, self._stand_ins.unkept)

    def _put(self, path: Path, state: FileState, *, beside: Mapping[Path, FileState]) -> bool:
        """Bring a path to a state, `beside` other changed paths. Return False without its bytes."""
        if not self._on_scratch(path):
            return False
        if not self._stand_ins.replaced(path) and is_state_of(path, state, self._salt):
            # `touch` changes the time alone.
            if state.kind == "file" and not looks_like(path, state):
                set_time(path, state)
            return True
        if state.kind == "file" and not state.blob:
            return self._stand_ins.put(path, state)
        same = (self._laid.here(each) for each, its in beside.items() if its.blob == state.blob)
        if state.kind == "file" and other_names(path, same):
            # The command has replaced the file (`sed -i`): the other names keep the old one.
            path.unlink()
        put(path, state, partial(blob, self._recording))
        return True

    def tell_of_stand_ins(self) -> None:
        """Note the files that were read without recorded bytes; the others made no difference."""
        with self._seen():
            self._stand_ins.tell()

    def tell_of_code(self) -> None:
        """Note the code that has run as recorded. A redirected program imports the user's own."""
        if self._laid.entered:
            for text in code_that_ran(self._since):
                self._say(text)

    def _on_scratch(self, path: Path) -> bool:
        """Return True if a change of a path changes only scratch: a link may lead elsewhere."""
        above = Path(os.path.realpath(path.parent))
        if any(above.is_relative_to(kept) or path.is_relative_to(kept) for kept in self._laid.keep):
            return False
        return any(above.is_relative_to(os.path.realpath(layer.path)) for layer in self._laid.layers)


def redirected(laid: Laid) -> FileRedirection:
    """Redirect this process to scratch. A fork has its parent's redirection, and keeps it."""
    for redirection, (process, layers) in _REDIRECTIONS.items():
        if process != os.getpid() and layers == laid.layers:
            return redirection
    uppers = [Upper(Path(layer.path), Path(layer.upper)) for layer in laid.layers]
    redirection = FileRedirection(uppers, list(laid.keep))
    redirection.install()
    _REDIRECTIONS[redirection] = os.getpid(), laid.layers
    return redirection
