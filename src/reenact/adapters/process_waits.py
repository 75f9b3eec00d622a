"""Waits for processes of `multiprocessing`, and questions about them: answered as recorded.

`connection.wait`, `Process.join`, `is_alive` and `exitcode` depend on the time that other processes take. A replay
gives the recorded answers, and waits for a process that had ended by then.
"""

from __future__ import annotations

import multiprocessing.connection
import os
import signal
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing.pool import Pool, ThreadPool
from multiprocessing.process import BaseProcess
from sys import _getframe
from typing import Any

from reenact.adapters.deadlines import deadline, seconds_of
from reenact.adapters.hooks import Replace
from reenact.adapters.readiness import positions, resting
from reenact.adapters.scopes import listening, pool_worker
from reenact.adapters.stdlib import callers, early, process_numbers
from reenact.core.boundary import entered

_READY = "processes:ready"
"""The source of the positions of the objects that were ready."""

_wait = multiprocessing.connection.wait


def install(replace: Replace) -> None:
    """Patch waits for processes, and questions about them."""
    if os.name == "nt":
        return
    replace(BaseProcess, "join", _join)
    replace(BaseProcess, "terminate", partial(process_numbers.terminates, signal.SIGTERM))
    replace(BaseProcess, "kill", partial(process_numbers.terminates, signal.Signals["SIGKILL"]))
    replace(BaseProcess, "is_alive", partial(_asked, "alive", lambda alive: not alive))
    exitcode: Any = BaseProcess.exitcode
    known = partial(_asked, "exit", lambda code: code is not None)
    BaseProcess.exitcode = property(lambda process: known(exitcode.fget, process))  # type: ignore[method-assign,assignment]
    early.replace(multiprocessing.connection, "wait", _wait_for_any)
    static: Any = Pool._repopulate_pool_static  # type: ignore[attr-defined]
    Pool._repopulate_pool_static = staticmethod(partial(_repopulate, static))  # type: ignore[attr-defined]


def _join(original: Callable[..., None], process: Any, timeout: float | None = None) -> None:
    """`Process.join`."""
    seconds = seconds_of(timeout)
    limited = deadline("process", seconds, _getframe(2))
    met = None if limited is None else limited.recorded()
    if met is False:
        return
    with resting():
        original(process, timeout if met is None else None)
    if limited is not None and met is None:
        with entered(None):
            limited.over(met=timeout is None or not process.is_alive())


def _asked(what: str, ended: Callable[[Any], bool], original: Callable[..., Any], process: Any) -> Any:
    """`is_alive` and `exitcode` of a process."""
    scope = listening()
    if scope is None or not callers.program(_getframe(2)):
        return original(process)
    run = scope.run
    answer = run.handler.draw(scope, f"processes:{what}", lambda: original(process))
    if run.replaying and not run.handler.gone_live and ended(answer) and process._popen is not None:
        with resting(), entered(None):
            process.join()
    return answer


def _wait_for_any(object_list: Iterable[Any], timeout: float | None = None) -> list[Any]:
    """`connection.wait`."""
    limited = deadline("wait", seconds_of(timeout), _getframe(1))
    given = list(object_list)
    if limited is None:
        return _wait(given, timeout)
    handler, scope = limited.scope.run.handler, limited.scope
    met = limited.recorded()
    if met is None:
        with resting():
            found = _wait(given, timeout)
        text = ",".join(str(place) for place, thing in enumerate(given) if any(thing is one for one in found))
        limited.over(bool(found), lambda: handler.draw(scope, _READY, lambda: text))
        return [given[place] for place in positions(text, len(given))]
    return [given[place] for place in positions(handler.draw(scope, _READY, str), len(given))] if met else []


def _repopulate(
    original: Callable[..., None], ctx: Any, kind: Any, processes: int, pool: list[Any], *args: Any
) -> None:
    """Start the workers of a pool: in a replay, no more than the recording has."""
    scope = listening()
    family = None if scope is None else scope.run.family
    threads = kind is ThreadPool.Process
    if scope is None or family is None or threads or not scope.run.replaying or scope.run.handler.gone_live:
        original(ctx, kind, processes, pool, *args)
        return
    while len(pool) < processes and family.knows(scope, f"proc:{pool_worker(scope.run.rules)}"):
        original(ctx, kind, len(pool) + 1, pool, *args)
