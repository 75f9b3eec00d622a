"""The embedded store: a folder of recordings, and no server at all.

    .reenact/recordings/<id>/events.jsonl        the process that the recording began in
                             events.<n>.jsonl    processes that it started
                             labels.<time>.jsonl labels and note of people, see `labels`
                             blobs/ab/abcd…      large binary values, by their sha256

An exported recording is the same tree in one zip file.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from reenact.core import config, system
from reenact.core.store import shared
from reenact.core.store.deleted import Tombstones
from reenact.core.store.writer import warn
from reenact.errors import AmbiguousRecording, CorruptRecording, NotARecording, RecordingNotFound

if TYPE_CHECKING:
    from reenact.core.query.recorded_run import RecordedRun

EVENTS = shared.EVENTS
SUFFIX = ".reenact"
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

_SOUGHT = 1000
"""The number of newest recordings in which an unknown id is searched as a name."""

_LONGEST = 100
"""The maximum length of a name that is compared with a mistyped one."""

_TELLING = 6
"""The least length of a mistyped id: a shorter one resembles some id by chance."""

_ALIKE = 0.75
"""The least likeness of a suggestion: one letter of four, or two exchanged, may differ."""


def home(path: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the recordings.

    It is the given one, `$REENACT_HOME`, that of the configuration file, or `.reenact` here. Raises UsageError for a
    configuration file that is not valid.
    """
    given = path or os.environ.get("REENACT_HOME")
    if not given and (file := config.found()) is not None:
        given = file.home
    return Path(given or ".reenact").absolute()


def back_from_last(ref: str) -> int | None:
    """Return 0 for `last`, 2 for `last~2`; None for other references."""
    found = re.fullmatch(r"last(?:~(\d{1,9}))?", ref, re.ASCII)
    return None if found is None else int(found[1] or 0)


def new_id() -> str:
    """Return a new id: ten random letters and digits, so that a short prefix is unique."""
    return "".join(_ALPHABET[byte % 32] for byte in system.random_bytes(10))


