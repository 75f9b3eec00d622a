"""Run a replay under the debugger, if the plan asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reenact.core.model.divergence import Verdict
from reenact.run import processes as family
from reenact.run.api.replaying import Replay
from reenact.run.plan import DEBUG, Plan
from reenact.run.streams import StandardStreams

if TYPE_CHECKING:
    from reenact.run.child.debug import Debuggee
    from reenact.run.child.debugger_link import DebuggerLink


class DebuggedProgram:
    """The program under the debugger, if the plan asks for it; otherwise it does nothing."""

    def __init__(self, plan: Plan, streams: StandardStreams) -> None:
        self._line = _line(plan.options.get(DEBUG))
        self._begun = self._line.hear() if self._line is not None else {}
        self._streams = streams
        self._debuggee: Debuggee | None = None

    def attach(self, session: Replay) -> Callable[[int | None, Verdict], None]:
        """Attach the debugger. Return the function to call at the end."""
        if self._line is not None:
            from reenact.run.child.debug import Debuggee  # noqa: PLC0415 - as below

            def moved(known: int) -> None:
                family.moved(known)
                session.moved()
                self._streams.moved()

            replayer, recording = session.replayer, session.recording
            self._debuggee = Debuggee(self._line, self._begun, replayer, recording, moved)
            self._debuggee.attach()
        return self.ended

    def ended(self, status: int | None, verdict: Verdict) -> None:
        """Report that the program has ended."""
        if self._debuggee is not None:
            self._debuggee.ended(status, verdict)


def _line(address: str | None) -> DebuggerLink | None:
    """Return the connection to the debugger, if there is one."""
    if not address:
        return None
    from reenact.run.child.debugger_link import DebuggerLink  # noqa: PLC0415 - a plain replay starts faster without it

    return DebuggerLink.to(address)
