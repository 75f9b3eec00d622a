"""The process that has imported the program, and forks one child for each recording.

Started as `python -m reenact.verbs.verify.zygote FD ENTRY`; speaks lines of JSON on that descriptor. It has one
thread, so that a fork of it is whole.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import inspect
import os
import select
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

from reenact import adapters
from reenact.core import boundary
from reenact.core.model import codec
from reenact.core.model.divergence import verdict_tree
from reenact.core.model.event import Effect
from reenact.core.model.plain import error_line
from reenact.core.query.recording import Recording
from reenact.core.store.local import load
from reenact.errors import DivergenceError, ReenactError
from reenact.run.api.recording import record
from reenact.run.api.replaying import Replay, replay
from reenact.team import ship

_TAIL = 2000


class Zygote:
    """Takes tasks, forks, and reports.

    Args:
        line: Where tasks come from and reports go to.
        call: Runs the program as a recording says.
    """

    def __init__(self, line: socket.socket, call: Callable[[Recording], Any]) -> None:
        self._line = line
        self._call = call

    def serve(self) -> None:
        """Until the line is closed."""
        for task in self._line.makefile("rb"):
            self._line.sendall(orjson.dumps(self._run(orjson.loads(task)), default=repr) + b"\n")

    def _run(self, task: dict[str, Any]) -> dict[str, Any]:
        began = monotonic()
        reading, writing = os.pipe()
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                os.close(reading)
                self._child(task, writing, output.fileno())
            os.close(writing)
            data, status = _await(child, reading, began + float(task["timeout"]))
            os.close(reading)
            report: dict[str, Any] = {}
            with suppress(ValueError):
                report = orjson.loads(data)
            if not report:
                output.seek(max(0, output.tell() - _TAIL))
                report = {
                    "failed": _how(status, task["timeout"]),
                    "output": output.read().decode("utf-8", "replace"),
                    "killed": status == -signal.SIGKILL,
                }
        return {"seconds": round(monotonic() - began, 4), **report}

    def _child(self, task: dict[str, Any], writing: int, output: int) -> None:
        """The replay, in a process of its own; it never returns."""
        status = 1
        try:
            os.setpgid(0, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            self._line.close()
            data = orjson.dumps(_replayed(task, self._call), default=repr)
            while data:
                data = data[os.write(writing, data) :]
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            os.kill(os.getpid(), signal.SIGKILL) if status else os._exit(0)


def _await(child: int, reading: int, until: float) -> tuple[bytes, int]:
    """Return a child's report and its exit status; end it after `until`."""
    data = b""
    while (left := until - monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            continue
        block = os.read(reading, 1 << 16)
        if not block:
            break
        data += block
    else:
        data = b""
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return data, -1000
    _, status = os.waitpid(child, 0)
    return data, os.waitstatus_to_exitcode(status)


def _how(status: int, timeout: float) -> str:
    if status == -1000:
        return f"no end after {timeout:g} seconds"
    if status < 0:
        with suppress(ValueError):
            return f"the process was ended by {signal.Signals(-status).name}"
    return f"the process ended with exit status {status}, and without a message"


def _replayed(task: dict[str, Any], call: Callable[[Recording], Any]) -> dict[str, Any]:
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
    """The recording does not say with what to call the program."""


def called(session: Replay, call: Callable[[], Any]) -> BaseException | None:
    """Call a function within a replay, and await what it gives. Returns what it raised."""

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


def caller(entry: str) -> Callable[[Recording], Any]:
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

    def call(recording: Recording) -> Any:
        if list(parameters) == ["recording"]:
            return function(recording)
        known = recording.header.get("function")
        args = {}
        if isinstance(known, dict):
            args = {
                key: recording.logs[0].rebuilt(tree) for key, tree in dict(known.get("args") or {}).items()
            }
        try:
            bound = inspect.signature(function).bind(**args)
        except TypeError as error:
            raise _CannotCall(
                f"{entry} cannot be called with what was recorded ({error}); "
                "give an entry that takes one parameter, `recording`"
            ) from None
        return function(*bound.args, **bound.kwargs)

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
    # What is there now is in no child's way.
    gc.freeze()


def main() -> None:
    """The process."""
    line = socket.socket(fileno=int(sys.argv[1]))
    sys.path.insert(0, str(Path.cwd()))
    try:
        call = caller(sys.argv[2])
    except Exception as error:
        line.sendall(orjson.dumps({"failed": f"{sys.argv[2]}: {type(error).__name__}: {error}"}) + b"\n")
        return
    adapters.install()
    _warm_up()
    line.sendall(b'{"ready": true}\n')
    Zygote(line, call).serve()


if __name__ == "__main__":
    main()
