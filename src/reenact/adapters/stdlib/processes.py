"""Child processes that join the run: Python, `multiprocessing`, `os.fork`, `os.exec*`.

Each is told which scope it is, before it starts. What it does then is its own business. Commands of other kinds are
effects (`popen.py`).
"""

from __future__ import annotations

import atexit
import inspect
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import environ, interpreters, popen, witness
from reenact.adapters.stdlib.command import asks_the_machine, is_python, title, words
from reenact.core.boundary import Family, Scope, current, entered
from reenact.core.boundary.current import current_scope

if sys.platform == "linux":
    from reenact.adapters.stdlib import spawned, terminals

_EXITING: list[Callable[[int | None], None]] = []
"""Called when the process ends by `os._exit`, which no other hook hears of."""

next_name: ContextVar[str | None] = ContextVar("reenact_next_process", default=None)
"""The name of the process that this code is about to start."""

_forks = threading.local()


def install() -> None:
    """Hook the starting of processes, once."""
    if getattr(os._exit, "_reenact", False):
        return
    wrap(subprocess.Popen, "__init__", _popen)
    popen.install()
    if hasattr(os, "fork"):
        wrap(os, "fork", _fork)
    if sys.platform == "linux":
        terminals.install()
        spawned.install()
    for name in ("execv", "execve"):
        wrap(os, name, _exec)
    original = os._exit

    def exit_now(status: int) -> None:
        for heard in _EXITING:
            heard(status)
        original(status)

    exit_now._reenact = True  # type: ignore[attr-defined]
    exit_now.__name__ = exit_now.__qualname__ = "_exit"
    exit_now.__module__ = "os"
    exit_now.__doc__ = original.__doc__
    os._exit = exit_now  # type: ignore[assignment]
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)


def at_exit(heard: Callable[[int | None], None]) -> None:
    """Call `heard` at the end of this process, when `multiprocessing` has waited for its own."""
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        # If it is imported later, it registers itself later and is called first, too.
        atexit.unregister(util._exit_function)
    atexit.register(heard, None)
    if util is not None:
        atexit.register(util._exit_function)
    _EXITING.append(heard)


def listening_family() -> tuple[Scope, Family] | None:
    if (scope := listening()) is None or scope.run.family is None:
        return None
    return scope, scope.run.family


def _popen(
    wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    scope = current()
    bound = popen.bound(args, kwargs) if scope is not None and not scope.hidden else None
    if scope is None or bound is None or asks_the_machine(sys._getframe(2)):
        wrapped(*args, **kwargs)
        return
    if popen.records(bound, sys._getframe(2)):
        popen.start(wrapped, instance, bound, scope)
        return
    family = scope.run.family
    if family is None:
        wrapped(*args, **kwargs)
        return
    witness.starts(scope)
    command = words(bound.arguments["args"])
    path = family.spawning(scope, f"proc:{title(command, shell=bool(bound.arguments.get('shell')))}", command)
    try:
        if path is None:
            # What is not there does nothing, and needs no mention.
            there = bound.arguments.get("shell") or not command or shutil.which(command[0]) is not None
            with entered(scope if there else None):
                wrapped(*args, **kwargs)
        else:
            _start_joined(wrapped, bound, scope, path)
    except OSError:
        family.running(path, None)
        raise
    family.running(path, instance.pid)


def _start_joined(
    wrapped: Callable[..., None], bound: inspect.BoundArguments, scope: Scope, path: str
) -> None:
    given = bound.arguments.get("env")
    with entered(None):
        bound.arguments["env"] = _joining(scope, path, os.environ if given is None else given)
        _forks.foreign = bound.arguments.get("preexec_fn") is not None
        try:
            wrapped(*bound.args[1:], **bound.kwargs)
        finally:
            _forks.foreign = False


def _joining(scope: Scope, path: str, wanted: Mapping[Any, Any]) -> dict[Any, Any]:
    readable = {os.fsdecode(name): os.fsdecode(value) for name, value in wanted.items()}
    assert scope.run.family is not None
    return {**readable, **environ.given(scope.run, readable), **scope.run.family.handover(path, readable)}


def _fork(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    listening = listening_family()
    if listening is None:
        return wrapped(*args, **kwargs)
    scope, family = listening
    witness.starts(scope)
    path = family.spawning(scope, next_name.get() or "proc:fork", [])
    if path is None:
        return wrapped(*args, **kwargs)
    family.handover(path, {})
    _forks.expected = True
    try:
        result = wrapped(*args, **kwargs)
    finally:
        _forks.expected = False
    if result == 0:
        with entered(None):
            environ.forked(scope.run)
            child = family.forked(path)
        current_scope.set(child)
    else:
        family.running(path, result)
    return result


def _after_fork() -> None:
    """Detach an unannounced fork (`preexec_fn`) from its parent's recording."""
    if not getattr(_forks, "expected", False):
        current_scope.set(None)


def _exec(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The process goes on as another program: a new scope, of the same process."""
    if sys.platform == "linux":
        terminals.asks(args[0], args[1], args[2] if len(args) > 2 else kwargs.get("env"))
    listening = listening_family()
    if listening is None or getattr(_forks, "foreign", False) or not os.access(args[0], os.X_OK):
        return wrapped(*args, **kwargs)
    scope, family = listening
    witness.starts(scope)
    command = words(args[1])
    path = family.spawning(scope, f"exec:{title(command)}", command)
    if path is None:
        return wrapped(*args, **kwargs)
    with entered(None):
        wanted = args[2] if len(args) > 2 else kwargs.get("env", os.environ)
        joining = _joining(scope, path, wanted)
        if is_python(command) and interpreters.joins(os.fsdecode(args[0])):
            # It writes its own part of the recording, and cannot have begun that yet.
            family.running(path, None)
        # Nothing of this program runs behind it: here is its end.
        for heard in _EXITING:
            heard(None)
        return os.execve.__wrapped__(args[0], args[1], joining)  # type: ignore[attr-defined]
