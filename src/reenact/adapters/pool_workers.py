"""Give each job of a pool of threads to a certain worker.

Workers have state of their own (`threading.local`), so a replay must run a job in the same worker. In a plain pool, the
worker that happens to wake first gets a new job. In a run, the idle worker with the lowest number gets it; if none is
idle, the next one that becomes idle, as in a plain pool.

After its job, a worker wakes the threads that wait for cancelled jobs next in the queue, before it lets other threads
go on: a plain pool wakes them then too, but other threads may be faster. A replay keeps the place of such a job in the
queue (`NeverBegun`).
"""

from __future__ import annotations

import queue
import threading
import weakref
from _queue import SimpleQueue
from _thread import allocate_lock
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

_serving = threading.local()
"""The queue that this thread is a worker of, and its number there."""


def made(pool: ThreadPoolExecutor, *, all_first: bool) -> None:
    """Give a new pool its queue.

    Args:
        pool: The pool.
        all_first: Start a worker for each job until the pool has all of them.
    """
    jobs = WorkerQueue(pool, all_first=all_first)
    pool._idle_semaphore = _IdleWorkers(pool, jobs)  # type: ignore[assignment]
    pool._work_queue = jobs  # type: ignore[assignment]


def job_ended() -> None:
    """Note that this worker has ended its job."""
    jobs = getattr(_serving, "queue", None)
    if jobs is not None:
        jobs.job_ended(_serving.number)


def pass_cancelled() -> None:
    """Remove the cancelled jobs that follow in the queue: this worker's job has its result."""
    jobs = getattr(_serving, "queue", None)
    if jobs is not None:
        jobs.pass_cancelled()


def worker_number() -> int | None:
    """Return the number of the worker that runs in this thread; None if none does."""
    args = getattr(threading.current_thread(), "_args", ())
    return next((jobs.own_number() for jobs in args if isinstance(jobs, WorkerQueue)), None)


def queue_of(pool: ThreadPoolExecutor) -> WorkerQueue | None:
    """Return the pool's queue, if it is a `WorkerQueue`."""
    jobs: Any = pool._work_queue
    return jobs if isinstance(jobs, WorkerQueue) else None


class NeverBegun:
    """The place in a queue of a job that was cancelled in the recording before it began.

    Args:
        future: The job's.

    Attributes:
        kept: True while a worker is to wake the threads that wait for the job; False once a worker has passed it
            before it was cancelled.
    """

    __slots__ = ("future", "kept")

    def __init__(self, future: Future[Any]) -> None:
        self.future = future
        self.kept = False

    def run(self) -> None:
        """Wake the threads that wait for the job, if it is cancelled by now."""
        self.kept = False
        if self.future.cancelled():
            self.future.set_running_or_notify_cancel()


