"""Send marked recordings until the queue is empty."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from reenact.core.store.local import LocalStore
from reenact.core.store.writer import warn
from reenact.errors import ReenactError
from reenact.team.ship.destination import Destination
from reenact.team.ship.news import News, Report
from reenact.team.ship.queue import Queue, ShipMark
from reenact.team.ship.sender import Away, Refused, Sender
from reenact.team.ship.shipment import Load, Shipment, requests

_PIECE = 64 << 10
"""Bytes that justify a request at once; fewer wait for more."""

_PULSE = 0.2
"""Seconds between two searches for new lines, and so the delay of the server's copy."""

_LIVE = 10.0
"""Seconds after which the server is told again which recordings are running."""

_TICK = 1_000_000_000
"""Nanoseconds by which a folder's time of change may be late."""

_LINGER = 5.0
_TOLD = 1.0
_LONGEST = 10.0
_AGAIN = 300.0
"""Seconds after which a refused recording is tried again."""

_ROOM = 60.0
"""Seconds after which a server that had no room is asked again."""

_ENOUGH = 3600.0
"""Seconds without an answer after which the shipper gives up.

It does not give up while a recording is being written; the next shipper tries again.
"""


class Shipper:
    """Sends marked recordings to one server.

    Args:
        store: The home.
        to: The server, and the key.
        drop: Remove each local recording once the server has all of it.
        chosen: Selects the marks; by default those that were made for this server and key.
    """

    def __init__(
        self,
        store: LocalStore,
        to: Destination,
        *,
        drop: bool = False,
        chosen: Callable[[ShipMark], bool] | None = None,
    ) -> None:
        self.queue = Queue(store.root)
        self.finished: list[str] = []
        self.dropped: dict[str, str] = {}
        """The recordings that are not sent because the server has deleted them, with the reason."""
        self._store = store
        self._to = to
        self._drop = drop
        self._chosen = chosen or (lambda mark: mark.destination == to.name)
        self._sender = Sender(to)
        self._news = News(self.queue, to.name)
        self._report = Report(to.server, "sending", pid=os.getpid())
        self._said = 0.0
        self._shipments: dict[str, Shipment] = {}
        self._lacking: dict[str, str] = {}
        self._behind = False
        self._seen = -1
        self._tries = 0
        self._away = 0.0
        self._live = 0.0
        self._retry = monotonic() + _AGAIN

    @property
    def stuck(self) -> dict[str, str]:
        """The recordings that the server refuses, with the reason."""
        now = {one.id: one.stuck or one.lacks for one in self._shipments.values() if one.stuck or one.lacks}
        return {**self._lacking, **now}

    @property
    def waiting(self) -> dict[str, int]:
        """The unsent bytes of each unfinished recording."""
        return {one.id: one.waits for one in self._shipments.values()}

    @property
    def away(self) -> bool:
        """True if the server did not answer the last request."""
        return bool(self._away)

    def close(self) -> None:
        """Close the connection, and write the report."""
        self._write_report(force=True)
        self._sender.close()

    def run(self) -> None:
        """Send until the queue is empty and no recording is written, or the server stays away.

        Raises Refused.
        """
        idle = monotonic()
        while True:
            began = monotonic()
            try:
                sent = self.round()
            except Away as away:
                time.sleep(self.backoff(away))
                if monotonic() - self._away > _ENOUGH and not any(map(self.held, self.queue.marks())):
                    return
                continue
            if sent or any(not one.stuck for one in self._shipments.values()):
                idle = monotonic()
            elif monotonic() - idle > _LINGER:
                return
            if not self._behind:
                # Wait, because many small requests cost more than a few larger ones.
                time.sleep(max(0.0, began + _PULSE - monotonic()))

    def flush(self, patience: float = 30.0) -> None:
        """Send all present data, and finish ended recordings.

        Raises Away after `patience` seconds, and Refused.
        """
        until = monotonic() + patience
        while True:
            try:
                if not self.round() and all(one.stuck or one.running for one in self._shipments.values()):
                    return
            except Away as away:
                pause = self.backoff(away)
                if monotonic() + pause > until:
                    raise
                time.sleep(pause)
                continue
            if not self._behind:
                time.sleep(_PULSE)

    def round(self) -> int:
        """Send the new data once; return its bytes. Raises Away, Refused."""
        began = monotonic()
        try:
            self._look()
            sent, self._behind = 0, False
            for loads in requests(load for one in list(self._shipments.values()) for load in one.loads()):
                sent += self._send(loads)
            if not sent:
                self._finish()
                if began - self._live > _LIVE and any(map(self.held, self._marks)):
                    self._send([])
        except Refused as refused:
            self._say(state="refused", why=str(refused))
            raise
        self._tries, self._away = 0, 0.0
        self._say(state="sending" if self._shipments else "done", why="")
        return sent

    def held(self, mark: ShipMark) -> bool:
        """Return True if a running process still writes a recording."""
        return self.queue.held(mark.id)

    def backoff(self, away: Away) -> float:
        """Return the seconds until the next try.

        The time doubles at each failure, with a random factor so that not all shippers try at once.
        """
        self._away = self._away or monotonic()
        self._say(state="away", why=str(away))
        self._tries += 1
        pause: float = min(_LONGEST, 0.25 * 2**self._tries)
        if away.after:
            # The server has named a time.
            return min(max(away.after, pause), _AGAIN) * random.uniform(1, 1.25)
        return pause * random.uniform(0.5, 1)

    # -- within ----------------------------------------------------------------------------------------------

    @property
    def _marks(self) -> list[ShipMark]:
        return [one.mark for one in self._shipments.values()]

    def _look(self) -> None:
        """Add newly marked recordings, from the lengths that the server has."""
        if self._away or monotonic() > self._retry:
            # After a failure, the server's lengths are unknown.
            self._shipments.clear()
            self._seen, self._retry = -1, monotonic() + _AGAIN
        changed = self.queue.changed()
        if changed == self._seen and time.time_ns() - changed > _TICK:
            return
        fresh = [mark for mark in self.queue.marks() if mark.id not in self._shipments and self._chosen(mark)]
        lengths = self._sender.lengths([mark.id for mark in fresh]) if fresh else {}
        for mark in fresh:
            known = lengths.get(mark.id, {})
            self._shipments[mark.id] = Shipment(mark, self._store.folder(mark.id), self.queue, known)
        self._seen = changed

    def _send(self, loads: list[Load]) -> int:
        self._live = monotonic()
        pieces = [load.piece for load in loads]
        answers = self._sender.send(pieces, [mark.id for mark in self._marks if self.held(mark)])
        for load, taken in zip(loads, answers, strict=True):
            load.shipment.settle(load, taken)
            self._behind |= load.tail is not None and load.tail.waits > _PIECE
        size = sum(len(piece.data) for piece in pieces)
        self._report = replace(self._report, sent=self._report.sent + size)
        if full := next((one.detail for one in answers if one.status == "full"), None):
            raise Away(f"{self._to.server} has no room: {full}", _ROOM)
        return size

    def _finish(self) -> None:
        for id, shipment in list(self._shipments.items()):
            if shipment.gone:
                # The local recording stays, and is not tried again.
                self.dropped[id] = shipment.gone
                warn(f"{id} is not sent to {self._to.server}: {shipment.gone}")
                self.queue.remove(id)
                del self._shipments[id]
                continue
            if not shipment.over():
                continue
            if self._drop:
                self._let_go(shipment)
            self.queue.remove(id)
            del self._shipments[id]
            self.finished.append(id)
            if shipment.lacks:
                self._lacking[id] = shipment.lacks

    def _let_go(self, shipment: Shipment) -> None:
        """Remove a local recording that the server has in full.

        A recording that cannot be removed (a fork of it runs) stays.
        """
        there = self._sender.lengths([shipment.id]).get(shipment.id)
        try:
            if shipment.sealed and not shipment.lacks and there == shipment.sent:
                self._store.remove(shipment.id)
        except (ReenactError, OSError):
            return

    def _say(self, *, state: str, why: str) -> None:
        changed = state != self._report.state or why != self._report.why or self.stuck != self._report.stuck
        self._report = replace(self._report, state=state, why=why, stuck=self.stuck)  # type: ignore[arg-type]
        self._write_report(force=changed)

    def _write_report(self, *, force: bool = False) -> None:
        if force or monotonic() - self._said > _TOLD:
            self._said = monotonic()
            self._report = replace(self._report, at=time.time())
            self._news.write(self._report)
