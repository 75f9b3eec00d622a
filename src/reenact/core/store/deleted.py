"""Tombstones: the record of deleted recordings, so that they do not come back by themselves.

A folder keeps them as `deleted/<id>.json`; a team's store has a table of them. Uploads, `sync` and `pull --all` leave
out recordings with a tombstone. An explicit request for one recording (`pull ID`, `import`) gets it, and removes the
tombstone.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import orjson

from reenact.core import private, system
from reenact.core.dataclass import dataclass
from reenact.core.model.header import ID
from reenact.core.model.storable import integer, storable

LASTS = 10 * 365 * 86_400
"""The seconds for which a tombstone is in force."""

_SECOND = 1_000_000_000
_SHORT = 1000
_LARGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The tombstone of one deleted recording.

    Attributes:
        id: Its id.
        at: The time of the deletion, in nanoseconds since 1970, by the clock of the store that held it.
        until: The time until which the id is not taken again, in the same unit.
        why: The reason.
        who: The person who deleted it.
    """

    id: str
    at: int
    until: int
    why: str
    who: str

    @property
    def told(self) -> str:
        """Return one line that says that it was deleted and is not accepted again."""
        day = datetime.fromtimestamp(self.at / _SECOND, UTC).date()
        who = f" by {self.who}" if self.who else ""
        return f"it was deleted on {day}{who} ({self.why}), and is not accepted again"


class Tombstones:
    """The tombstones of a folder. Any thread or process may ask.

    Args:
        root: The folder of the store.
    """

    def __init__(self, root: Path) -> None:
        self._folder = root / "deleted"

    def add(self, id: str, why: str, who: str = "") -> None:
        """Add the tombstone of a recording. Raises OSError."""
        if not ID.fullmatch(id):
            return
        now = time.time_ns()
        stone = Tombstone(id, now, now + LASTS * _SECOND, storable(why, _SHORT), storable(who, _SHORT))
        private.folder(self._folder)
        part = self._folder / f".{id}.{system.random_hex(4)}.part"
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(orjson.dumps(asdict(stone)))
        part.replace(self._folder / f"{id}.json")

    def drop(self, id: str) -> None:
        """Remove a tombstone; harmless if there is none."""
        if ID.fullmatch(id):
            with contextlib.suppress(OSError):
                (self._folder / f"{id}.json").unlink(missing_ok=True)

    def get(self, id: str) -> Tombstone | None:
        """Return a recording's tombstone if it is in force, else None."""
        if not ID.fullmatch(id):
            return None
        try:
            with (self._folder / f"{id}.json").open("rb") as file:
                said = orjson.loads(file.read(_LARGEST))
            at, until = integer(said["at"]), integer(said["until"])
            why, who = storable(str(said["why"]), _SHORT), storable(str(said["who"]), _SHORT)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            # A damaged tombstone still says that the recording was deleted.
            return Tombstone(id, 0, 1 << 62, "its tombstone is damaged", "")
        found = Tombstone(id, max(at or 0, 0), until or 0, why, who)
        return found if found.until > time.time_ns() else None

    def among(self, ids: Iterable[str]) -> dict[str, Tombstone]:
        """Return those of some recordings that have one in force."""
        if not self._folder.is_dir():
            return {}
        return {id: stone for id in ids if (stone := self.get(id)) is not None}
