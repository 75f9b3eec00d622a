"""The state of a shipper, in a file, because a shipper has no terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Literal

import orjson

from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.team.ship.queue import Queue

State = Literal["sending", "done", "away", "refused"]


@dataclass(frozen=True, slots=True)
class Report:
    """The state of a shipper.

    Attributes:
        server: The server's address.
        state: `sending`; `done`: nothing is left; `away`: the server does not answer; `refused`: the server refuses all
            requests.
        why: The problem, for the states `away` and `refused`.
        at: The time of the report, in seconds since 1970.
        pid: The shipper's process.
        sent: The bytes sent since it began.
        stuck: Recordings that the server refuses, each with the reason.
    """

    server: str
    state: State
    why: str = ""
    at: float = 0.0
    pid: int = 0
    sent: int = 0
    stuck: Mapping[str, str] = field(default_factory=dict)


class News:
    """The file with the state of one destination's shipper.

    Args:
        queue: The queue of the home.
        destination: The destination's name.
    """

    def __init__(self, queue: Queue, destination: str) -> None:
        self._path: Path = queue.folder / f"{destination}.json"

    def write(self, report: Report) -> None:
        """Replace the report; ignore a failed write."""
        with contextlib.suppress(OSError):
            private.write(self._path, orjson.dumps(asdict(report)))

    def read(self) -> Report | None:
        """Return the last report, or None."""
        try:
            return Report(**orjson.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def trouble(self) -> str:
        """Return the problem that the user must know, on one line, or ""."""
        report = self.read()
        if report is None:
            return ""
        if report.state in {"away", "refused"}:
            return report.why
        if report.stuck:
            id, why = next(iter(report.stuck.items()))
            return f"{report.server} refuses recording {id}: {why}"
        return ""
