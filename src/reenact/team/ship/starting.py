"""Start sending from a process that records: mark the recording, start a shipper.

No failure here may harm the agent: it causes one line on standard error.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from reenact.core.store.writer import warn
from reenact.errors import MissingExtra, ReenactError
from reenact.team.ship.destination import SERVER, Destination
from reenact.team.ship.news import News
from reenact.team.ship.queue import Held, Lock, Queue, ShipMark

_APART = '"$@" >/dev/null 2>&1 </dev/null &'
"""A shell command that starts a shipper and ends at once.

So the shipper is not a child of the agent, which may wait for its children.
"""

_printed: set[str] = set()


def begin(home: Path, id: str, *, late: bool = False) -> Held | None:
    """Mark a new recording and start a shipper, if the environment names a server.

    Never raises.
    """
    held = enlist(home, id, late=late)
    if held is not None:
        wake(home)
    return held


@contextlib.contextmanager
def sending(home: Path, id: str) -> Iterator[None]:
    """Mark a recording that another process, started by the body, writes.

    The mark is held during the body, because the last line may still be corrected after the process has ended.
    """
    held = begin(home, id)
    try:
        yield
    finally:
        ended(home, held)


def ended(home: Path, held: Held | None) -> None:
    """Release the mark of an ended recording, so that its last line is sent. Never raises."""
    if held is not None:
        held.release()
        wake(home, say=True)


def enlist(home: Path, id: str, *, late: bool = False) -> Held | None:
    """Mark a recording of this process; return None if it must not be sent. Never raises."""
    try:
        to = Destination.of(os.environ)
        if to is None or (queue := Queue(home)).private:
            return None
        return queue.add(ShipMark(id, to.server, to.name, late))
    except (ReenactError, OSError) as error:
        _once(f"nothing is sent to a server: {error}")
        return None


def wake(home: Path, *, say: bool = False) -> None:
    """Start a shipper if recordings wait; with `say`, report the failure of the last one.

    Never raises.
    """
    try:
        to = Destination.of(os.environ)
        queue = Queue(home)
        if to is None or queue.private or not queue.changed():
            return
        if say and (trouble := News(queue, to.name).trouble()):
            _once(f"{trouble}; recordings wait in {home} (`reenact ship --status`)")
        lock = Lock(queue, to.name)
        if lock.take():
            lock.free()
            _start(home)
    except (ReenactError, OSError) as error:
        _once(f"nothing is sent to a server: {error}")


def _start(home: Path) -> None:
    if not sys.executable:
        _once("recordings are not sent automatically: no suitable Python was found; use `reenact ship`")
        return
    if find_spec("httpx") is None:
        _once(f"recordings are not sent: {MissingExtra(SERVER, 'ship')}; they wait in {home}")
        return
    words = [sys.executable, "-m", "reenact.team.ship", str(home)]
    environ = {
        name: value for name, value in os.environ.items() if name not in {"REENACT_RUN", "REENACT_JOIN"}
    }
    shell = ["/bin/sh", "-c", _APART, "sh", *words]
    subprocess.run(shell, check=False, env=environ, cwd="/", start_new_session=True)  # noqa: S603 - ourselves


def _once(text: str) -> None:
    if text not in _printed:
        _printed.add(text)
        warn(text)
