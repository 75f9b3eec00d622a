"""Record the files of a run: each as it was at its first use, and its changes at each step.

Files that the program does not use are looked at only around commands, whose acts are not seen.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from reenact.core.boundary import current, entered
from reenact.core.boundary.file_sensor import FileSensor, RedirectedView
from reenact.core.files import databases
from reenact.core.files.keeping import FileKeeper, mark_of, status_of
from reenact.core.files.listing import names_below
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import UNKNOWN, How
from reenact.core.record.command_changes import CommandChanges
from reenact.core.record.file_events import FileEvents, Write
from reenact.core.record.folder_names import FolderNames
from reenact.core.record.known_files import KnownFile, KnownFiles
from reenact.core.record.places import Place, Places
from reenact.core.record.watched_files import WatchedFiles, open_files


class FileRecorder(FileSensor):
    """Records the files that one process of a run uses.

    Args:
        places: The folders whose files are recorded.
        keeper: Keeps their bytes.
        write: Writes an event.
        last: Returns the number of the last call, or None.
        failed: Called with an error, which must not reach the program.
        now: Returns the seconds since the recording began.
        view: Shows the files, if the program's functions are redirected.
    """

    def __init__(
        self,
        places: Places,
        keeper: FileKeeper,
        write: Write,
        last: Callable[[], int | None],
        failed: Callable[[Exception], None],
        *,
        now: Callable[[], float],
        view: RedirectedView | None = None,
    ) -> None:
        self._public = str if view is None else view.public
        self._shown = nullcontext if view is None else view.shown
        self._places, self._keeper = places, keeper
        self._events = FileEvents(keeper, write, last, now)
        self._failed = failed
        self._known = KnownFiles(places, keeper)
        self._watched = WatchedFiles(self._known)
        self._dirty: dict[str, int | None] = {}
        """Paths that are about to be changed, with the call whose code does it."""
        self._commands = CommandChanges(places, keeper, self._known, self._events, now)
        self._names = FolderNames(places, self._known, self._events, self._commands, self._watched)
        self._lock = threading.RLock()
        self._thread = 0
        self._within: int | None = None
        """The call whose code uses files now."""
        self._process = os.getpid()

    def resume(
        self,
        first: Mapping[Path, FileState],
        last: Mapping[Path, FileState],
        written: Mapping[Path, FileState],
        singles: Collection[Path] = (),
    ) -> None:
        """Go on after an earlier process of the run, or after its part in another recording.

        Args:
            first: The files as they were before the run.
            last: Their states at the last recorded outcome. Differences from them are changes from outside.
            written: The files as they were before the run, as far as the recording under way has them.
            singles: Those outside of the recorded folders.
        """
        changed: dict[Place, FileState] = {}
        unwritten: dict[Place, FileState] = {}
        with self._own():
            for path, state in last.items():
                before = first.get(path, NOTHING)
                if before.kind == "none":
                    self._places.add_made(str(path))
                place = self._places.find(str(path), makes=False)
                if place is None and path in singles:
                    self._places.add_single(str(path))
                    place = self._places.find(str(path), makes=False)
                if place is None or state.why == "listed":
                    continue
                if written.get(path) != before and before.kind != "none":
                    unwritten[place] = before
                known = self._known.add(place, before, replace(state, names=None), None)
                if state != before:
                    self._watched.add(place.path)
                # The program has made its own changes again, at other times. A database's log is never the same.
                renewed = self._known.renew(known) and databases.base_of(place.path) is None
                if renewed and known.state.timeless() != state.timeless():
                    changed[place] = known.state
            self._events.write("first", unwritten, since=0.0)
            self._events.write("outside", changed)

    # -- what the program does ---------------------------------------------------------------------------------

    def used(self, path: str, *, writes: bool = False) -> None:
        """Note that the program is about to read a path, or to change it."""
        with self._own():
            self._use(self._public(path), writes=writes)

    def asked(self, path: str) -> bool:
        """Note a read of a path's state. Return True if a running command had changed it."""
        if not self._commands.begun:
            return False
        changed = False
        with self._own():
            changed = self._ask(self._public(path))
        return changed  # noqa: RET504 - also after an error, which goes no further

    def own_change(self, path: str) -> None:
        """Note that the program's own code is about to change a path: it is recorded wherever it is."""
        with self._own():
            self._places.add_single(self._public(path))

    def listed(self, path: str) -> None:
        """Note that the program is about to list a folder."""
        with self._own():
            self._list(path)

    def listed_again(self, path: str) -> bool:
        """Note a listed folder. Return True if a running command had changed its names."""
        if not self._commands.begun:
            return False
        changed = False
        with self._own():
            changed = self._list(path)
        return changed  # noqa: RET504 - also after an error, which goes no further

    def changes_tree(self, path: str, to: str = "") -> None:
        """Note that the program is about to delete or move a file, or a folder with its content."""
        with self._own():
            self._use(path, writes=True)
            if to:
                self._use(to, writes=True)
            self._places.forget()
            for name in names_below(path):
                self._use(name, writes=True)
                if to:
                    self._use(to + name[len(path) :], writes=True)
            for name in names_below(to) if to else ():
                self._use(name, writes=True)

    def opens_database(self, path: str) -> None:
        """Note that the program opens an SQLite database, whose writes are not seen."""
        with self._own():
            for name in (path, f"{path}-journal", f"{path}-wal"):
                self._use(name, writes=True)
                place = self._places.find(name, makes=True)
                if place is not None:
                    self._watched.add_lasting(place.path)

    def keeps(self, path: str, *, listed: bool = False) -> bool:
        """Return True if a used path, and what it is a link to, are recorded with their content."""
        place = self._places.find(path, makes=True)
        known = None if place is None else self._known.get(place.path)
        if known is None or known.state.why:
            return False
        if known.state.kind == "link" and path != (target := os.path.realpath(path)):
            return self.keeps(target, listed=listed)
        return not listed or known.state.kind in ("none", "link") or known.names is not None

    def locks(self, descriptor: int) -> None:
        """Keep a locked file open here, as closing it would end the lock."""
        with self._own(), suppress(OSError):
            self._keeper.pin(self._public(os.readlink(f"/proc/self/fd/{descriptor}")))

    def command_begins(self, writes: Collection[str] = ()) -> None:
        """Note that the program is about to start a command, whose changes are found by a walk."""
        with self._own():
            self._settle("change")
            self._commands.start(map(self._public, writes), self._watched.held_open())

    def command_ended(self, call: int | None, wrote: Collection[str] = ()) -> None:
        """Record the changes of a command that has ended."""
        with self._own():
            self._commands.end(call, map(self._public, wrote))

    def left(self, call: int | None) -> None:
        """Note that the outcome of a call is recorded."""
        self._commands.left(call)

    def command_printed(self) -> None:
        """Note that the program has read output of a command, and may look at its changes."""
        self._commands.printed = self._commands.begun

    def waited(self) -> None:
        """Look at open files after a wait of the program: it may read on in them unseen."""
        if self._commands.running > 0 and os.getpid() == self._process:
            with self._own():
                inodes = open_files()
                for known in list(self._known):
                    if known.mark is not None and known.mark[2] in inodes:
                        self._look_again(known)

    def walked(self) -> None:
        """Record the changes of an unobserved program since the last walk; at first, only walk."""
        with self._own():
            if self._commands.begun:
                self._commands.take(None, "change")
            else:
                self._commands.begin()

    def settle(self) -> None:
        """Record the changes since the last step, as a step begins or ends."""
        if (self._watched.paths or self._commands.printed) and os.getpid() == self._process:
            with self._own():
                self._look_at_command()
                self._settle("change")

    def _look_at_commands(self) -> None:
        """Record what commands have changed, as the program is about to look at files."""
        self._commands.show_ended()
        self._look_at_command()

    def _look_at_command(self) -> None:
        """Record what a running command has changed, if it has printed since the last look."""
        if self._commands.printed:
            self._commands.printed = False
            # All other changes since then are those of the command.
            self._settle("change", {*self._dirty, *self._watched.held_open()})
            self._commands.take(None)

    def hide(self, without_secret: Callable[[FileState], FileState]) -> None:
        """Mark kept files as `secret` if they hold a secret that is known now."""
        with self._lock:
            self._keeper.forget()
            for known in self._known:
                known.first, known.state = without_secret(known.first), without_secret(known.state)

    def finish(self) -> None:
        """Record the last changes, at the end of the run."""
        if os.getpid() == self._process:
            with self._own():
                self._settle("end")
                self._keeper.close()

    # -- first use ---------------------------------------------------------------------------------------------

    @contextmanager
    def _own(self) -> Iterator[None]:
        """Keep errors from the program, and ignore files that the body opens."""
        scope = current()
        # Without a scope, no hook attributes the body's acts to the program.
        with self._lock, self._shown(), entered(None):
            self._thread = threading.get_ident()
            self._within = None if scope is None else scope.call
            self._events.look()
            try:
                yield
            except Exception as error:
                self._failed(error)
            finally:
                self._thread = 0

    @property
    def busy(self) -> bool:
        """True if the running thread is in here, or this process is a fork of the recorded one."""
        return self._thread == threading.get_ident() or os.getpid() != self._process

    def _use(self, path: str, *, writes: bool, depth: int = 0) -> None:
        place = self._places.find(path, makes=writes)
        if place is None:
            return
        self._look_at_commands()
        known = self._known.get(place.path)
        within = self._within if writes else UNKNOWN
        if known is None:
            for link in self._places.links(path):
                self._use(link, writes=False, depth=depth + 1)
            known = self._first(place, within)
        else:
            self._look_again(known)
        if writes:
            self._watched.add(place.path)
            self._commands.own.add(place.path)
            self._dirty[place.path] = within
            if not known.announced:
                self._announce(known, within)
        if known.state.kind == "link" and depth < 8:
            target = os.path.join(os.path.dirname(place.path), known.state.target)
            self._use(target, writes=writes, depth=depth + 1)

    def _first(self, place: Place, within: int | None) -> KnownFile:
        if (changed := self._commands.first(place, within)) is not None:
            return changed
        state, mark = self._known.state(place)
        # Unseen code has made what is in a folder that the run has made.
        first = NOTHING if self._known.is_below_made_folder(place.path) else state
        known = self._known.add(place, first, state, mark)
        known.announced = within != UNKNOWN
        self._events.write("first", {place: first}, within=within)
        if first != state:
            self._events.write("command" if self._commands.running else "change", {place: state})
        return known

    def _announce(self, known: KnownFile, within: int | None) -> None:
        """Record that the program is about to change a file.

        The run may be cut off before the change itself is recorded.
        """
        known.announced = True
        self._events.write("first", {known.place: known.first}, within=within)

    def _look_outside(self, known: KnownFile) -> bool:
        """Record a path if something else has changed it since its last use; return True then."""
        status = status_of(known.place.path)
        mark = None if status is None else mark_of(status)
        if mark == known.mark or (known.state.kind == "folder" == _kind(status)):
            return False
        changed = self._known.renew(known)
        if changed:
            self._events.write("outside", {known.place: known.state})
        return changed

    def _look_again(self, known: KnownFile) -> bool:
        """Record a path if something else has changed it since the last look; return True then."""
        path = known.place.path
        if path not in self._watched:
            return self._look_outside(known)
        if path in self._dirty or not self._commands.may_change(path) or not (known.racy or known.differs()):
            return False
        changed = self._known.renew(known)
        if changed:
            self._events.write("command", {known.place: known.state})
        return changed

    def _ask(self, path: str) -> bool:
        place = self._places.find(path, makes=False)
        if place is None:
            return False
        self._look_at_commands()
        known = self._known.get(place.path)
        if known is None:
            return self._commands.first(place, UNKNOWN) is not None
        return self._look_again(known)

    # -- changes -----------------------------------------------------------------------------------------------

    def _settle(self, how: How, only: Collection[str] | None = None) -> None:
        changed: dict[tuple[How, int | None], dict[Place, FileState]] = {}
        for path in list(self._watched):
            if only is not None and path not in only:
                continue
            known = self._known[path]
            if path not in self._dirty and not known.racy and not known.differs():
                continue
            if self._known.renew(known):
                within = self._dirty.get(path, UNKNOWN)
                by_command = path not in self._dirty and self._commands.is_changing(path)
                made = changed.setdefault(("command" if by_command else how, within), {})
                made[known.place] = known.state
        self._dirty.clear()
        for (by, within), states in changed.items():
            self._events.write(by, states, within=within)
        self._watched.trim()

    # -- lists -------------------------------------------------------------------------------------------------

    def _list(self, path: str) -> bool:
        """Record the names in a folder; return True if they differ from the last look."""
        place = self._places.find(os.path.realpath(path), makes=False)
        if place is None:
            return False
        self._look_at_commands()
        fresh = place.path not in self._known
        known = self._known.get(place.path) or self._commands.first(place, UNKNOWN)
        if known is None:
            known = self._known.add(place, *(2 * (self._known.state(place)[0],)), None)
        if (known.state.kind == "folder") != os.path.isdir(place.path):
            self._settle("change")
            self._look_outside(known)
        if known.state.kind != "folder":
            if fresh:
                self._events.write("first", {place: known.state})
            return False
        return self._names.record(known)


def _kind(status: os.stat_result | None) -> str:
    return "folder" if status is not None and stat.S_ISDIR(status.st_mode) else ""
