"""The proofs of recordings: the number of faithful replays under other conditions.

A proof is bound to the recording's content: it does not hold for a changed one. It is kept with the user's keys, and
not with the recording: a download cannot bring one along.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.model.storable import storable
from reenact.core.trust.book import Book
from reenact.core.trust.consent import content_at

_SHORT = 100
_MOST = 20
_MANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Proof:
    """A recording's proof.

    Attributes:
        times: The number of faithful replays, at least 1.
        at: The time of the proof, ISO 8601 in UTC.
        conditions: The conditions that the replays had between them.
    """

    times: int
    at: str
    conditions: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The proof in a line."""
        times = "once" if self.times == 1 else f"{self.times} times"
        return f"proved {times} on {self.at[:10]}: {', '.join(self.conditions) or 'as recorded'}"


class Proofs:
    """The proofs that a home knows, as read at creation.

    Args:
        book: The home's book.
    """

    def __init__(self, book: Book) -> None:
        self._book = book
        self._known: dict[str, Proof] = {}
        self._ids: set[str] = set()
        for line in book.proofs():
            content = str(line.get("content"))
            self._known.pop(content, None)
            if (proof := _proof(line)) is not None:
                self._known[content] = proof
                self._ids.add(str(line.get("id")))

    def of(self, id: str, path: str) -> Proof | None:
        """Return the proof of a recording, by its id and its folder or file; None if it has none."""
        if id not in self._ids:
            return None
        try:
            return self._known.get(content_at(Path(path)))
        except (OSError, zipfile.BadZipFile):
            return None

    def put(self, id: str, content: str, proof: Proof | None) -> None:
        """Remember that a recording with that content is proved, or is not.

        A proof with fewer replays than the known one changes nothing. Raises UsageError if it cannot be written.
        """
        known = self._known.get(content)
        if proof is None and known is None:
            return
        if proof is not None and known is not None and known.times > proof.times:
            return
        line = (
            {"times": proof.times, "at": proof.at, "conditions": proof.conditions} if proof else {"times": 0}
        )
        self._book.add_proof({"content": content, "id": id, **line})


def _proof(line: dict[str, Any]) -> Proof | None:
    times, conditions = line.get("times"), line.get("conditions")
    if not isinstance(times, int) or not 0 < times < _MANY or not isinstance(conditions, list):
        return None
    texts = tuple(storable(str(each), _SHORT) for each in conditions[:_MOST])
    return Proof(times, storable(str(line.get("at")), _SHORT), texts)
