"""Limits of a project in a team's store: its size, and the age of its recordings.

Administrators set them; writers respect them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from reenact.core.dataclass import dataclass
from reenact.errors import UsageError
from reenact.team.tables import BLOBS, LIMITS, PROJECTS, RECORDINGS

_AGAIN = 15.0
"""Seconds for which a count is reused.

Several servers may exceed the limit together by the recordings of this time.
"""

_AGAIN_FULL = 3.0


@dataclass(frozen=True, slots=True)
class ProjectLimits:
    """The limits of a project. None means no limit.

    Attributes:
        keep: Seconds for which a recording is kept after it was last written to.
        most_bytes: Most bytes of lines and blobs; a blob counts for each recording that has it.
        most_recordings: Most recordings.
    """

    keep: int | None = None
    most_bytes: int | None = None
    most_recordings: int | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A project with its use and its limits."""

    name: str
    key: int
    limits: ProjectLimits
    recordings: int
    bytes: int


def projects(connection: Connection, name: str = "") -> list[Project]:
    """Return all projects by name, or only the named one.

    Raises:
        UsageError: There is no project of that name.
    """
    asked = select(PROJECTS.c.key, PROJECTS.c.name, *_COLUMNS).join_from(PROJECTS, LIMITS, isouter=True)
    rows = connection.execute(asked.order_by(PROJECTS.c.name)).all()
    if name and name not in (there := [row.name for row in rows]):
        raise UsageError(f"there is no project '{name}'; there are: {', '.join(there) or 'none yet'}")
    return [
        Project(row.name, row.key, ProjectLimits(*row[2:]), *used(connection, row.key))
        for row in rows
        if name in ("", row.name)
    ]


def used(connection: Connection, project: int) -> tuple[int, int]:
    """Return the number of recordings in a project, and their bytes."""
    lines = select(func.count(), func.coalesce(func.sum(RECORDINGS.c.bytes), 0))
    many, size = connection.execute(lines.where(RECORDINGS.c.project == project)).one()
    blobs = select(func.coalesce(func.sum(BLOBS.c.size), 0)).join_from(BLOBS, RECORDINGS)
    more = connection.execute(blobs.where(RECORDINGS.c.project == project)).scalar_one()
    return many, int(size + more)


def limits_of(connection: Connection, project: int) -> ProjectLimits:
    """Return the limits of a project."""
    row = connection.execute(select(*_COLUMNS).where(LIMITS.c.project == project)).first()
    return ProjectLimits() if row is None else ProjectLimits(*row)


def limit(connection: Connection, project: int, limits: ProjectLimits) -> None:
    """Set the limits of a project."""
    said = {"keep": limits.keep, "most_bytes": limits.most_bytes, "most_recordings": limits.most_recordings}
    wanted = insert(LIMITS).values(project=project, **said)
    connection.execute(wanted.on_conflict_do_update(index_elements=[LIMITS.c.project], set_=said))


class Room:
    """The room left in a project, counted from time to time. Thread-safe.

    Args:
        now: A clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._until = float("-inf")
        self._limits = ProjectLimits()
        self._bytes: int | None = None
        self._recordings: int | None = None

    def look(self, connection: Connection, project: int) -> None:
        """Count again if the last count is too old."""
        with self._lock:
            if self._now() < self._until:
                return
            self._limits = limits = limits_of(connection, project)
            self._bytes = self._recordings = None
            if limits.most_bytes is not None or limits.most_recordings is not None:
                many, size = used(connection, project)
                self._bytes = None if limits.most_bytes is None else limits.most_bytes - size
                self._recordings = None if limits.most_recordings is None else limits.most_recordings - many
            full = any(left is not None and left <= 0 for left in (self._bytes, self._recordings))
            self._until = self._now() + (_AGAIN_FULL if full else _AGAIN)

    def problem(self, *, size: int = 0, recordings: int = 0) -> str:
        """Return the reason that there is no room, or "".

        If there is room, the bytes and recordings count as stored.
        """
        with self._lock:
            if recordings and self._recordings is not None and self._recordings < recordings:
                return self._full(f"{self._limits.most_recordings:,} recordings")
            if size and self._bytes is not None and self._bytes < size:
                return self._full(f"{self._limits.most_bytes:,} bytes")
            if self._bytes is not None:
                self._bytes -= size
            if self._recordings is not None:
                self._recordings -= recordings
            return ""

    def _full(self, most: str) -> str:
        self._until = min(self._until, self._now() + _AGAIN_FULL)
        return f"the project may have at most {most}, and has them: ask its administrator for room"


_COLUMNS = LIMITS.c.keep, LIMITS.c.most_bytes, LIMITS.c.most_recordings
