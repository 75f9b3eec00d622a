"""One recording to send: its files, and their progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from time import monotonic

from reenact.core.dataclass import dataclass
from reenact.core.store.local import EVENTS
from reenact.errors import CorruptRecording
from reenact.team.ship.queue import Queue, ShipMark
from reenact.team.ship.tail import Tail, blobs, ended, files, sealed
from reenact.team.ship.upload_format import LARGEST, PIECES, Piece, PieceTaken

BODY = 4 << 20
"""Approximate bytes of a request."""

_QUIET = 0.5
"""Seconds without a new byte after which a recording without processes counts as complete."""


@dataclass(frozen=True, slots=True)
class Load:
    """One piece of a recording to send.

    Attributes:
        shipment: The recording's shipment.
        piece: The piece.
        tail: The file of its lines; None for a blob.
        count: The length of the lines in the file here, in bytes.
    """

    shipment: Shipment
    piece: Piece
    tail: Tail | None = None
    count: int = 0


@dataclass(slots=True)
class Shipment:
    """One recording.

    Attributes:
        mark: Its mark in the queue.
        folder: Its folder.
        queue: The queue of its home.
        lengths: The lengths of its files on the server at the start.
        stuck: The reason that the server refuses it, or empty.
        gone: The reason that the server refuses it for ever (it was deleted there), or empty.
        lacks: The blob that the server does not have, with the reason, or empty.
    """

    mark: ShipMark
    folder: Path
    queue: Queue
    lengths: Mapping[str, int]
    stuck: str = ""
    gone: str = ""
    lacks: str = ""
    _tails: dict[str, Tail] = field(default_factory=dict)
    _blobs: set[str] = field(default_factory=set)
    _moved: float = field(default_factory=monotonic)

    def loads(self) -> Iterator[Load]:
        """Yield the unsent data: some lines of each file, after the blobs that they name."""
        if self.stuck or self.gone:
            return
        held = self.held
        if held and self.mark.late:
            return
        for path in files(self.folder):
            try:
                tail = self._tails.get(path.name)
                if tail is None:
                    tail = self._tails[path.name] = Tail(path, self.lengths.get(path.name, 0))
                data, count = tail.new(sealed=not held)
            except CorruptRecording as error:
                self.stuck = str(error)
                return
            except FileNotFoundError:
                continue
            if data:
                yield from self._named(data)
                yield Load(self, Piece(self.id, tail.name, tail.sent, data), tail, count)

    def settle(self, load: Load, taken: PieceTaken) -> None:
        """Apply the server's answer to a load.

        A load for which the server has no room now counts as unsent.
        """
        if taken.status == "full":
            return
        if taken.status == "gone":
            self.gone = taken.detail
            return
        self._moved = monotonic()
        if load.tail is None:
            self._blobs.add(load.piece.name)
            if taken.status != "ok":
                # The lines are sent nevertheless: readers of the recording report a missing blob.
                self.lacks = f"{load.piece.name[:19]}… is not there: {taken.detail}"
        elif taken.status == "ok":
            load.tail.advance(len(load.piece.data), load.count)
        elif taken.status == "gap":
            load.tail.seek(taken.length)
        else:
            self.stuck = taken.why(load.piece.name)

    @property
    def id(self) -> str:
        """The recording's id."""
        return self.mark.id

    @property
    def held(self) -> bool:
        """True if its process still writes it."""
        return self.queue.held(self.id)

    @property
    def waits(self) -> int:
        """The number of unsent bytes of lines. Raises CorruptRecording."""
        total = 0
        for path in files(self.folder):
            tail = self._tails.get(path.name) or Tail(path, self.lengths.get(path.name, 0))
            total += tail.waits
        return total

    @property
    def sent(self) -> dict[str, int]:
        """The length of each file on the server."""
        return {name: tail.sent for name, tail in self._tails.items()}

    @property
    def sealed(self) -> bool:
        """True if the recording is sealed."""
        return sealed(self.folder / EVENTS)

    @property
    def running(self) -> bool:
        """True if more lines may come: one of its processes runs, and has not sealed its file."""
        return self.held or not all(map(ended, files(self.folder)))

    def over(self) -> bool:
        """Return True if it has ended and was sent in full. Call it when there is nothing new."""
        if self.stuck or monotonic() - self._moved < _QUIET or self.running:
            return False
        if any(path.name not in self._tails for path in files(self.folder)):
            return False
        return next(self.loads(), None) is None and not self.stuck

    def _named(self, data: bytes) -> Iterator[Load]:
        for address, file in blobs(data, self.folder):
            if address in self._blobs:
                continue
            size = file.stat().st_size
            if size > LARGEST:
                self._blobs.add(address)
                self.lacks = f"{address[:19]}… is not uploaded: {size} bytes are too many"
                continue
            yield Load(self, Piece(self.id, address, 0, file.read_bytes()))


def requests(loads: Iterable[Load]) -> Iterator[list[Load]]:
    """Group loads into requests of limited size and number of pieces."""
    some: list[Load] = []
    size = 0
    for load in loads:
        if some and (size + len(load.piece.data) > BODY or len(some) == PIECES):
            yield some
            some, size = [], 0
        some.append(load)
        size += len(load.piece.data)
    if some:
        yield some
