"""The shipper that a recording process starts: `python -m reenact.team.ship HOME`.

The command for users is `reenact ship`.
"""

from __future__ import annotations

import os
import sys
import time

from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.ship.destination import Destination
from reenact.team.ship.queue import Lock, Queue
from reenact.team.ship.sender import Refused
from reenact.team.ship.shipper import Shipper

_TRIES, _PAUSE = 5, 0.05

SPOOL = "REENACT_SPOOL"
"""The environment variable for spools: `drop` removes recordings that the server has."""


def main(home: str) -> int:
    """Send the marked recordings of a home until none is left; return the exit status."""
    to = Destination.of(os.environ)
    if to is None:
        return 2
    store = LocalStore(home)
    queue = Queue(store.root)
    lock = Lock(queue, to.name)
    while _taken(lock):
        shipper = Shipper(store, to, drop=os.environ.get(SPOOL) == "drop")
        try:
            shipper.run()
        except Refused:
            return 1
        finally:
            shipper.close()
            lock.free()
        # A process that marked a recording just before may have seen the lock, and started no shipper.
        if not any(mark.destination == to.name and mark.id not in shipper.stuck for mark in queue.marks()):
            return 0
        if shipper.away:
            return 1
    return 0


def _taken(lock: Lock) -> bool:
    """Return True if this process got the lock.

    A process that checks for a shipper holds the lock for an instant, so try several times.
    """
    for _ in range(_TRIES):
        if lock.take():
            return True
        time.sleep(_PAUSE)
    return False


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except UsageError as error:
        sys.exit(f"reenact: {error}")
