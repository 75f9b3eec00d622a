"""A process of a run: the program's end, its exit status and its output."""

from __future__ import annotations

import sys
import threading
from typing import Any

from reenact.core import system
from reenact.core.model.event import Tree
from reenact.core.record.program import packages
from reenact.run.plan import Plan
from reenact.run.streams import StandardStreams


class ProgramProcess:
    """The common base: the program's end and its output."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.streams = StandardStreams()
        self.output = self.streams.out
        self._exit: Any = sys.exit
        self._exited: Any = None
        self._left = False
        self.streams.install_for_process()

    def exit(self, status: Any = None, /) -> None:
        """Replace `sys.exit`, to keep its argument: nothing else tells the exit status."""
        if threading.current_thread() is threading.main_thread():
            self._left, self._exited = True, status
        self._exit(status)

    def end(self, code: int | None) -> None:
        """End the process, with its exit status if it is known."""
        raise NotImplementedError

    def status(self, code: int | None) -> tuple[int | None, BaseException | None]:
        """Return the exit status, as far as it is known here, and the error that ended the program."""
        if code is not None:
            return code, None
        if self._left:
            given = self._exited
            return system.exit_status(given) if isinstance(given, int) else 0 if given is None else 1, None
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if isinstance(error, BaseException):
            return (None if isinstance(error, KeyboardInterrupt) else 1), error
        return 0, None

    def ending(self, code: int | None) -> dict[str, Tree]:
        """Return the seal's data about the program's end."""
        return {"exit": code, **self.streams.tree(), "packages": _imported()}


def _imported() -> dict[str, str]:
    """Return the versions of the imported packages, found by their modules' names."""
    tops = {name.partition(".")[0].lower().replace("_", "-") for name in list(sys.modules)}
    return {
        name: version
        for name, version in packages().items()
        if name in tops or name.removesuffix("-slim") in tops or name.replace(".", "-") in tops
    }
