"""Read the files of a team's recordings from the database, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import func, select

from reenact.core.store.base import Intake, Piece, PieceTaken
from reenact.errors import CorruptRecording, RecordingError
from reenact.team.database import Database
from reenact.team.tables import BLOBS, CHUNKS

_BATCH = 200
_BYTES = 4 << 20


class StoredPieces:
    """Reads the lines and the list of blobs of a recording.

    Args:
        database: The team's database.
        place: The name of the store, for messages.
    """

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place

    def blobs(self, key: int) -> Sequence[str]:
        """Return the addresses of the blobs that a recording names."""
        with self._database.begin() as connection:
            return connection.execute(select(BLOBS.c.address).where(BLOBS.c.recording == key)).scalars().all()

    def of_file(self, id: str, key: int, name: str, start: int) -> Iterator[Piece]:
        """Yield the lines of a file from a position on, a few megabytes at a time."""
        while True:
            asked = (
                select(CHUNKS.c.at, CHUNKS.c.data)
                .where(
                    CHUNKS.c.recording == key,
                    CHUNKS.c.name == name,
                    CHUNKS.c.at + func.length(CHUNKS.c.data) > start,
                )
                .order_by(CHUNKS.c.at)
                .limit(_BATCH)
            )
            parts: list[bytes] = []
            at = start
            with self._database.begin() as connection:
                for begins, data in connection.execute(asked):
                    if begins > at:
                        raise CorruptRecording(f"{id}: {name} lacks bytes {at} to {begins} in {self._place}")
                    parts.append(bytes(data)[at - begins :])
                    at += len(parts[-1])
                    if at - start > _BYTES:
                        break
            if not parts:
                return
            yield Piece(id, name, start, b"".join(parts))
            start = at


def append(intake: Intake, piece: Piece) -> None:
    """Append a piece to another store. Raises RecordingError if that refuses it."""
    (taken,) = intake.take([piece])
    if taken.status != "ok":
        raise RecordingError(_why(piece, taken))


def _why(piece: Piece, taken: PieceTaken) -> str:
    if taken.status == "differs":
        return f"{piece.recording}: {piece.name} differs between here and there; delete one of the two"
    return f"{piece.recording}: {taken.why(piece.name)}"
