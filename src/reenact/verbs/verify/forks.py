"""Replay a recording in a fork of this process, which has one thread."""

from __future__ import annotations

import os
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import orjson

from reenact.core import system
from reenact.run.exit import flush_output

assert sys.platform != "win32", "Windows has no fork"

_TAIL = 2000


def forked(work: Callable[[], dict[str, Any]], timeout: float, close: Callable[[], None]) -> dict[str, Any]:
    """Return the report of the work, done in a child process.

    Args:
        work: What the child does.
        timeout: Seconds after which it is ended.
        close: Called in the child first: it closes what belongs to this process alone.
    """
    began = monotonic()
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _child(work, close, writing, output.fileno())
        os.close(writing)
        data, status = _await(child, reading, began + timeout)
        os.close(reading)
        report: dict[str, Any] = {}
        with suppress(ValueError):
            report = orjson.loads(data)
        if not report:
            output.seek(max(0, output.tell() - _TAIL))
            report = {
                "failed": _how(status, timeout),
                "output": output.read().decode("utf-8", "replace"),
                "killed": status == -signal.SIGKILL,
            }
    return {"seconds": round(monotonic() - began, 4), **report}


def _child(work: Callable[[], dict[str, Any]], close: Callable[[], None], writing: int, output: int) -> None:
    """Do the work in the child process; never return."""
    status = 1
    try:
        os.setpgid(0, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        close()
        data = orjson.dumps(work(), default=repr)
        while data:
            data = data[os.write(writing, data) :]
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        flush_output()
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
        system.kill_group(child)
        os.waitpid(child, 0)
        return data, -1000
    _, status = os.waitpid(child, 0)
    return data, os.waitstatus_to_exitcode(status)


def _how(status: int, timeout: float) -> str:
    if status == -1000:
        return f"no end after {timeout:g} seconds"
    return system.ending(status)
