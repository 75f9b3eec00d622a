"""Run a program under Reenact: the code before its first line and after its last.

Called by `run/bootstrap/sitecustomize.py`. The program does not notice: its environment is restored, its streams stay
the same, and an error here while recording causes one line on standard error.
"""

from __future__ import annotations

import os
import sys
from functools import wraps

from reenact.core import system
from reenact.core.store.writer import warn
from reenact.errors import ProgramError, ReenactError
from reenact.run.child.process import ProgramProcess
from reenact.run.exit import on_exit
from reenact.run.plan import GUARD, RESUME, SWITCH, Plan, take
from reenact.run.reports import report, reserve


def begin() -> None:
    """Take this process's plan, and follow it."""
    plan = take(os.environ)
    if plan is None:
        return
    try:
        _follow(plan)
    except ReenactError as error:
        _give_up(plan, str(error))
    except Exception as error:
        _give_up(plan, f"{type(error).__name__}: {error}")


def _follow(plan: Plan) -> None:
    if plan.process == "main" and not reserve(plan.report, "main"):
        # The command has started a Python before this one.
        plan = plan.child("main~1")
        if plan.mode in ("fork", RESUME):
            raise ProgramError(f"the command starts several Pythons, and a {plan.mode} can have only one")
    system.widen_stacks()
    if (interval := plan.options.get(SWITCH)) is not None:
        sys.setswitchinterval(float(interval))
    process: ProgramProcess
    if plan.mode == "record" and plan.process == "main":
        from reenact.run.child.recorded import RecordedProgram  # noqa: PLC0415 - replays need no such process

        process = RecordedProgram(plan)
    else:
        from reenact.run.child.joined import process_of  # noqa: PLC0415 - what replays need would delay recordings

        process = process_of(plan)
    on_exit(process.end)
    sys.exit = wraps(sys.exit)(lambda status=None, /: process.exit(status))  # type: ignore[assignment]


def _give_up(plan: Plan, text: str) -> None:
    report(plan, failed=text)
    if plan.mode != "record" or GUARD in plan.options:
        if plan.process != "main":
            warn(f"the process {plan.process} does not run: {text}")
        # A program that is to be answered from a recording must not run for real.
        os._exit(2)
    warn(f"this process is not recorded: {text}")
