"""Processes of `multiprocessing`: their starts, and the patches of all that they share."""

from __future__ import annotations

import multiprocessing.connection
import multiprocessing.context
import multiprocessing.pool
import multiprocessing.process
import multiprocessing.queues
import multiprocessing.util
import os
import threading
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from reenact.adapters import process_locks, process_messages, process_waits, unreceived
from reenact.adapters.concurrency import replace
from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import plain_name, pool_worker
from reenact.adapters.stdlib import environ, witness
from reenact.adapters.stdlib.command import words
from reenact.adapters.stdlib.processes import listening_family, next_name
from reenact.core.boundary import entered

_environ = threading.Lock()


def install(_module: ModuleType) -> None:
    """Patch processes, once: `multiprocessing` has been imported."""
    if getattr(multiprocessing.process.BaseProcess.start, "__wrapped__", None) is not None:
        return
    wrap(multiprocessing.process.BaseProcess, "start", _start)
    _spawn_instead_of_serving()
    wrap(multiprocessing.util, "spawnv_passfds", _spawnv)
    process_messages.install(replace)
    process_waits.install(replace)
    process_locks.install(replace)
    if os.name != "nt":
        connection, queues = multiprocessing.connection.Connection, multiprocessing.queues
        for owner in (queues.Queue, queues.JoinableQueue, queues.SimpleQueue):
            replace(owner, "put", unreceived.sent)
        replace(connection, "send", unreceived.sent)
        replace(connection, "send_bytes", unreceived.sent)


def _start(
    wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    listening = listening_family()
    if listening is None:
        wrapped(*args, **kwargs)
        return
    witness.starts(listening[0])
    target = getattr(instance, "_target", None)
    qualname = getattr(target, "__qualname__", None) or type(instance).__name__
    rules = listening[0].run.rules
    if target is multiprocessing.pool.worker:  # type: ignore[attr-defined]
        qualname = pool_worker(rules)
    name = plain_name(qualname, rules)[:80]
    token = next_name.set(f"proc:{name}")
    try:
        wrapped(*args, **kwargs)
    finally:
        next_name.reset(token)


def _spawn_instead_of_serving() -> None:
    """Spawn the processes that Python's fork server would start.

    The server, the default on Linux from Python 3.14 on, cannot pass a process its scope. A spawned process imports the
    program anew, as a served one does.
    """
    served = getattr(multiprocessing.context, "ForkServerProcess", None)
    if served is None:
        return
    original = served._Popen

    def start(process: Any) -> Any:
        if listening_family() is None:
            return original(process)
        with entered(None):
            # Imported here, as few programs start such a process.
            spawned = import_module("multiprocessing.popen_spawn_posix").Popen
        return spawned(process)

    served._Popen = staticmethod(start)


def _spawnv(wrapped: Callable[..., int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    listening = listening_family()
    name = next_name.get()
    command = words(args[1] if len(args) > 1 else kwargs.get("args", ()))
    if listening is None or name is None or not any("spawn_main" in word for word in command):
        return wrapped(*args, **kwargs)
    scope, family = listening
    path = family.spawning(scope, name, command)
    if path is None:
        pid = wrapped(*args, **kwargs)
    else:
        # `spawnv_passfds` takes no environment: that of this process is changed for a moment, below `os.environ`.
        with entered(None), _environ:
            ours = dict(os.environ)
            added = {**environ.given(scope.run, ours), **family.handover(path, ours)}
            try:
                for key, value in added.items():
                    os.putenv(key, value)
                pid = wrapped(*args, **kwargs)
            finally:
                for key in added:
                    if key in os.environ:
                        os.putenv(key, os.environ[key])
                    else:
                        os.unsetenv(key)
    family.running(path, pid)
    return pid
