"""Run the fork that a process was started for, and report its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reenact.core.boundary import Run
from reenact.core.redact import DEFAULT_RULES
from reenact.core.store.local import LocalStore, load
from reenact.errors import DivergenceError, ForkStopped, UsageError
from reenact.run import processes as family
from reenact.run.api.forking import Fork
from reenact.run.fork.edit import parse
from reenact.run.fork.point import point
from reenact.run.plan import FILES, Plan


class PlannedFork(Fork):
    """The fork that a plan asks for.

    Args:
        plan: The plan.
        halted: Called when the fork cannot go on, to end the program promptly.

    Attributes:
        ended: The way it ended, if not by running to its end.
    """

    def __init__(self, plan: Plan, halted: Callable[[], None]) -> None:
        parent, options = load(Path(plan.folder)), plan.options
        where = point(
            parent,
            options["at"],
            parse(options["set"]) or None,
            model=options["model"],
            live=options["live"],
            ignore=options["ignore"],
            policy=options["policy"],
            terminal=options["terminal"],
            command=True,
        )
        super().__init__(parent, where, LocalStore(plan.home), secrets=DEFAULT_RULES)
        self.id, self.plan, self.scratch = plan.id, plan, options[FILES]
        self.ended: Exception | None = None
        self._own = plan
        self._halted = halted

    def begin_run(self) -> Run:
        run = super().begin_run()
        forker = self.child.forker
        forker.on_stop = forker.replayer.state.on_halt = self._halted
        return run

    def end_run(self, error: BaseException | None) -> None:
        try:
            super().end_run(error)
        except (DivergenceError, ForkStopped) as found:
            self.ended = found
            raise
        except UsageError as found:
            self.ended = found

    def tell(self, status: int | None) -> None:
        """Report to the parent: `how` it ended, the `reason`, and the path of a fork that ran."""
        found = self.ended
        how = "ran" if found is None else "stopped" if isinstance(found, ForkStopped) else "failed"
        report: dict[str, Any] = {"how": how, "reason": "" if found is None else str(found), "exit": status}
        if how != "failed":
            report |= {"path": self.path, "reason": self.reason or report["reason"], "ran": self.ran}
        if isinstance(found, DivergenceError):
            report["diverged"] = True
        family.report(self._own, **report)
