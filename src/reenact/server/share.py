"""A server in front of a team's store: pass uploads on, and copy the store's recordings.

The project's folder on the server is a copy that all routes read, as without a team's store. Several servers may use
one store, and a server may be lost with its disk.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import monotonic

from sqlalchemy import select

from reenact.core import private
from reenact.core.store.base import Intake, Piece, PieceTaken
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import LocalStore
from reenact.core.store.writer import warn
from reenact.errors import ReenactError, StoreAway
from reenact.server.operations.logs import event
from reenact.team.index import TeamIndex
from reenact.team.location import TeamPlace
from reenact.team.ship.exchange import TeamExchange
from reenact.team.store import TeamStore

_ROUND = 2.0
"""Seconds between two checks for recordings from others."""

_AGAIN = 30.0
"""Seconds until a failed download is tried again."""

_FEW = 50

_OVERLAP = 600_000_000_000
"""Nanoseconds before the last check that are checked again.

A deletion is dated before it is committed.
"""

_BLOB = re.compile(rb'"(sha256:[0-9a-f]{64})"')


class Share:
    """One project of a team's store, and the server's copy of it.

    Args:
        place: The addresses of the store, and the project.
        here: The server's copy.
        touched: Called with the id of each recording whose copy has changed.
    """

    def __init__(self, place: TeamPlace, here: LocalStore, touched: Callable[[str], None]) -> None:
        self._team = TeamStore(place)
        self._project = place.project
        self._here = here
        self._touched = touched
        self._exchange = TeamExchange(here, self._team)
        self.intake: Intake = _Through(self._team.intake, LocalIntake(here))
        self._seen: dict[str, int] = {}
        self._failed: set[str] = set()
        self._retry = 0.0
        self._away = False
        self._behind = 0
        self._told = 0
        self._marks = here.root / "made"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reenact-team", daemon=True)

    def start(self) -> None:
        """Start copying the store's recordings."""
        self._thread.start()

    def close(self) -> None:
        """Stop, after the current download."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(10)
        self.intake.close()
        self._exchange.close()
        self._team.close()

    @property
    def behind(self) -> int:
        """The number of recordings that are not copied yet."""
        return self._behind

    def answers(self) -> bool:
        """Check that the database answers. Raises StoreAway."""
        with self._team.database.begin() as connection:
            connection.execute(select(1))
        return True

    def has_objects(self) -> bool:
        """Check the object store with a request for a missing blob. Raises StoreAway."""
        self._team.blobs.has(f"sha256:{'0' * 64}")
        return True

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Return the number and the bytes of recordings, by project. Raises StoreAway."""
        return self._team.database.sizes()

    def made(self, id: str) -> None:
        """Mark a recording that this server made for upload; the mark survives a restart."""
        private.folder(self._marks)
        (self._marks / id).touch()

    def remove(self, id: str, *, why: str, who: str) -> None:
        """Delete a recording in the store, if it exists. Raises RecordingHeld, StoreAway."""
        if id in self._team.intake.lengths([id]):
            self._team.remove(id, why=why, who=who)

    def _run(self) -> None:
        index = TeamIndex(self._team)
        while not self._ended.is_set():
            try:
                self._send()
                self._forget()
                self._bring()
                index.settle_some(self._here, _FEW)
                self._away = False
            except Exception as error:
                if not self._away:
                    kind = type(error).__name__
                    if not event("store_away", logging.WARNING, project=self._project, error=kind):
                        warn(f"recordings of other machines cannot be copied here ({error}); trying again")
                self._away = True
            self._ended.wait(_ROUND)
        index.close()

    def _send(self) -> None:
        for mark in list(self._marks.iterdir()) if self._marks.is_dir() else ():
            try:
                self._send_one(mark)
            except StoreAway:
                # The next round tries again.
                return
            except (ReenactError, OSError):
                # It is just being replaced.
                continue

    def _send_one(self, mark: Path) -> None:
        if not self._here.folder(mark.name).is_dir():
            # It was deleted meanwhile.
            mark.unlink()
            return
        made = mark.stat().st_mtime_ns
        if self._team.intake.lengths([mark.name]):
            # A trace with later spans becomes another recording of the same id.
            self._team.replace(mark.name)
        moved = self._exchange.push([mark.name])
        # Send a recording again that was replaced meanwhile, and one for which there was no room.
        if mark.name in moved.deleted:
            # It was replaced after it was deleted in the store.
            self._here.remove(self._here.folder(mark.name))
            self._touched(mark.name)
            mark.unlink()
        elif not moved.problems and mark.stat().st_mtime_ns == made:
            mark.unlink()

    def _forget(self) -> None:
        """Remove the local copies of recordings that were deleted in the store."""
        began = self._team.database.now()
        gone = self._team.deleted(since=max(0, self._told - _OVERLAP) if self._told else 0)
        for id in gone:
            if not self._here.folder(id).is_dir():
                continue
            try:
                self._here.remove(self._here.folder(id))
            except (ReenactError, OSError):
                # A fork of it is being written; the next round tries again.
                began = self._told
                continue
            self._touched(id)
        self._told = began

    def _bring(self) -> None:
        there = self._team.versions()
        if monotonic() > self._retry:
            self._seen = {id: version for id, version in self._seen.items() if id not in self._failed}
            self._failed, self._retry = set(), monotonic() + _AGAIN
        # The newest first, because they are most likely to be read next.
        new = sorted((id for id in there if self._seen.get(id) != there[id]), key=lambda id: -there[id])
        self._behind = len(new)
        for at in range(0, len(new), _FEW):
            some = new[at : at + _FEW]
            # Without the project's endorsements: only the operator decides which programs this server runs.
            moved = self._exchange.pull(some, endorsed=False)
            for id in moved.ids:
                self._touched(id)
            self._failed |= moved.problems.keys()
            self._seen |= {id: there[id] for id in some}
            self._behind = max(0, self._behind - len(some))
            if self._ended.is_set():
                return
        self._seen = {id: version for id, version in self._seen.items() if id in there}


class _Through:
    """An intake that writes to the team's store, then to the server's copy.

    A piece that is answered with ok is committed in the store. A piece that the copy refuses is copied later, like
    those that others send. The copy takes no line before the blobs that it names, or the recording would look complete.
    """

    def __init__(self, team: Intake, copy: Intake) -> None:
        self._team = team
        self._copy = copy

    def lengths(self, ids: Iterable[str]) -> dict[str, dict[str, int]]:
        return self._team.lengths(ids)

    def has(self, id: str, address: str) -> bool:
        return self._team.has(id, address)

    def take(self, pieces: Sequence[Piece]) -> list[PieceTaken]:
        taken = self._team.take(pieces)
        there = [piece for piece, said in zip(pieces, taken, strict=True) if said.status == "ok"]
        # If the server's disk is full, the pieces are committed in the store nevertheless.
        with contextlib.suppress(OSError):
            self._copy.take([piece for piece in there if piece.name.startswith("sha256:")])
            self._copy.take([piece for piece in there if self._may(piece)])
        return taken

    def _may(self, piece: Piece) -> bool:
        if piece.name.startswith("sha256:"):
            return False
        named = (address.decode() for address in _BLOB.findall(piece.data))
        return all(self._copy.has(piece.recording, address) for address in named)

    def heard(self, ids: Iterable[str]) -> None:
        self._copy.heard(ids)

    def close(self) -> None:
        self._team.close()
        self._copy.close()
