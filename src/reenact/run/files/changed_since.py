"""Files that a replay reads or runs as they were recorded, and that have changed since."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from reenact.core.files.trees import changes
from reenact.core.query.recorded_run import RecordedRun
from reenact.run.files.disk import Laid


def changed_since(laid: Laid, recording: RecordedRun) -> dict[str, str]:
    """Return the files with another content now, which this replay reads as they were recorded.

    Their paths, each with the one to show. Files that the recorded run itself has changed are left out.
    """
    if not laid.older:
        return {}
    own = {
        path
        for log in recording.logs
        for change in changes(log)
        if change.how != "first"
        for path in change.states
    }
    here = Path.cwd()
    return {
        path: os.path.relpath(path, here) if Path(path).is_relative_to(here) else path
        for path in laid.older
        if laid.recorded(Path(path)) not in own
    }


def code_that_ran(files: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each of these files that this process has run or imported."""
    modules = list(sys.modules.values()) if files else []
    ran = {os.path.realpath(name) for name in map(_file_of, modules) if name}
    for path, shown in files.items():
        if os.path.realpath(path) in ran:
            yield (
                f"{shown} has changed since, and its recorded code ran: the recorded run had read it as a file; "
                "--files live runs what is there now"
            )


def _file_of(module: object) -> str:
    """Return the file of a module.

    At the end of a program Python has taken `__file__` from its first module.
    """
    members = getattr(module, "__dict__", {})
    name = members.get("__file__") or getattr(members.get("__loader__"), "path", None)
    return name if isinstance(name, str) else ""
