"""The first Python of a command that is recorded. It imports nothing that only replays need."""

from __future__ import annotations

import os

from reenact.core.boundary.current import current_scope
from reenact.core.redact import DEFAULT_RULES
from reenact.run.api.recording import RecordingInProgress
from reenact.run.child import stdin, terminals
from reenact.run.child.process import ProgramProcess
from reenact.run.plan import Plan
from reenact.run.reports import report


class RecordedProgram(ProgramProcess):
    """The first Python of a command that is recorded."""

    def __init__(self, plan: Plan) -> None:
        tty = terminals.here()
        stdin.install(_silent)
        super().__init__(plan)
        self._session = RecordingInProgress(
            plan.name,
            tags=plan.tags,
            home=plan.home,
            rules=DEFAULT_RULES,
            entry="program",
            known_as=plan.id,
            risky=plan.risky,
            every=plan.every or None,
            files=False if plan.files is None else plan.files,
        )
        self._session.plan = plan
        self._session.program = {"hash_seed": plan.hash_seed or os.environ.get("PYTHONHASHSEED"), "tty": tty}
        self._session.__enter__()
        report(plan, path=self._session.path)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        current_scope.set(None)
        self._session.ending = {
            **self.ending(status),
            "status": "error" if error is not None or status else "ok",
        }
        self._session.end_run(error)


def _silent(text: str) -> None:
    """Show nothing: while recording, the terminal itself shows the typed text."""