class WorkerQueue:
    """The queue of a pool's jobs, with a box for each worker.

    Args:
        pool: The pool.
        all_first: Start a worker for each job until the pool has all of them.

    Attributes:
        given: The number of the worker that got the last job; None if the job waits for a worker.
    """

    def __init__(self, pool: ThreadPoolExecutor, *, all_first: bool) -> None:
        self.given: int | None = None
        self._pool = weakref.ref(pool)
        self._all_first = all_first
        self._lock = allocate_lock()
        self._jobs: deque[Any] = deque()
        self._boxes: list[Any] = [SimpleQueue() for _ in range(pool._max_workers)]
        self._idle = set(range(pool._max_workers))
        self._running: set[int] = set()
        self._numbered: set[int] = set()
        self._over = False

    def put(self, job: Any) -> None:
        """Give a job to an idle worker; None: let each worker end after its last job."""
        with self._lock:
            if job is None:
                self._over = True
                for number in self._idle:
                    self._boxes[number].put(None)
                return
            self.given = self._next()
            if self.given is None:
                self._jobs.append(job)
            else:
                self._idle.discard(self.given)
                self._boxes[self.given].put(job)

    def keep(self, job: NeverBegun) -> None:
        """Keep the place of a job in the queue, unless a worker is idle: then no job is before it."""
        with self._lock:
            job.kept = self._next() is None
            if job.kept:
                self._jobs.append(job)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Return the next job of this worker."""
        number = self.own_number()
        if number is None:
            return self.get_nowait()
        self.job_ended(number)
        job = self._boxes[number].get(block, timeout)
        return self._started(number, job)

    def get_nowait(self) -> Any:
        """Return a job of this worker, or one without a worker; to other threads, any not begun."""
        number = self.own_number()
        if number is not None:
            self.job_ended(number)
            try:
                return self._started(number, self._boxes[number].get_nowait())
            except queue.Empty:
                pass
        with self._lock:
            if self._jobs:
                return self._jobs.popleft()
            for other, box in enumerate(self._boxes if number is None else ()):
                if other not in self._idle and not box.empty():
                    self._idle.add(other)
                    return box.get_nowait()
        raise queue.Empty

    def qsize(self) -> int:
        """Return the number of the jobs that no worker has begun."""
        with self._lock:
            in_boxes = sum(
                not box.empty() for number, box in enumerate(self._boxes) if number not in self._idle
            )
            return len(self._jobs) + in_boxes

    def empty(self) -> bool:
        """Return True if each job has begun."""
        return not self.qsize()

    def job_ended(self, number: int) -> None:
        """Note that a worker has ended its job, and give it the next one. Harmless without a job."""
        self.pass_cancelled()
        with self._lock:
            if number not in self._running:
                return
            self._running.discard(number)
            while self._jobs and isinstance(self._jobs[0], NeverBegun):
                # A worker reached its place before it was cancelled: its own cancellation wakes its waiters.
                self._jobs.popleft().kept = False
            if self._jobs:
                self._boxes[number].put(self._jobs.popleft())
            else:
                self._idle.add(number)
                if self._over:
                    self._boxes[number].put(None)

    def pass_cancelled(self) -> None:
        """Remove cancelled jobs from the queue's start, and wake the threads that wait for them."""
        passed: list[Any] = []
        with self._lock:
            while self._jobs and self._jobs[0].future.cancelled():
                passed.append(self._jobs.popleft())
        for job in passed:
            (job if isinstance(job, NeverBegun) else NeverBegun(job.future)).run()

    def _started(self, number: int, job: Any) -> Any:
        if job is not None:
            with self._lock:
                self._running.add(number)
        return job

    def _next(self) -> int | None:
        """Return the number of the worker for a new job, or None: a new worker only if none is idle."""
        pool = self._pool()
        started = len(self._boxes) if pool is None else len(pool._threads)
        if started in self._idle and (self._all_first or min(self._idle) >= started):
            return started
        return min((number for number in self._idle if number < started), default=None)

    def own_number(self) -> int | None:
        """Return the number of the worker that runs in this thread; None if none of this pool does."""
        if getattr(_serving, "queue", None) is self:
            return _serving.number  # type: ignore[no-any-return]
        thread = threading.current_thread()
        if not any(arg is self for arg in getattr(thread, "_args", ())):
            return None
        suffix = thread.name.rpartition("_")[2]
        with self._lock:
            number = int(suffix) if suffix.isdecimal() else -1
            if number not in range(len(self._boxes)) or number in self._numbered:
                # The program has named its workers itself.
                number = min(set(range(len(self._boxes))) - self._numbered, default=0)
            self._numbered.add(number)
        _serving.queue, _serving.number = self, number
        return number


class _IdleWorkers:
    """Replaces a pool's count of idle workers: a job that has its worker needs no new one.

    Args:
        pool: The pool.
        jobs: Its queue.
    """

    def __init__(self, pool: ThreadPoolExecutor, jobs: WorkerQueue) -> None:
        self._pool = weakref.ref(pool)
        self._jobs = jobs
        self._plain = pool._idle_semaphore

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Return True if the last job went to a worker that has been started."""
        pool: Any = self._pool()
        if pool is None or pool._work_queue is not self._jobs:
            # A subclass gave the pool another queue.
            return self._plain.acquire(blocking, timeout)
        return self._jobs.given is not None and self._jobs.given < len(pool._threads)

    def release(self) -> None:
        """Count a worker as idle, for another queue."""
        self._plain.release()
