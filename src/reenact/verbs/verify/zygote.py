"""The process that has imported the program, and forks one child for each recording.

Started as `python -m reenact.verbs.verify.zygote ENTRY`; speaks lines of JSON on standard input and output. It has one
thread, so that a fork of it is whole. Where no fork is safe it replays one recording itself, and ends: another process
that has imported the program takes the next.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import inspect
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

import orjson

from reenact import adapters
from reenact.core import boundary, system
from reenact.core.model import codec
from reenact.core.model.divergence import verdict_tree
from reenact.core.model.event import Effect
from reenact.core.model.plain import error_line
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import load
from reenact.errors import DivergenceError, ReenactError
from reenact.run.api.recorded_function import bound
from reenact.run.api.recording import record
from reenact.run.api.replaying import Replay, replay
from reenact.run.exit import flush_output
from reenact.team import ship

if sys.platform != "win32":
    from reenact.verbs.verify.forks import forked

_TAIL = 2000


class Zygote:
    """Takes tasks, forks, and reports.

    Args:
        tasks: The input with the tasks.
        reports: The output for the reports.
        call: Runs the program as a recording says.
    """

    def __init__(self, tasks: BinaryIO, reports: BinaryIO, call: Callable[[RecordedRun], Any]) -> None:
        self._tasks, self._reports = tasks, reports
        self._call = call

    def serve(self) -> None:
        """Replay a recording for each task, until the input ends."""
        for line in self._tasks:
            task = orjson.loads(line)
            if sys.platform == "win32" or not system.FORKS:
                self._reports.write(orjson.dumps(_here(task, self._call), default=repr) + b"\n")
                self._reports.flush()
                # The handlers of `atexit` are not run, as in a fork.
                os._exit(0)
            else:
                work = partial(_replayed, task, self._call)
                report = forked(work, float(task["timeout"]), self._close)
                self._reports.write(orjson.dumps(report, default=repr) + b"\n")
                self._reports.flush()

    def _close(self) -> None:
        self._tasks.close()
        self._reports.close()


def _here(task: dict[str, Any], call: Callable[[RecordedRun], Any]) -> dict[str, Any]:
    """Replay one recording in this process, which ends afterwards."""
    began = monotonic()
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        try:
            report = _replayed(task, call)
        except BaseException:
            traceback.print_exc()
            output.seek(max(0, output.tell() - _TAIL))
            text = output.read().decode("utf-8", "replace")
            report = {"failed": "the process ended without a message", "output": text}
        finally:
            flush_output()
    return {"seconds": round(monotonic() - began, 4), **report}


def _replayed(task: dict[str, Any], call: Callable[[RecordedRun], Any]) -> dict[str, Any]:
    """Replay one recording."""
    try:
        recording = load(Path(task["path"]))
    except ReenactError as error:
        return {"failed": str(error)}
    report: dict[str, Any] = {"id": recording.id, "name": recording.name}
    sealed = recording.logs[0].sealed or {}
    if isinstance(sealed.get("error"), dict):
        report["recorded_error"] = error_line(sealed["error"])
    session = replay(recording, **task["options"])
    raised = called(session, lambda: call(recording))
    report["verdict"] = verdict_tree(session.verdict)
    if isinstance(raised, _CannotCall):
        report["failed"] = str(raised)
    elif raised is not None and not isinstance(raised, DivergenceError):
        report["error"] = error_line(codec.encode_error(raised, codec.Encoder()))
    return report


class _CannotCall(Exception):
    """The program cannot be called with the recorded arguments."""


def called(session: Replay, call: Callable[[], Any]) -> BaseException | None:
    """Call a function within a replay, and await its result; return the error that it raised."""

    async def awaited(found: Any) -> None:
        session.output = await found

    try:
        with session:
            found = call()
            if inspect.isawaitable(found):
                asyncio.run(awaited(found))
            elif found is not None:
                session.output = found
    except Exception as error:
        return error
    except SystemExit as leaving:
        return None if leaving.code in (None, 0) else leaving
    return None


def caller(entry: str) -> Callable[[RecordedRun], Any]:
    """Return the function that runs the program, from `pkg.module:function`.

    Raises ImportError, AttributeError or TypeError.
    """
    module, _, name = entry.partition(":")
    function = importlib.import_module(module)
    for part in name.split("."):
        function = getattr(function, part)
    if not callable(function):
        raise TypeError(f"{entry} cannot be called")
    parameters = inspect.signature(function).parameters

    def call(recording: RecordedRun) -> Any:
        if list(parameters) == ["recording"]:
            return function(recording)
        known = recording.header.get("function")
        args = {}
        if isinstance(known, dict):
            args = {
                key: recording.logs[0].rebuilt(tree) for key, tree in dict(known.get("args") or {}).items()
            }
        try:
            given = bound(function, args)
            inspect.signature(function).bind(*given.args, **given.kwargs)
        except TypeError as error:
            raise _CannotCall(
                f"{entry} cannot be called with what was recorded ({error}); "
                "give an entry that takes one parameter, `recording`"
            ) from None
        return function(*given.args, **given.kwargs)

    return call


def _warm_up() -> None:
    """Replay a small recording here, so that each child has the state of a first replay."""
    with tempfile.TemporaryDirectory() as home:
        ship.keep_here(Path(home))
        with record("warm up", home=home) as session:
            boundary.perform(Effect("tool", "warm", {"text": "up"}), lambda: {"warm": 1})
        with replay(session.path):
            boundary.perform(Effect("tool", "warm", {"text": "up"}), lambda: None)
    gc.collect()
    # The objects of the parent are left out of each child's garbage collections.
    gc.freeze()


def main() -> None:
    """Import the program, and serve tasks."""
    tasks, reports = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # The program must not read the tasks or write among the reports.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    entry = sys.argv[1]
    sys.path.insert(0, str(Path.cwd()))
    said: dict[str, Any] = {"ready": True}
    try:
        call = caller(entry)
    except Exception as error:
        said = {"failed": f"{entry}: {type(error).__name__}: {error}"}
    else:
        adapters.install()
        _warm_up()
    reports.write(orjson.dumps(said) + b"\n")
    reports.flush()
    if "ready" in said:
        Zygote(tasks, reports, call).serve()


if __name__ == "__main__":
    main()
