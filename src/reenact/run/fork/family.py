"""The processes of a fork: before the step as in a replay, behind it as in a recording."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reenact.core.boundary import Family, Run, Scope
from reenact.core.model.event import Effect
from reenact.core.record.program import takes_part
from reenact.run.fork.handler import Forker
from reenact.run.members import Replayed, record_fork
from reenact.run.plan import Plan
from reenact.run.recorded import Recorded


class Forked(Family):
    """The processes that a fork starts.

    Args:
        replayed: Knows the parent's processes.
        plan: Makes the plan of a recorded process, which holds once the fork is live.
    """

    def __init__(self, run: Run, forker: Forker, replayed: Replayed, plan: Callable[[], Plan]) -> None:
        self._run = run
        self._forker = forker
        self.replayed = replayed
        self._plan = plan
        self._recorded: Recorded | None = None

    @property
    def _now(self) -> Recorded | Replayed:
        if not self._forker.gone_live:
            return self.replayed
        if self._recorded is None:
            self._recorded = Recorded(self._run, self._forker.recorder, self._plan(), record_fork)
        return self._recorded

    def replays(self, name: str) -> bool:
        return self.replayed.replays(name)

    def begins_block(self, name: str) -> bool:
        return self.replayed.begins_block(name)

    def ends_block(self, output: Any) -> None:
        self.replayed.ends_block(output)

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        if not self.replayed.knows(scope, name):
            self._forker.departs()
        now = self._now
        if now is not self.replayed and not _joins(command):
            shown = " ".join(command) or name
            self._forker.act(Effect("process", shown[:200], {"command": list(command)}), scope)
        path = now.spawning(scope, name, command)
        if now is self.replayed and path is not None:
            self._forker.spawned(scope, path, command)
        return path

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        return self._now.handover(path, environ)

    def running(self, path: str | None, pid: int | None) -> None:
        self._now.running(path, pid)

    def forked(self, path: str) -> Scope:
        return self._now.forked(path)

    def finish(self) -> None:
        """End the run."""
        if self._recorded is not None:
            self._recorded.finish()
        self.replayed.close()


def _joins(command: Sequence[str]) -> bool:
    """Return True if a command is this Python and its process joins the fork.

    An empty command is a fork of the process itself.
    """
    if not command:
        return True
    found = shutil.which(command[0])
    same = found is not None and os.path.realpath(found) == os.path.realpath(sys.executable)
    return same and takes_part(tuple(command[1:]))
