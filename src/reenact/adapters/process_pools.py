"""`ProcessPoolExecutor`: the worker that takes each job, and the order in which jobs end.

Both are recorded at a job's end: a line of its own scope, and the number of the worker with the count of the jobs that
it had taken before. In a replay, a worker that gets another worker's job from the common queue puts it back. Workers'
effects are recorded in their own processes.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, process
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from reenact.adapters import ordered
from reenact.adapters.concurrency import replace
from reenact.adapters.locks import OrderedLock
from reenact.adapters.readiness import is_number
from reenact.adapters.scopes import inner_of, listening, name_of
from reenact.core.boundary import Scope, current, entered
from reenact.core.dataclass import dataclass

_ENDED = "ended"
_WORKER = "pool:worker"
_PAUSE = 0.001
_PASSES = 2_000
"""The times that a worker passes jobs of its own before it takes one out of turn."""

_sleep = time.sleep


def install(_module: ModuleType) -> None:
    """Patch pools of processes, once: `concurrent.futures.process` has been imported."""
    if getattr(ProcessPoolExecutor.submit, "_reenact", False):
        return
    # This thread is not the program's: the ends that it reports pass the turnstile one by one.
    process._ExecutorManagerThread.reenact_own = True  # type: ignore[attr-defined]
    replace(ProcessPoolExecutor, "__init__", _made)
    replace(ProcessPoolExecutor, "submit", _submit)
    replace(process._ExecutorManagerThread, "process_result_item", _came)
    replace(process, "_process_worker", _works)


class _PoolJob:
    """A job as a worker gets it.

    Args:
        function: The program's function.
        worker: The number of the worker that takes it, or None for any.
        turn: The count of the jobs that this worker has taken before; -1 for a job without a recorded end.
        handed: Its state in the program's process, which no worker gets.
    """

    def __init__(
        self, function: Callable[..., Any], worker: int | None, turn: int, handed: _Handed | None = None
    ) -> None:
        self.function = function
        self.worker = worker
        self.turn = turn
        self.handed = handed

    def __reduce__(self) -> Any:
        return _PoolJob, (self.function, self.worker, self.turn)

    def __call__(self, *args: Any, **kwargs: Any) -> _JobEnd:
        worker, turn = _here.number, _here.taken
        _here.taken = max(turn, self.turn) + 1 if self.turn >= 0 else turn
        try:
            return _JobEnd(self.function(*args, **kwargs), None, worker, turn)
        except BaseException as error:
            traceback: Any = error.__traceback__
            remote: Any = process._ExceptionWithTraceback(error, traceback)
            return _JobEnd(None, remote, worker, turn)


@dataclass(frozen=True, slots=True)
class _JobEnd:
    """The end of a job, and the worker that did it."""

    value: Any
    error: BaseException | None
    worker: int
    turn: int


class _PoolWorker:
    """The worker that runs in this process."""

    number = 0
    taken = 0


_here = _PoolWorker()


@dataclass(slots=True)
class _Handed:
    """A job that the program has submitted."""

    scope: Scope
    place: int | None
    arrived: bool = False

    def arrives(self) -> None:
        """Note in a replay that the job's end has arrived."""
        if not self.arrived:
            self.arrived = True
            self.scope.run.turnstile.live_ends()


_orders: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The lock of each pool for submitting jobs."""


def _made(original: Callable[..., None], pool: Any, *args: Any, **options: Any) -> None:
    original(pool, *args, **options)
    if _joining() is not None:
        # Start all workers at once: their number would depend on the time that jobs take.
        pool._safe_to_dynamically_spawn_children = False
    order = OrderedLock.of_pool(sys._getframe(2))
    if order is not None:
        _orders[pool] = order


def _joining() -> Scope | None:
    """Return the scope of the running code, if its processes join the recording."""
    scope = listening()
    return scope if scope is not None and scope.run.family is not None else None


def _submit(
    original: Callable[..., Any], pool: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    scope = _joining()
    if scope is None:
        return original(pool, fn, *args, **kwargs)
    child = scope.child("job:" + name_of(inner_of(fn, args), scope.run.rules))
    run = scope.run
    worker, turn, place = None, -1 if run.replaying else 0, None
    if run.replaying and not run.handler.gone_live:
        place = run.handler.due(child, _ENDED)
        if place is not None:
            worker, turn = _read(run.handler.draw(child, _WORKER, str))
    job = _PoolJob(fn, worker, turn, handed := _Handed(child, place))
    if run.replaying:
        # Until its end arrives, an earlier line of the recording may still come.
        run.turnstile.live_begins()
        run.turnstile.unblocks()
    else:
        run.turnstile.thread_started()
    order: AbstractContextManager[Any] = _orders.get(pool) or nullcontext()
    with order, ordered.naming(child):
        future = original(pool, job, *args, **kwargs)
    if run.replaying:
        future.add_done_callback(lambda _: handed.arrives())
    return future


def _read(text: Any) -> tuple[int | None, int]:
    """Return the worker and its count from a recording's text; None and 0 if it is malformed."""
    words = text.split() if isinstance(text, str) else []
    if len(words) == 2 and all(map(is_number, words)):
        return int(words[0]), int(words[1])
    return None, 0


