"""Copy recordings between a home and a team's store, in both directions.

No list of transfers is kept: the lengths of the files on both sides show what is missing. So an interrupted transfer
resumes at its last position, and nothing is copied twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.core.store import shared
from reenact.core.store.base import Piece, Progress
from reenact.core.store.deleted import Tombstones
from reenact.core.store.intake import RECEIVED, LocalIntake
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.quotas import IntakeLimits
from reenact.errors import CorruptRecording, RecordingError, RecordingNotFound, ReenactError
from reenact.team.index import TeamIndex
from reenact.team.project_key import adopt, endorse, examined, unendorsed
from reenact.team.ship.queue import Queue, ShipMark
from reenact.team.ship.shipment import Shipment, requests
from reenact.team.store import TeamStore

_TOGETHER = 100
_TRIES = 20
_MANY = 1000


@dataclass(slots=True)
class Transferred:
    """The result of a transfer.

    Attributes:
        ids: The recordings with copied lines or blobs.
        bytes: The size of the copied lines.
        problems: The recordings that failed, in whole or in part, with the reason.
        deleted: The recordings that were skipped because they were deleted on the other side, with the time, person
            and reason.
        removed: The recordings removed here because they came from the team and were deleted there.
        foreign: The copied recordings that are foreign, or were changed after they were sealed, with a sentence.
    """

    ids: list[str] = field(default_factory=list)
    bytes: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)


class TeamExchange:
    """Copies between a home and a team's store.

    Args:
        home: The local recordings.
        team: The team's recordings.
    """

    def __init__(self, home: LocalStore, team: TeamStore) -> None:
        self._home = home
        self._team = team
        self._index = TeamIndex(team)
        self._intake = LocalIntake(home, IntakeLimits(recording=1 << 62, blob=1 << 62), checked=False)

    def close(self) -> None:
        """Stop the background threads."""
        self._intake.close()
        self._index.close()

    def push(self, ids: Sequence[str], progress: Progress | None = None) -> Transferred:
        """Copy recordings to the team. Raises StoreAway; acknowledged data stays there.

        Recordings that are at home here are endorsed with the project's key. Of a recording that is being written, the
        present part is copied. Recordings deleted there are skipped.
        """
        moved, queue = Transferred(), Queue(self._home.root)
        for done, some in _batches(ids, progress):
            gone = self._team.deleted(some)
            moved.deleted |= {id: stone.told for id, stone in gone.items()}
            there = self._team.intake.lengths(some)
            shipments = [
                Shipment(ShipMark(id, "", ""), self._home.folder(id), queue, there.get(id, {}))
                for id in some
                if id not in gone
            ]
            self._compare(shipments)
            self._send(shipments, moved)
            new: dict[str, tuple[Path, Mapping[str, int]]] = {}
            for one in shipments:
                if one.gone:
                    moved.deleted[one.id] = one.gone
                    continue
                if problem := one.stuck or one.lacks:
                    moved.problems[one.id] = problem
                if not one.stuck and one.sent != there.get(one.id, {}):
                    moved.ids.append(one.id)
                    new[one.id] = one.folder, one.sent
            # Summarise them from the local files, so that no reader has to download them for that.
            self._index.settle(new)
            foreign = self._endorse(shipments, new)
            moved.foreign |= {id: why for id, why in foreign.items() if id in new}
            if progress is not None:
                progress(done, len(ids))
        return moved

    def pull(
        self,
        ids: Sequence[str],
        progress: Progress | None = None,
        *,
        again: bool = False,
        endorsed: bool = True,
    ) -> Transferred:
        """Copy recordings from the team. Raises StoreAway; data received before that stays.

        A recording that is longer here stays unchanged. One that was deleted here is skipped.

        Args:
            ids: The recordings.
            progress: Called with the number of finished recordings and their total.
            again: Copy also recordings that were deleted here, and drop their tombstones.
            endorsed: Also store the project's endorsements, so that colleagues' recordings are at home.
        """
        moved, deleted = Transferred(), Tombstones(self._home.root)
        for done, every in _batches(ids, progress):
            gone = deleted.among(every)
            if again:
                for id in gone:
                    deleted.drop(id)
                gone = {}
            moved.deleted |= {
                id: f"{stone.told}; `reenact pull {id}` brings it" for id, stone in gone.items()
            }
            some = [id for id in every if id not in gone]
            there, here = self._team.intake.lengths(some), self._intake.lengths(some)
            brought: set[str] = set()
            for id in some:
                lengths = here.get(id, {})
                if all(lengths.get(name, 0) >= length for name, length in there.get(id, {}).items()):
                    continue
                try:
                    # A fork contains its parent's lines there, and only refers to them here.
                    if not (lengths and shared.shares(self._home.folder(id))):
                        self._team.bring(id, self._intake)
                        moved.bytes += sum(self._intake.lengths([id])[id].values()) - sum(lengths.values())
                        moved.ids.append(id)
                        brought.add(id)
                except RecordingNotFound:
                    # It was deleted there meanwhile.
                    continue
                except RecordingError as error:
                    moved.problems[id] = str(error).removeprefix(f"{id}: ")
            if endorsed:
                adopt(self._team.database, self._home.root, {id: self._home.folder(id) for id in some})
                new = {id: self._home.folder(id) for id in some if id in brought}
                for id, _, standing in examined(self._home.root, new):
                    if not standing.at_home:
                        moved.foreign[id] = standing.sentence
            if progress is not None:
                progress(done, len(ids))
        return moved

    def forget_deleted(self) -> Transferred:
        """Remove pulled and cached recordings that the team has deleted. Raises StoreAway.

        Recordings made here stay. A recording whose fork is being written stays for now.
        """
        moved = Transferred()
        self._team.forget_deleted()
        here = self._home.ids()
        for at in range(0, len(here), _MANY):
            for id, stone in self._team.deleted(here[at : at + _MANY]).items():
                if not (self._home.folder(id) / RECEIVED).is_file():
                    continue
                try:
                    self._home.remove(id)
                    moved.removed[id] = stone.told
                except (ReenactError, OSError) as error:
                    moved.problems[id] = str(error)
        return moved

    def _endorse(self, shipments: Sequence[Shipment], new: Collection[str]) -> dict[str, str]:
        """Endorse recordings that have grown there; return those that are foreign or changed.

        Recordings that were made here and sent by a shipper are endorsed, too.
        """
        left = [one.id for one in shipments if not (one.stuck or one.gone)]
        asked = {
            id
            for id in unendorsed(self._team.database, left)
            if id in new or not (self._home.folder(id) / RECEIVED).is_file()
        }
        folders = {id: self._home.folder(id) for id in asked}
        return endorse(self._team.database, self._home.root, folders)

    def _compare(self, shipments: Sequence[Shipment]) -> None:
        """Check by the first line that a partial recording there is the same recording."""
        heads: list[tuple[Shipment, Piece]] = []
        for one in shipments:
            with contextlib.suppress(FileNotFoundError, CorruptRecording):
                if EVENTS in one.lengths and one.waits:
                    with (one.folder / EVENTS).open("rb") as file:
                        heads.append((one, Piece(one.id, EVENTS, 0, file.readline())))
        taken = self._team.intake.take([piece for _, piece in heads]) if heads else []
        for (one, _), said in zip(heads, taken, strict=True):
            if said.status == "gone":
                one.gone = said.detail
            elif said.status != "ok":
                one.stuck = said.why(EVENTS)

    def _send(self, shipments: Sequence[Shipment], moved: Transferred) -> None:
        """Send all unsent data of the shipments, a few megabytes at a time."""
        tries = 0
        while tries < _TRIES:
            new = left = False
            for some in requests(load for one in shipments for load in one.loads()):
                left = True
                for load, taken in zip(
                    some, self._team.intake.take([one.piece for one in some]), strict=True
                ):
                    load.shipment.settle(load, taken)
                    if taken.status == "ok":
                        new = True
                        moved.bytes += len(load.piece.data) if load.tail is not None else 0
            if not left:
                return
            tries = 0 if new else tries + 1
        for one in shipments:
            # Another client may delete the blobs that this one sends.
            if one.waits and not one.stuck and not one.gone:
                one.stuck = "it changed during the request; try again"


def _batches(ids: Sequence[str], progress: Progress | None) -> Iterator[tuple[int, list[str]]]:
    left = iter(ids)
    done = 0
    if progress is not None:
        progress(0, len(ids))
    while some := list(islice(left, _TOGETHER)):
        done += len(some)
        yield done, some
