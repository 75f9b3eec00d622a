"""Ask another Python that the program starts if it can join the run.

This process's own Python can. Another one may be too old, or have a version of a package that Reenact cannot use: it is
asked once in a run, and the answer is recorded. One that cannot join is a command like any other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from reenact.core.boundary import Run, current, entered

PROBE = "REENACT_PROBE"
"""The variable with which a Python imports what it needs to join, and ends at once."""

JOINS = 86
"""The exit status of such a Python that can join. One that ignores the variable ends with 0."""

_known: dict[tuple[Run, str], bool] = {}


def end(run: Run) -> None:
    """That run starts no more processes."""
    for key in [key for key in _known if key[0] is run]:
        del _known[key]


def joins(interpreter: str) -> bool:
    """Return True if that Python, as the program names it, can join the run."""
    scope = current()
    found = shutil.which(interpreter)
    if scope is None or scope.run.family is None:
        return True
    if found is not None and Path(found).parent == Path(sys.executable).parent:
        return True
    run = scope.run
    if (run, interpreter) not in _known:
        # In the first scope, so that it does not matter which of several threads asks first.
        told = run.handler.draw(
            run.root, f"process:{Path(interpreter).name}:joins", lambda: _asked(run, found)
        )
        _known[run, interpreter] = told is not False
    return _known[run, interpreter]


def _asked(run: Run, found: str | None) -> bool:
    assert run.family is not None
    if found is None or (run.replaying and not run.handler.gone_live):
        # What is not there does nothing. Recordings made before this question was asked have only those that joined.
        return True
    with entered(None), suppress(OSError, subprocess.SubprocessError):
        environ = {**os.environ, **run.family.handover("probe", os.environ), PROBE: "1"}
        done = subprocess.run(  # noqa: S603 - a Python that the program starts next
            [found, "-c", ""],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return done.returncode == JOINS
    return False
