"""The process on a cluster's node: it imports the program, and forks for each recording."""

from __future__ import annotations

import io
import os
import platform
import shutil
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reenact
from reenact.core.store import bundle, shared
from reenact.core.store.local import SUFFIX, LocalStore
from reenact.errors import ReenactError, StoreAway, UsageError
from reenact.team.location import STORE, TeamPlace
from reenact.verbs.verify.crew import CrewOptions, Report, Worker, worker

if TYPE_CHECKING:
    from reenact.team.store import TeamStore

Parcel = tuple[int, bytes | str]
"""A recording's place, and the recording as a file, or its id in the team's store."""

UNREAD = "unread"
"""In a report: why the node could not read the team's store."""


class Actor:
    """Replays the recordings that it gets, one after the other."""

    def __init__(self, job: CrewOptions) -> None:
        self._worker: Worker = worker(job)
        self._folder = Path(tempfile.mkdtemp(prefix="reenact-"))
        self._team: TeamStore | None = None

    def ready(self) -> dict[str, str]:
        """Import the program; return the node, the version, and the error if it failed."""
        said = {"node": platform.node(), "version": reenact.__version__}
        try:
            self._worker.ready()
        except ReenactError as error:
            said["failed"] = str(error)
        return said

    def run(self, parcels: list[Parcel]) -> list[tuple[int, Report]]:
        """Replay recordings; return their places and reports."""
        return [(place, self._one(place, what)) for place, what in parcels]

    def close(self) -> None:
        """End the work, and delete all files of this actor on the node."""
        self._worker.close()
        if self._team is not None:
            self._team.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _one(self, place: int, what: bytes | str) -> Report:
        try:
            path = self._fetched(what) if isinstance(what, str) else self._written(place, what)
        except ReenactError as error:
            return {UNREAD: str(error)}
        try:
            return self._worker.run(str(path))
        except ReenactError as error:
            return {"failed": str(error)}
        finally:
            # Ten thousand recordings would fill the node's disk.
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()

    def _written(self, place: int, data: bytes) -> Path:
        path = self._folder / f"{place}{SUFFIX}"
        path.write_bytes(data)
        return path

    def _fetched(self, id: str) -> Path:
        if self._team is None:
            self._team = _team(self._folder)
        return self._team.find(id)


def _team(folder: Path) -> TeamStore:
    """Open the team's store that the node's environment names. Raises UsageError, StoreAway."""
    place = TeamPlace.of(os.environ)
    if place is None:
        raise UsageError(f"{STORE} is not set there")
    try:
        from reenact.team.store import TeamStore  # noqa: PLC0415 - drivers that few nodes have
    except ModuleNotFoundError as error:
        raise StoreAway(f"{error.name} is not installed there (reenact[team])") from None
    # Each actor of a node has a cache of its own: they would write into a shared one at once.
    return TeamStore(replace(place, cache=folder / "team"))


def packed(path: Path) -> bytes:
    """Return a recording as one file. Raises RecordingError."""
    if path.is_file():
        return path.read_bytes()
    if not shared.shares(path):
        # Like an exported file, but in memory and with fast compression: it is not kept.
        data = io.BytesIO()
        with zipfile.ZipFile(
            data, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False
        ) as archive:
            for file in sorted(path.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(path))
        return data.getvalue()
    with tempfile.TemporaryDirectory(prefix="reenact-") as folder:
        home = path.parent.parent if path.parent.name == "recordings" else path.parent
        return bundle.export(LocalStore(home), str(path), Path(folder) / f"one{SUFFIX}").read_bytes()


def remote(ray: Any) -> Any:
    """Return the actor for Ray.

    The dispatcher replaces lost actors, not Ray: it knows their work.
    """
    return ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Actor)


def line_of(error: BaseException) -> str:
    """Return Ray's error as one line: the program's own error, if it contains one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception")) and ": " in line]
    with suppress(IndexError):
        return (own[-1:] or lines)[0][:300]
    return type(error).__name__
