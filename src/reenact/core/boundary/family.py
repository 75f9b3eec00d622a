"""The processes of a run, as one of them sees the others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from reenact.core.boundary.lock_order import RecordedTake


class RunProcesses(ABC):
    """The other processes of a run: what this one knows of them, and tells them."""

    several = False
    """True if the run has, or has had, another process than this one."""

    @property
    def folder(self) -> Path | None:
        """The folder of the recording that is written or replayed, if there is one."""
        return None

    def replays(self, name: str) -> bool:
        """Return True if the replayed recording is that of a block of this name."""
        return False

    def begins_block(self, name: str) -> bool:
        """Return True if a `record()` of that name, begun now, is the block that is being replayed."""
        return False

    def taker(self, lock: str, count: int) -> RecordedTake | None:
        """Return the `count`th recorded take of a lock, or use of a file."""
        return None

    def exchange(self, what: str) -> Path | None:
        """Return the folder in which processes of a replay leave such things for each other."""
        return None

    def drawn(self, source: str) -> AbstractSet[Any]:
        """Return what the processes of the recording have drawn from that source."""
        return frozenset()

    def busy(self) -> bool:
        """Return True if a replayed process of the program still runs."""
        return False

    def asks_again(self, name: str, number: int) -> bool | str:
        """Return True if a recorded HTTP request to another process is to be made again.

        A replay waits until that server listens, and for earlier requests of other processes.

        Args:
            name: The request's name (`POST host:port/path`).
            number: The call's number in the recording of this process.

        Returns:
            A text if such a request is answered from the recording: the reason.
        """
        return False

    def serves(self, port: int) -> bool:
        """Return True if another process listened at a port when it was recorded."""
        return False

    def await_server(self, port: int) -> bool:
        """Wait until another process listens at a port; False: no process goes on."""
        return False

    def answered(self, number: int) -> None:
        """Note that a request that was made again is over."""
        return

    @abstractmethod
    def listens(self, port: int, actual: int) -> None:
        """Note that this process listens at a port.

        The actual one has another number if another program uses that port.
        """

    @abstractmethod
    def before_signal(self, pid: int, number: int) -> None:
        """Wait before a signal is sent, in a replay, until its receiver is as far as recorded."""

    @abstractmethod
    def rests(self) -> None:
        """Note that this process, a worker of a pool, waits for its next job."""

    @abstractmethod
    def ends_block(self, output: Any) -> None:
        """Take the output of the replayed block, which ends now."""

    @abstractmethod
    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables with which that process joins the run."""

    @abstractmethod
    def running(self, path: str | None, pid: int | None) -> None:
        """Note that the process runs; without a `pid` it could not be started."""
