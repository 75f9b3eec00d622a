"""All of it at once: agents that ship to a `reenact serve` before a Postgres and an object store; and the comparison."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
from sqlalchemy import func, select

from reenact.core.store.local import LocalStore
from reenact.team.ship.destination import Destination
from reenact.team.ship.news import News
from reenact.team.ship.queue import Queue
from reenact.team.store import TeamStore
from reenact.team.tables import BLOBS, CHUNKS
from tests.team.servers import killed
from tests.team.ship.serving import Server, eventually, files, free_port

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Killable:
    """What can be killed and started again."""

    kill: Callable[[], None]
    start: Callable[[], None]


class Rig:
    """Agents, the server that they ship to, and the team's store behind it.

    Args:
        place: The team's store.
        environ: What finds its object store.
        folder: Where all is kept that is not there.
        home: The agents' home; by default a folder in `folder`.
        server: The server's home; by default a folder in `folder`.
    """

    def __init__(self, place, environ, folder, *, home=None, server=None):
        self.place = place
        self.home = home or folder / "home"
        told = {"REENACT_STORE": place.database, "REENACT_OBJECTS": place.objects, **environ}
        self.server = Server(server or folder / "server", free_port(), told)
        self._stop = folder / "stop"
        self._agents = None
        self._shippers = []
        self._queue = Queue(self.home)

    def start(self, agents=3):
        """Start the server, and agents that ship to it."""
        self.server.start()
        environ = self.server.environ(self.home)
        words = [sys.executable, "-m", "tests.team.agents", str(agents), str(self._stop)]
        self._agents = subprocess.Popen(words, cwd=ROOT, env=environ, stderr=subprocess.DEVNULL)

    def going(self, seconds=60):
        """Wait until something new has been acknowledged."""
        before = self.sent()
        eventually(lambda: self.sent() != before, seconds)

    def sent(self):
        """What the shipper says that it has sent, and who it is."""
        report = self._report()
        return (report.pid, report.sent) if report is not None else None

    def told(self):
        """What the shipper says to people."""
        report = self._report()
        return report.why if report is not None else ""

    @property
    def shipper(self):
        """What sends, to be killed; the next recording starts it again, and here a person."""
        return Killable(self.kill_shipper, self.ship)

    def listed(self, seconds):
        """What a reader of the server sees, within so many seconds."""
        asked = urllib.request.Request(
            f"{self.server.url}/api/v1/recordings", headers={"Authorization": f"Bearer {self.server.key}"}
        )
        with urllib.request.urlopen(asked, timeout=seconds) as answer:
            return orjson.loads(answer.read())["items"]

    def kill_shipper(self):
        report = self._report()
        if report is not None:
            killed(report.pid)

    def ship(self):
        """Start a shipper, as the next recording would."""
        words = [sys.executable, "-m", "reenact.team.ship", str(self.home)]
        environ = self.server.environ(self.home)
        self._shippers.append(subprocess.Popen(words, env=environ, stderr=subprocess.DEVNULL))

    def end(self):
        """Let the agents end; they must, whatever happened to the rest."""
        self._stop.touch()
        assert self._agents.wait(120) == 0

    def all_there(self, seconds=90):
        """Wait until all is acknowledged."""
        eventually(lambda: not self._queue.marks(), seconds)

    def close(self):
        self._stop.touch()
        if self._agents is not None:
            self._agents.kill()
            self._agents.wait()
        self.kill_shipper()
        for one in self._shippers:
            one.kill()
            one.wait()
        self.server.kill()

    def compare(self, cache, *, copy=True):
        """All that the agents wrote is in the team's store once, and byte for byte; and then on the server.

        Args:
            cache: An empty folder to read the team's store by.
            copy: Whether the server's copy is compared too.

        Returns:
            How many events and blobs that is.
        """
        written = files(self.home / "recordings")
        with TeamStore(replaced(self.place, cache)) as team:
            ids = LocalStore(self.home).ids()
            assert sorted(team.ids()) == sorted(ids)
            for id in ids:
                team.find(id)
            there = {
                name: data for name, data in files(cache / "recordings").items() if not name.endswith("/team")
            }
            assert same(there, written)
            with team.database.begin() as connection:
                # Each byte of a file is in one chunk, and in no other.
                asked = select(func.sum(func.length(CHUNKS.c.data)))
                lines = sum(len(data) for name, data in written.items() if "/blobs/" not in name)
                assert connection.execute(asked).scalar() == lines
                noted = set(connection.execute(select(BLOBS.c.address)).scalars())
            kept = {f"sha256:{Path(name).name}" for name in written if "/blobs/" in name}
            assert noted == kept
            assert all(hashlib.sha256(team.blobs.get(one)).hexdigest() == one[7:] for one in noted)
        if copy:
            # It comes there by itself, within some seconds.
            eventually(lambda: same(files(self.server.recordings), written))
        return sum(data.count(b"\n") for name, data in written.items() if "/blobs/" not in name), len(kept)

    def _report(self):
        return News(self._queue, Destination(self.server.url, self.server.key).name).read()


def same(there, written):
    """Whether one is the other. A blob that somebody was killed while writing has no name yet, and is none."""
    return {name: data for name, data in there.items() if not name.endswith(".part")} == written


def replaced(place, cache):
    """The same store, read by another folder."""
    return place.of_project(place.project, cache)
