"""List the recordings that wait to be sent."""

from __future__ import annotations

from reenact.core.dataclass import dataclass
from reenact.core.store.local import LocalStore
from reenact.errors import CorruptRecording
from reenact.team.ship.destination import Destination
from reenact.team.ship.news import News
from reenact.team.ship.queue import Queue, ShipMark
from reenact.team.ship.sender import Away, Refused, Sender
from reenact.team.ship.shipment import Shipment


@dataclass(frozen=True, slots=True)
class Waiting:
    """A recording that the server does not have in full.

    Attributes:
        id: Its id.
        server: The server's address.
        live: True if it is being recorded.
        missing: Bytes of its events that the server does not have, as far as known.
        why: The reason that the server refuses it; empty if it only waits.
    """

    id: str
    server: str
    live: bool
    missing: int
    why: str = ""


def waiting(store: LocalStore, to: Destination | None) -> tuple[list[Waiting], str]:
    """Return the waiting recordings, and the reason that the server cannot be asked, or ""."""
    queue = Queue(store.root)
    marks = queue.marks()
    there: dict[str, dict[str, int]] = {}
    trouble = ""
    if to is not None:
        mine = [mark.id for mark in marks if mark.server == to.server]
        try:
            with Sender(to) as sender:
                there = sender.lengths(mine)
        except (Away, Refused) as error:
            trouble = str(error)
    found = [_waiting(store, queue, mark, there.get(mark.id, {})) for mark in marks]
    report = News(queue, to.name).read() if to is not None else None
    if report is not None:
        # Recordings that the server has, except for data that it refuses.
        known = {mark.id for mark in marks}
        left = (
            (id, why) for id, why in report.stuck.items() if id not in known and store.folder(id).is_dir()
        )
        found += [Waiting(id, report.server, live=False, missing=0, why=why) for id, why in left]
    return found, trouble


def _waiting(store: LocalStore, queue: Queue, mark: ShipMark, lengths: dict[str, int]) -> Waiting:
    report = News(queue, mark.destination).read()
    why = report.stuck.get(mark.id, "") if report is not None else ""
    shipment = Shipment(mark, store.folder(mark.id), queue, lengths)
    try:
        missing = shipment.waits
    except CorruptRecording as error:
        missing, why = 0, str(error)
    return Waiting(mark.id, mark.server, queue.held(mark.id), missing, why)
