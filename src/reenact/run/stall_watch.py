"""Notice that no process of a replay goes on."""

from __future__ import annotations

import os
import threading
from typing import Any, cast

from reenact.adapters.deadlines import pause
from reenact.adapters.process_activity import StandStill
from reenact.core.boundary import Run, entered

_LOOK = 0.05


class StallWatch:
    """Passes over places of a replay that do not come, where all its processes wait.

    A place waits as long as another process runs. A changed program may leave out the call of that place, and the
    other process may wait for what comes behind it.

    Args:
        run: The replay of this process.
        cut_off: This process was killed when it was recorded.
    """

    def __init__(self, run: Run, *, cut_off: bool) -> None:
        self._run = run
        self._cut_off = cut_off
        self._watches = False

    def watch(self) -> None:
        """Watch from now on, until this process ends."""
        if self._watches:
            return
        self._watches = True
        watcher = threading.Thread(target=self._watch, name="reenact-stall", daemon=True)
        watcher.reenact_own = True  # type: ignore[attr-defined]
        with entered(None):
            watcher.start()

    def _watch(self) -> None:
        joined, orphan, parent = "/" in self._run.root.path, False, os.getppid()
        still, turnstile = StandStill(joined=joined), cast("Any", self._run.turnstile)
        while not self._run.handler.gone_live:
            pause(_LOOK)
            if joined and os.getppid() != parent:
                if self._cut_off:
                    # Nothing else ends it now.
                    os._exit(0)
                joined, orphan, still = False, True, StandStill(joined=False)
            elif still.found():
                if orphan:
                    os._exit(0)
                turnstile.stall()
