"""Open the local recordings and, by their ids, those of the environment's team store.

A recording that only the team's store has is copied to the cache by its id or prefix (see `reenact.team.store`) and
read from there: the local folder contains only recordings that were made or pulled here. `last`, a path and a list mean
local recordings. While the store is away, local and cached recordings are found nevertheless.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.core.extras import needing
from reenact.core.model.header import ID
from reenact.core.store.local import LocalStore
from reenact.core.store.writer import warn
from reenact.errors import AmbiguousRecording, RecordingError, StoreAway, UsageError
from reenact.team.location import OBJECTS, STORE, TeamPlace

if TYPE_CHECKING:
    from reenact.team.store import TeamStore

_PATIENCE = 3
"""Seconds to wait for a server when the recording may be local."""

_NAMED = 8


def team_store(place: TeamPlace, *, patience: int = 0) -> TeamStore:
    """Open the team's store. Raises MissingExtra if its packages are not installed.

    Args:
        place: The addresses of the store.
        patience: Seconds to wait for its Postgres; 0 for the default.
    """
    with needing("team", "the team's store"):
        from reenact.team.store import TeamStore  # noqa: PLC0415 - drivers that few need
    return TeamStore(place, patience=patience) if patience else TeamStore(place)


class Reaching(LocalStore):
    """The recordings in a folder, and those of the team's store by their ids.

    A server must not use it, because its projects are not the environment's.
    """

    def lies_there(self, path: Path) -> TeamStore | None:
        """Open the team's store if `find` returned a cached copy from it; else return None."""
        place = _place()
        return team_store(place) if place is not None and path.parent == place.cache / "recordings" else None

    def kept(self, ref: str) -> str:
        """Return the id of a recording in this folder; copy it there first if it is elsewhere.

        Raises UsageError for a recording in another local folder.
        """
        found = self.find(ref)
        if (team := self.lies_there(found)) is not None:
            from reenact.team.ship.exchange import TeamExchange  # noqa: PLC0415 - drivers that few need

            with team, closing(TeamExchange(self, team)) as exchange:
                moved = exchange.pull([found.name])
            if why := moved.problems.get(found.name):
                raise UsageError(f"{found.name}: {why}")
        elif found.is_file():
            return self._imported(found)
        elif found.parent != self.recordings:
            named = shlex.join(["--home", str(found.parent.parent), found.name])
            raise UsageError(f"{ref} is not in {self.root}; name its home: {named}")
        return found.name

    def _imported(self, file: Path) -> str:
        """Import an exported file if its recording is not here yet; return the recording's id."""
        from reenact.core.store.bundle import SAME, bring  # noqa: PLC0415 - zip files, which few commands read

        try:
            return bring(self, file)
        except RecordingError as error:
            if not str(error).endswith(SAME):
                raise
            return self.load(file).id

    def _begun(self, text: str, ids: Sequence[str]) -> Path | None:
        mine = [id for id in ids if id.startswith(text)]
        if not ID.fullmatch(text) or len(mine) > 1:
            return super()._begun(text, ids)
        try:
            place = _place()
            return super()._begun(text, ids) if place is None else self._either(text, mine, place)
        except UsageError as error:
            if not mine:
                raise
            warn(str(error))
            return self._at_hand(mine[0])

    def _either(self, text: str, mine: list[str], place: TeamPlace) -> Path | None:
        try:
            with team_store(place, patience=_PATIENCE) as team:
                there = [id for id in team.beginning(text, _NAMED + 2) if id not in mine]
                if not mine and text in there:
                    # A whole id is never a prefix of another one.
                    there = [text]
                if len(mine) + len(there) > 1:
                    raise AmbiguousRecording(_either_of(text, mine, there, place))
                return _brought(team, there[0], self.root) if there else self._mine(mine)
        except StoreAway as error:
            found = self._mine(mine) or _before(place, text)
            if found is None:
                raise
            warn(f"{error}; this is {'what is here' if mine else 'as it was brought here before'}")
            return found

    def _mine(self, ids: Sequence[str]) -> Path | None:
        return self._at_hand(ids[0]) if ids else None

    def _sought(self) -> str:
        place = _place()
        return self.place if place is None else f"{self.place}, nor in {place.name}"


def place_of(store: str = "", objects: str = "", project: str = "") -> TeamPlace:
    """Return the team's store of the options or the environment. Raises UsageError without one."""
    place = TeamPlace.of(os.environ, store=store, objects=objects, project=project)
    if place is None:
        raise UsageError(
            f"which team's store? Set {STORE}=postgresql://user@host/database and {OBJECTS}=s3://bucket/prefix"
        )
    return place


def cached(path: Path) -> bool:
    """Return True for a cached copy of a recording in the team's store."""
    place = _place()
    return place is not None and path.parent == LocalStore(place.cache).recordings


def _place() -> TeamPlace | None:
    return TeamPlace.of(os.environ)


def _brought(team: TeamStore, id: str, home: Path) -> Path:
    before = _size(team.folder(id))
    found = team.find(id)
    team.adopt([id], home)
    if (new := _size(found) - before) > 0:
        warn(
            f"{id} is in {team.place}: {'brought' if not before else 'what is new was brought'} here ({new:,} bytes)"
        )
    return found


def _before(place: TeamPlace, text: str) -> Path | None:
    """Return the cached copy with that id prefix; None for none or several."""
    cache = LocalStore(place.cache)
    matches = [id for id in cache.ids() if id.startswith(text)]
    chosen = [text] if text in matches else matches
    return cache.folder(chosen[0]) if len(chosen) == 1 else None


def _either_of(text: str, mine: Sequence[str], there: Sequence[str], place: TeamPlace) -> str:
    many = f"{len(mine) + len(there)}" if len(there) <= _NAMED else "many"
    shown = [*(f"{id} (here)" for id in mine), *there[:_NAMED]]
    return f"'{text}' may be any of {many} recordings: {', '.join(shown)} (in {place.name})"


def _size(folder: Path) -> int:
    try:
        return sum(path.stat().st_size for path in folder.iterdir() if path.suffix == ".jsonl")
    except OSError:
        return 0
