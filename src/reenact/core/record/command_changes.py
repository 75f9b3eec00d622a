"""Record the files that commands change: they are found by walks through the folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reenact.core.files.keeping import FileKeeper
from reenact.core.files.states import FileState
from reenact.core.files.trees import UNKNOWN, How
from reenact.core.record.file_events import FileEvents
from reenact.core.record.known_files import KnownFile, KnownFiles
from reenact.core.record.places import Place, Places
from reenact.core.record.walk import FolderWalk, WalkTooLarge


class CommandChanges:
    """The changes that the commands of one process make.

    Args:
        places: The folders whose files are recorded.
        keeper: Keeps their bytes.
        known: The files that were used.
        events: Writes the states of files.
        now: Returns the seconds since the recording began.
    """

    def __init__(
        self,
        places: Places,
        keeper: FileKeeper,
        known: KnownFiles,
        events: FileEvents,
        now: Callable[[], float],
    ) -> None:
        self._places, self._keeper, self._known, self._events = places, keeper, known, events
        self._now, self._walked = now, 0.0
        self._walk: FolderWalk | None = None
        self.running = 0
        """The number of commands that were started and have not ended."""
        self.printed = False
        """True if the program has read output of a command since the last walk."""
        self.own: set[str] = set()
        """Paths that the program itself may have changed since the last command was started."""
        self._ended: dict[int | None, dict[Place, FileState]] = {}
        """The changes of commands that have ended, by calls whose outcome is not recorded yet."""
        self._written: list[str] = []
        """Files into which running commands write their output."""

    @property
    def begun(self) -> bool:
        """True after the first walk."""
        return self._walk is not None

    def start(self, writes: Iterable[str], held_open: Iterable[str]) -> None:
        """Note that a command is about to start.

        Args:
            writes: The files into which it writes its output.
            held_open: The changed files that the program has open.
        """
        self.running += 1
        self._written += writes
        self.own = set(held_open)
        if self._walk is None:
            self.begin()

    def end(self, call: int | None, wrote: Iterable[str]) -> None:
        """Note that the command of a call has ended; it wrote its output into these files."""
        self._ended[call] = self.take(call)
        self.running -= 1
        for path in wrote:
            self._written.remove(path)

    def left(self, call: int | None) -> None:
        """Forget a command's changes: its call's outcome is recorded, and a replay makes them."""
        self._ended.pop(call, None)

    def show_ended(self) -> None:
        """Record the changes of ended commands before another thread looks at them."""
        for changes in self._ended.values():
            self._events.write("command", changes)
        self._ended.clear()

    def may_change(self, path: str) -> bool:
        """Return True if a command, and not the program itself, changes a path."""
        return self.begun and (path not in self.own or self.writes(path))

    def is_changing(self, path: str) -> bool:
        """Return True if a running command, and not the program itself, changes a path."""
        return self.writes(path) or (self.running > 0 and self.may_change(path))

    def writes(self, path: str) -> bool:
        """Return True if a running command writes its output into a file."""
        return path in self._written

    def begin(self) -> None:
        """Walk before the first command."""
        self._walk = FolderWalk(
            self._places, self._keeper.read, self._known.made_elsewhere, self._keeper.note
        )
        try:
            self._walk.begin()
        except WalkTooLarge as error:
            self._keeper.note(str(error))
        self._walked = self._now()

    def first(self, place: Place, within: int | None) -> KnownFile | None:
        """Record the first use of a path that has changed since the last walk; None for others."""
        if self._walk is None:
            return None
        differs, before = self._walk.before(place.path)
        if not differs:
            return None
        first = self._known.before(place, before, self._walk)
        known = self._known.add(place, first, first, before)
        known.announced = within != UNKNOWN
        self._events.write("first", {place: first}, within=within, since=self._walked)
        if self._known.renew(known):
            self._events.write("command", {place: known.state})
        return known

    def take(self, call: int | None, how: How = "command") -> dict[Place, FileState]:
        """Walk again; record and return what has changed. Nothing is compared without a first walk."""
        if self._walk is None:
            return {}
        firsts: dict[Place, FileState] = {}
        made: dict[Place, FileState] = {}
        changed: dict[Place, FileState] = {}
        before_walk = self._walked
        try:
            found = list(self._walk.changes())
        except WalkTooLarge as error:
            self._keeper.note(str(error))
            return {}
        self._walked = self._now()
        for place, before, mark in found:
            known = self._known.get(place.path)
            states = changed
            if known is None:
                first = self._known.before(place, before, self._walk)
                if first.kind == "none":
                    states = made
                else:
                    firsts[place] = first
                known = self._known.add(place, first, first, before)
            elif mark == known.mark and not known.racy:
                continue
            if self._known.renew(known):
                states[place] = known.state
            self._known.rename_listed(place, known.state)
        for known in self._known:
            # A file that the program has made since the last walk is in neither of them.
            gone = known.state.kind != "none" and not self._walk.saw(known.place.path)
            if gone and known.place not in changed and known.differs() and self._known.renew(known):
                changed[known.place] = known.state
        self._events.write("first", firsts, since=before_walk)
        self._events.write(how, made, call=call, since=before_walk)
        self._events.write(how, changed, call=call)
        return made | changed