class LocalStore:
    """Recordings in a folder.

    Args:
        root: The folder, by default `home()`. It need not exist.
    """

    def __init__(self, root: str | os.PathLike[str] | None = None) -> None:
        self.root = home(root)

    @property
    def place(self) -> str:
        """The name of the store in messages."""
        return str(self.root)

    @property
    def recordings(self) -> Path:
        """The folder of the recordings."""
        return self.root / "recordings"

    def folder(self, id: str) -> Path:
        """Return the folder of a recording, existing or not."""
        return self.recordings / id

    def ids(self) -> list[str]:
        """Return the ids of all recordings, newest first."""
        found = []
        try:
            with os.scandir(self.recordings) as entries:
                for entry in entries:
                    if not nameable(entry.name):
                        continue
                    try:
                        found.append((os.stat(os.path.join(entry.path, EVENTS)).st_mtime_ns, entry.name))
                    except OSError:
                        continue
        except FileNotFoundError:
            return []
        return [name for _, name in sorted(found, reverse=True)]

    def find(self, ref: str | os.PathLike[str]) -> Path:
        """Return the folder or file of an id, a unique prefix, `last`, `last~2`, or a path.

        Raises RecordingNotFound, AmbiguousRecording or NotARecording; the text suggests a remedy.
        """
        text = os.fspath(ref)
        if not text:
            raise RecordingNotFound("no recording is named ''; `reenact list` shows all")
        if os.sep in text or text.endswith(SUFFIX) or (Path(text) / EVENTS).is_file():
            return _at_path(Path(text))
        back = back_from_last(text)
        if back is None and self._has(text):
            return self._at_hand(text)
        ids = self.ids()
        if back is not None:
            if not ids:
                raise RecordingNotFound(
                    f"there is no recording yet in {self.place}; `reenact record -- program` makes one"
                )
            return self._at_hand(self._last(ids, back))
        begun = self._begun(text, ids)
        if begun is not None:
            return begun
        if Path(text).exists():
            return _at_path(Path(text))
        called = self._called(text, ids)
        if called is not None:
            word = text if re.fullmatch(r"[\w.-]+", text) else orjson.dumps(text).decode()
            raise RecordingNotFound(
                f"no recording has the id '{text}'; the newest with this name is {called} "
                f"(`reenact list {shlex.quote(f'name:{word}')}` shows all)"
            )
        near = self._near(text, ids)
        raise RecordingNotFound(
            f"no recording '{text}' in {self._sought()}; "
            + (f"did you mean {near}? " if near else "")
            + "`reenact list` shows all"
        )

    def _last(self, ids: Sequence[str], back: int) -> str:
        """Return this user's newest recording that no other process writes, or an earlier one.

        `back` is the number of recordings after it. Without any, it is the newest of all.
        Raises RecordingNotFound if there are too few.
        """
        found = list(islice(filter(self._own, ids[:_SOUGHT]), back + 1))
        if len(found) > back:
            return found[back]
        if not back:
            return ids[0]
        raise RecordingNotFound(
            f"no recording 'last~{back}' in {self._sought()}: it has {len(found)}; `reenact list` shows all"
        )

    def _own(self, id: str) -> bool:
        """Return True for this user's recording with events that no other process writes."""
        folder = self.folder(id)
        try:
            events = (folder / EVENTS).stat()
        except FileNotFoundError:
            return True  # a team's recording that is not copied here yet
        if hasattr(os, "getuid") and events.st_uid != os.getuid():
            return False
        if shared.running(folder) not in (0, os.getpid()):
            return False
        if not events.st_size:
            _warn_of_empty(folder)
        return events.st_size > 0

    def _begun(self, text: str, ids: Sequence[str]) -> Path | None:
        """Return the only recording with that id prefix, or None. Raises AmbiguousRecording."""
        matches = [id for id in ids if id.startswith(text)]
        if len(matches) > 1:
            raise AmbiguousRecording(
                f"'{text}' may be any of {len(matches)} recordings: {', '.join(matches[:8])}"
            )
        return self._at_hand(matches[0]) if matches else None

    def _sought(self) -> str:
        """Return the place that was searched, for the message of a missing recording."""
        return self.place

    def _has(self, id: str) -> bool:
        """Return True if a recording has exactly that id."""
        return self.folder(id).joinpath(EVENTS).is_file()

    def _at_hand(self, id: str) -> Path:
        """Return the folder of an existing recording, to read it."""
        return self.folder(id)

    def _called(self, name: str, ids: list[str]) -> str | None:
        """Return the id of the newest recording of that name, among the newest ones, or None."""
        return next((id for id, called in self._names(ids) if called == name), None)

    def _names(self, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the ids and names of the newest recordings."""
        for id in ids[:_SOUGHT]:
            try:
                with shared.opened(self.folder(id) / EVENTS) as file:
                    header = orjson.loads(file.readline())
            except (OSError, ValueError, CorruptRecording):
                continue
            if isinstance(header, dict):
                yield id, str(header.get("name") or "")

    def _near(self, text: str, ids: Sequence[str]) -> str:
        """Return the known reference closest to a mistyped one, or an empty text."""
        from difflib import get_close_matches  # noqa: PLC0415 - for errors alone

        typed = text.lower()[:_LONGEST]
        known = {
            name.lower(): f"{id}, the newest named '{name}'"
            for id, name in reversed([*self._names(ids)])
            if name.isprintable() and len(name) <= _LONGEST
        }
        if len(typed) >= _TELLING:
            known |= {id.lower()[: len(typed)]: id for id in reversed(ids[:_SOUGHT])}
        if ids:
            known["last"] = "last"
        return next((known[each] for each in get_close_matches(typed, known, 1, _ALIKE)), "")

    def load(self, ref: str | os.PathLike[str]) -> RecordedRun:
        """Read one recording."""
        return load(self.find(ref))

    def origins(self, ids: Iterable[str]) -> dict[str, shared.Parentage]:
        """Return the parents of those recordings that have one, by id."""
        return shared.origins(self.recordings, ids)

    def remove(
        self, ref: str | os.PathLike[str], *, detached: bool = False, why: str = "", who: str = ""
    ) -> str:
        """Delete one recording and its blobs; return its id. Its forks are made whole first.

        `detached`: the forks are whole already. With a reason a tombstone is left: `sync` and uploads do not bring it
        back.
        """
        path = self.find(ref)
        if path.parent != self.recordings:
            raise NotARecording(f"{path} lies outside the store; delete it as a file")
        if not detached:
            shared.detach(self.recordings, [path.name])
        if why:
            Tombstones(self.root).add(path.name, why, who)
        if path.is_symlink():
            path.unlink()
        else:
            shutil.rmtree(path)
        return path.name


def nameable(name: str) -> bool:
    """Return True if a folder's name can be an id: commands and indexes need UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def load(path: Path) -> RecordedRun:
    """Read a recording from its folder or its exported file."""
    # A program that only records needs no reader.
    from reenact.core.store.reading import read_recording  # noqa: PLC0415

    return read_recording(path)


def argument_of(recording: RecordedRun) -> str:
    """Return the argument that names it in a command: its id in the default home, else its path."""
    return argument(recording.id, recording.path)


def argument(id: str, path: str) -> str:
    """Return the argument that names a recording of that id and path in a command."""
    return id if Path(path).parent == LocalStore().recordings else shlex.quote(path)


@cache
def _warn_of_empty(folder: Path) -> None:
    """Warn once that `last` skips a recording without events."""
    warn(f"{folder.name} is skipped: its {EVENTS} is empty")


def _at_path(path: Path) -> Path:
    if not path.exists():
        raise RecordingNotFound(f"no recording at {path}: the path does not exist")
    if path.is_dir() and not (path / EVENTS).is_file():
        raise NotARecording(f"{path} is a folder, but no recording: it has no {EVENTS}")
    return path.parent if path.name == EVENTS else path
