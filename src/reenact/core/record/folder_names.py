"""Record the names in the folders that the program lists."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from reenact.core import system
from reenact.core.files.listing import ListedEntry, entries_of
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import UNKNOWN
from reenact.core.record.command_changes import CommandChanges
from reenact.core.record.file_events import FileEvents
from reenact.core.record.known_files import KnownFile, KnownFiles, real_time
from reenact.core.record.places import Place, Places


class FolderNames:
    """The names in the folders that one process of a run lists.

    Args:
        places: The folders whose files are recorded.
        known: The files that were used.
        events: Writes the states of files.
        commands: Knows what running commands change.
        watched: The paths that the program has changed; they are looked at after each step.
    """

    def __init__(
        self,
        places: Places,
        known: KnownFiles,
        events: FileEvents,
        commands: CommandChanges,
        watched: Container[str],
    ) -> None:
        self._places, self._known, self._events = places, known, events
        self._commands, self._watched = commands, watched
        self._began = real_time()

    def record(self, known: KnownFile) -> bool:
        """Record the names in a listed folder, and later those that something else has changed.

        Return True if they differ from the last look.
        """
        place = known.place
        names, entries = entries_of(place.path)
        if known.names is None:
            self._made_unseen(place, entries)
            if known.first.kind == "folder":
                before = self._known.names_before(place.path, names)
                self._events.write(
                    "first",
                    {
                        place: replace(known.first, names=tuple(sorted(before))),
                        **self._known.unused(place, entries),
                    },
                )
        else:
            self._changed_names(place, known.names, names)
        changed, known.names = known.names != names, names
        return changed

    def _made_unseen(self, folder: Place, entries: Mapping[str, ListedEntry]) -> None:
        """Record the files of a folder that unseen code has made since the run began."""
        made: dict[Place, FileState] = {}
        came: dict[Place, FileState] = {}
        for name, entry in entries.items():
            if entry.changed <= self._began:
                continue
            place = self._places.find(f"{folder.path}/{name}", makes=False)
            if place is None:
                continue
            known = self._known.get(place.path)
            if known is not None:
                is_new = known.state.kind == "none" and place.path not in self._watched
                if is_new and self._known.renew(known):
                    came[place] = known.state
            elif self._commands.first(place, UNKNOWN) is None and self._is_made(entry, place.path):
                state, mark = self._known.state(place)
                self._known.add(place, NOTHING, state, mark)
                made[place] = state
        self._events.write("outside", came)
        self._events.write("change", made)

    def _is_made(self, entry: ListedEntry, path: str) -> bool:
        """Return True for a file that was made since the run began."""
        return entry.state.kind == "file" and (system.birth_time(path) or 0) > self._began

    def _changed_names(self, folder: Place, before: set[str], names: set[str]) -> None:
        """Record the entries of a folder that something else has made or deleted."""
        changed: dict[Place, FileState] = {}
        for name in sorted(before ^ names):
            place = folder.child(name.removesuffix("/"))
            known = self._known.get(place.path)
            if known is None:
                state, mark = self._known.state(place)
                self._known.add(place, NOTHING, state, mark)
                changed[place] = state
            elif place.path not in self._watched and self._known.renew(known):
                changed[place] = known.state
        self._events.write("outside", changed)
