"""Exchange claims and verdicts between processes, as files in a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from reenact.core import system
from reenact.core.model.event import Tree
from reenact.core.store.lines import read_events
from reenact.core.store.local import EVENTS
from reenact.run.plan import Plan, key

_CLAIM = ".claim"


def report(plan: Plan, **what: Any) -> None:
    """Write a report for the parent."""
    folder = Path(plan.report)
    if not plan.report or not folder.is_dir():
        return
    path = folder / f"{key(plan.process)}.json"
    part = path.with_suffix(".part")
    part.write_bytes(orjson.dumps({"process": plan.process, "pid": os.getpid(), **what}, default=repr))
    part.replace(path)


def reported(folder: str, process: str) -> dict[str, Any] | None:
    """Return the reported verdict of a process, as a tree, or None."""
    try:
        tree = orjson.loads((Path(folder) / f"{key(process)}.json").read_bytes())
    except (OSError, ValueError):
        return None
    verdict = tree.get("verdict")
    return verdict if isinstance(verdict, dict) else None


def reserve(folder: str, process: str) -> bool:
    """Take the name of a process in a replay, once."""
    if not folder:
        return True
    try:
        with Path(folder, f"{key(process)}{_CLAIM}").open("x", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {process}")
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def claimed(folder: str, process: str) -> bool:
    """Return True if a process of a replay has begun."""
    return Path(folder, f"{key(process)}{_CLAIM}").exists()


def ended(folder: Path) -> set[str]:
    """Return the processes of a replay that have begun and ended."""
    found = set()
    for path in folder.glob(f"*{_CLAIM}"):
        number, _, process = path.read_text(encoding="utf-8").partition(" ")
        if number.isdigit() and not system.runs(int(number)):
            found.add(process)
    return found


def has_file(folder: str, path: str) -> bool:
    """Return True if a process has written events to the folder of a recording."""
    return (Path(folder) / f"events.{key(path)}.jsonl").exists()


def header_of(folder: Path) -> Mapping[str, Tree]:
    """Return the header of the recording in a folder."""
    with (folder / EVENTS).open("rb") as file:
        return next(iter(read_events(file.readline(), str(folder / EVENTS), []))).data


def logs() -> set[str]:
    """Return the paths of the log files of the module `logging`."""
    known = sys.modules.get("logging")
    handlers = [reference() for reference in getattr(known, "_handlerList", ())]
    names = [getattr(handler, "baseFilename", None) for handler in handlers]
    return {os.path.realpath(name) for name in names if isinstance(name, str)}
