"""Readiness checks, each of one thing that the server needs.

Clients need no key, so an answer contains only the name of a failed check: no address, no path, no name. A hanging
check must not block the request: each runs in its own thread, one at a time, and counts as failed until it returns.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path

from reenact.core.store.quotas import IntakeLimits

Check = Callable[[], str]
"""A check: returns "" or a short problem. An exception counts as a failure."""

OK = "ok"
SILENT = "does not answer"
_PATIENCE = 2.0
_LASTS = 1.0


class Checks:
    """The readiness checks of a server.

    Args:
        checks: The checks by name.
        patience: Seconds for one check.
        lasts: Seconds for which an answer is reused for frequent requests.
    """

    def __init__(
        self, checks: Mapping[str, Check], *, patience: float = _PATIENCE, lasts: float = _LASTS
    ) -> None:
        self._checks = dict(checks)
        self._patience = patience
        self._lasts = lasts
        self._lock = threading.Lock()
        self._asked: dict[str, Future[str]] = {}
        self._last: tuple[float, dict[str, str]] = float("-inf"), {}

    async def ask(self) -> dict[str, str]:
        """Run the checks. Returns, by name, `ok` or the problem."""
        at, known = self._last
        if time.monotonic() - at < self._lasts:
            return known
        asked = {name: asyncio.wrap_future(self._begun(name)) for name in self._checks}
        if asked:
            await asyncio.wait(asked.values(), timeout=self._patience)
        found = {name: one.result() if one.done() else SILENT for name, one in asked.items()}
        self._last = time.monotonic(), found
        return found

    @property
    def last(self) -> dict[str, str]:
        """The last answer; empty before the first request."""
        return self._last[1]

    def _begun(self, name: str) -> Future[str]:
        with self._lock:
            running = self._asked.get(name)
            if running is not None and not running.done():
                return running
            future = self._asked[name] = Future()
        check = self._checks[name]

        def run() -> None:
            try:
                future.set_result(check() or OK)
            except Exception:
                # The message may name addresses.
                future.set_result(SILENT)

        threading.Thread(target=run, name=f"reenact-check-{name}", daemon=True).start()
        return future


def ready(found: Mapping[str, str]) -> bool:
    """Return True if every check is ok."""
    return all(said == OK for said in found.values())


def room(folder: Path, least: int = IntakeLimits().free) -> Check:
    """Make a check that a folder's disk has enough free bytes for uploads.

    Args:
        folder: The folder, which may not exist yet.
        least: The least number of free bytes.
    """

    def check() -> str:
        enough = shutil.disk_usage(_nearest(folder)).free >= least
        return "" if enough else f"less than {least >> 20} MB free"

    return check


def writable(folder: Path) -> Check:
    """Make a check that a folder, or its nearest existing parent, is writable."""

    def check() -> str:
        return "" if os.access(_nearest(folder), os.W_OK | os.X_OK) else "cannot be written to"

    return check


def _nearest(folder: Path) -> Path:
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
