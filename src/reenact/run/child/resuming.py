"""Resume the recording that a process was started for, and report its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reenact.adapters import stdlib
from reenact.core import boundary
from reenact.core.boundary import Run
from reenact.core.model.event import Tree
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.rulings import named
from reenact.core.store.local import load
from reenact.errors import Halt, UsageError
from reenact.run import processes as family
from reenact.run import state_at_end
from reenact.run.api.run_context import RunContext
from reenact.run.fork.resumption import Resumption
from reenact.run.plan import Plan
from reenact.run.processes import UNSET


class Resuming(RunContext):
    """The recording that a plan resumes.

    Args:
        plan: The plan.
        halted: Called when it cannot go on, to end the program promptly.

    Attributes:
        parent: The recording.
        output: The output of a recorded block or function.
        ending: The seal's data about the program's end.
    """

    def __init__(self, plan: Plan, halted: Callable[[], None]) -> None:
        self.plan = plan
        self.parent = load(Path(plan.folder))
        self.ending: dict[str, Tree] = {}
        self._halted = halted
        self._resumption: Resumption | None = None
        self._said: dict[str, Any] = {}

    @property
    def recording(self) -> RecordedRun:
        """The recording."""
        return self.parent

    @property
    def path(self) -> str:
        """Its folder."""
        return self.parent.path

    @property
    def live(self) -> bool:
        """True if calls run for real by now."""
        return self._resumption is not None and self._resumption.handler.gone_live

    def begin_run(self) -> Run:
        if boundary.current() is not None:
            raise UsageError("a recording cannot be resumed inside a recording or a replay")
        options = self.plan.options
        found = Resumption(self.parent, self.plan, tuple(options["policy"]), str(options["terminal"]))
        found.handler.on_stop = found.replayer.state.on_halt = self._halted
        stdlib.begin(found.run)
        self._resumption = found
        return found.run

    def end_run(self, error: BaseException | None) -> None:
        resumed = self._resumption
        if resumed is None:
            return
        handler = resumed.handler
        self.ending = {**state_at_end.sealed(resumed.run), **self.ending}
        stdlib.end(resumed.run)
        departed = handler.poison.divergence if handler.poison is not None else resumed.family.departure()
        resumed.family.finish()
        if resumed.files is not None:
            resumed.files.end()
        failed = ""
        if departed is not None:
            failed = f"the program is not the recorded one, or no longer: {departed}"
        elif handler.stop is None and (call := handler.lost()) is not None:
            step = resumed.replayer.step_of(call.number)
            failed = f"the program ended without asking step {step}, {call.label}, again"
        stopped = handler.stop.reason if handler.stop is not None else ""
        if failed or stopped:
            resumed.close()
            self._said = {"how": "failed" if failed else "stopped", "reason": failed or stopped}
            return
        resumed.recorder.snapshots.finish(resumed.run)
        if self.output is UNSET:
            self.output = resumed.family.replayed.output
        resumed.seal(self.sealing(resumed.run, resumed.recorder, None if isinstance(error, Halt) else error))
        answered = [f"{label} ({why})" for label, why in sorted(resumed.replayer.tools.answered.items())]
        ran = list(named(handler.gate.guard.ran))
        self._said = {"how": "ran", "reason": "", "ran": ran, "answered": answered}

    def tell(self, status: int | None) -> None:
        """Report to the parent: `how` it ended, and the `reason`."""
        family.report(self.plan, **self._said, exit=status)