# -- ends, in the program's process ----------------------------------------------------------------------------


def _came(original: Callable[..., None], manager: Any, item: Any) -> None:
    """Deliver the end of a job to the program in its turn."""
    work = manager.pending_work_items.get(getattr(item, "work_id", None))
    job = None if work is None else work.fn
    handed = job.handed if isinstance(job, _PoolJob) else None
    end = getattr(item, "result", None)
    if isinstance(end, _JobEnd):
        item.result, item.exception = end.value, end.error
    if handed is None:
        original(manager, item)
        return
    give = partial(original, manager, item)
    if not handed.scope.run.replaying:
        _give(handed, end, give)
        return
    # Ends arrive in another order than recorded: each waits for its turn in a thread, so the manager can go on.
    handed.scope.run.turnstile.thread_started()
    handed.arrives()
    waiter = threading.Thread(target=_waits, args=(manager, handed, end, give), daemon=True)
    with entered(None):
        waiter.start()


def _waits(manager: Any, handed: _Handed, end: Any, give: Callable[[], None]) -> None:
    turnstile = handed.scope.run.turnstile
    turnstile.thread_begins()
    try:
        _give(handed, end, give)
    finally:
        turnstile.thread_ends()
        # Wake the manager: it ends after the last job.
        with manager.shutdown_lock:
            manager.thread_wakeup.wakeup()


def _give(handed: _Handed, end: Any, give: Callable[[], None]) -> None:
    scope, run = handed.scope, handed.scope.run

    def fire() -> None:
        run.handler.fire(scope, _ENDED)
        if isinstance(end, _JobEnd) and not run.replaying:
            run.handler.draw(scope, _WORKER, lambda: f"{end.worker} {end.turn}")

    run.turnstile.pass_sync(handed.place, fire)
    try:
        with entered(scope):
            give()
    finally:
        run.turnstile.settle()


# -- in a worker -----------------------------------------------------------------------------------------------


def _works(original: Callable[..., None], calls: Any, *args: Any) -> None:
    """Run the jobs of a worker: in a replay, its own ones in their recorded order."""
    scope = current()
    if scope is not None:
        # A worker's number is that of its process, which is the last part of the scope's path.
        _here.number = int(scope.path.rpartition(".")[2]) if scope.path[-1:].isdigit() else 0
    original(_OwnJobs(calls) if scope is not None and scope.run.replaying else calls, *args)


class _OwnJobs:
    """The common queue of a pool, as one worker reads it."""

    def __init__(self, calls: Any) -> None:
        self._calls = calls

    def get(self, block: bool = True) -> Any:
        """Return the next job of this worker, or None at the end."""
        calls, passes = self._calls, 0
        while True:
            with calls._rlock:
                data = calls._recv_bytes()
            item = process.mp.reduction.ForkingPickler.loads(data)  # type: ignore[attr-defined]
            job = getattr(item, "fn", None)
            if not isinstance(job, _PoolJob) or job.worker is None:
                calls._sem.release()
                return item
            mine = job.worker == _here.number
            passes += mine
            if mine and (job.turn <= _here.taken or passes > _PASSES):
                calls._sem.release()
                return item
            # The queue's semaphore stays acquired: the job is still in the queue.
            with calls._wlock:
                calls._send_bytes(data)
            _sleep(_PAUSE)
