"""Messages between processes: queues and pipes of `multiprocessing`, and pools.

Processes run in a replay, and so do their pipes. Which message a process gets, and when, is its recording's: each
message that is received has its turn, and a digest of its content. In a replay a receiver goes on with the message of
that digest; it leaves others in a folder of the replay, where their own receivers find them. A message is never built
from a recording.
"""

from __future__ import annotations

import io
import multiprocessing.connection
import multiprocessing.pool
import multiprocessing.queues
import multiprocessing.synchronize
import multiprocessing.util
import os
import queue
import threading
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Any

from reenact.adapters import process_activity
from reenact.adapters.deadlines import Deadline, deadline, pause
from reenact.adapters.hooks import wrap
from reenact.adapters.mailbox import MESSAGE, Mailbox
from reenact.adapters.message_digest import digest
from reenact.adapters.readiness import resting
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers
from reenact.core.boundary import current, entered

_UNLIMITED = 2.0
_FIRST, _LONGEST = 0.001, 0.05
"""Seconds of the first and of a later look for a message."""

_CARRIERS = {multiprocessing.connection.__file__, multiprocessing.queues.__file__, threading.__file__}
_JOBS = {"_job", "call_within", "run_within"}
"""Functions of ours that run what the program gives them (`to_thread(queue.get)`)."""

_POOL = multiprocessing.pool.__file__
_WORKS = multiprocessing.pool.worker.__code__  # type: ignore[attr-defined]
"""The code of a pool's worker."""
_MANAGERS = str(Path(_POOL).with_name("managers.py"))
_DRAINS = {"_help_stuff_finish"}
"""Functions of pools that throw away what they get."""

_ENDS: dict[str, type[OSError | EOFError]] = {
    "EOFError": EOFError,
    "ConnectionResetError": ConnectionResetError,
    "OSError": OSError,
}

_inner = threading.local()

Replace = Callable[[Any, str, Callable[..., Any]], None]


def install(replace: Replace) -> None:
    """Patch what receives messages.

    Args:
        replace: Puts `wrapper(original, *args)` in the place of an owner's attribute.
    """
    if os.name == "nt":
        return
    connection, queues = multiprocessing.connection.Connection, multiprocessing.queues
    replace(connection, "_recv_bytes", _received)
    replace(connection, "poll", _polled)
    replace(queues.SimpleQueue, "get", _taken)
    replace(queues.Queue, "get", _got)
    replace(queues.Queue, "put", _put)
    wrap(multiprocessing.util, "get_temp_dir", _temporary)
    wrap(multiprocessing.pool.Pool, "_wait_for_updates", _updates)
    replace(queues.Queue, "qsize", partial(_state, "size"))
    replace(queues.Queue, "full", partial(_state, "full"))


def _counts(caller: FrameType | None) -> bool:
    """Return True if the program, or a pool of it, receives."""
    while caller is not None and _carries(caller):
        caller = caller.f_back
    if caller is not None and caller.f_code.co_filename == _POOL:
        return caller.f_code.co_name not in _DRAINS
    return callers.program(caller)


def _carries(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_filename in _CARRIERS or (
        code.co_filename.startswith(callers.OURS) and code.co_name not in _JOBS
    )


# -- receiving -----------------------------------------------------------------------------------------------


def _received(original: Callable[..., Any], end: Any, maxsize: int | None = None) -> Any:
    """`_recv_bytes` of a connection, below all that receives."""
    heard = getattr(_inner, "heard", None)
    if heard is not None:
        data = original(end, maxsize)
        heard.append(digest(data.getvalue()))
        return data
    limited = deadline("receive", _UNLIMITED, _getframe(2), _counts)
    if limited is None and _getframe(3).f_code.co_filename == _MANAGERS:
        # The server and its proxies wait for each other.
        with resting():
            return original(end, maxsize)
    if limited is None:
        return original(end, maxsize)
    if _live(limited):
        return _recorded(limited, partial(original, end, maxsize))
    return io.BytesIO(_Receiver(limited, end, None, _nothing).message(endless=True))


def _recorded(limited: Deadline, receive: Callable[[], Any]) -> Any:
    try:
        with resting():
            data = receive()
    except (EOFError, OSError) as error:
        name = type(error).__name__
        _over(limited, name if name in _ENDS else "OSError")
        raise
    _over(limited, digest(data.getvalue()))
    return data


def _over(limited: Deadline, found: str) -> None:
    handler, scope = limited.scope.run.handler, limited.scope
    limited.over(met=True, write=lambda: handler.draw(scope, MESSAGE, lambda: found))


def _live(limited: Deadline) -> bool:
    """Return True if the receiver takes what comes: while recording, and once answers are live."""
    run = limited.scope.run
    return not run.replaying or run.handler.gone_live


def _got(original: Callable[..., Any], box: Any, block: bool = True, timeout: float | None = None) -> Any:
    """`Queue.get`."""
    seconds = _UNLIMITED if timeout is None else max(timeout, 0.0)
    limited = deadline("get", seconds if block else 0.0, _getframe(2), _counts)
    if limited is None or box._closed:
        return original(box, block, timeout)
    return _from_queue(
        limited, box, partial(original, box, block, timeout), endless=block and timeout is None
    )


def _taken(original: Callable[..., Any], box: Any) -> Any:
    """`SimpleQueue.get`."""
    scope = listening()
    if scope is not None and scope.run.family is not None and _getframe(2).f_code is _WORKS:
        scope.run.family.rests()
    limited = deadline("get", _UNLIMITED, _getframe(2), _counts)
    if limited is None:
        return original(box)
    return _from_queue(limited, box, partial(original, box), endless=True)


def _from_queue(limited: Deadline, box: Any, get: Callable[[], Any], *, endless: bool) -> Any:
    if _live(limited):
        return _heard(limited, get)
    # A message leaves a queue when it is read, also for another process: the next one may be put into it then.
    semaphore = getattr(box, "_sem", None)
    left = _nothing if semaphore is None else semaphore.release
    receiver = _Receiver(limited, box._reader, box._rlock, left)
    return ForkingPickler.loads(receiver.message(endless=endless))


def _heard(limited: Deadline, get: Callable[[], Any]) -> Any:
    try:
        with resting(), _hearing() as heard:
            value = get()
    except queue.Empty:
        limited.over(met=False)
        raise
    except (EOFError, OSError) as error:
        name = type(error).__name__
        _over(limited, name if name in _ENDS else "OSError")
        raise
    _over(limited, heard[-1] if heard else "")
    return value


@contextmanager
def _hearing() -> Any:
    heard: list[str] = []
    _inner.heard = heard
    try:
        yield heard
    finally:
        _inner.heard = None


def _nothing() -> None:
    """Do nothing."""


class _Receiver:
    """Waits in a replay for a message.

    Args:
        limited: The wait.
        end: The connection that is read.
        lock: The lock that its readers share, or None.
        left: Called when a message has left the pipe.
    """

    def __init__(self, limited: Deadline, end: Any, lock: Any, left: Callable[[], Any]) -> None:
        self._limited = limited
        self._handler = limited.scope.run.handler
        self._family = limited.scope.run.family
        self._end = end
        self._lock = lock
        self._left = left
        self._still = process_activity.StandStill(joined="/" in limited.scope.run.root.path)
        self._box = Mailbox.of(self._family, end.fileno())

    def message(self, *, endless: bool) -> bytes:
        """Return the recorded message in its turn; raises the recorded end."""
        due = self._limited.due()
        if due is None:
            with resting():
                return self._next(self._limited.limit, endless=endless)
        if not due[0]:
            self._limited.recorded()
            raise queue.Empty
        # As in the recording, the message comes first, and then this thread's turn.
        turnstile = self._limited.scope.run.turnstile
        turnstile.live_begins()
        try:
            return self._wanted()
        finally:
            turnstile.live_ends()
            self._limited.recorded()

    def _wanted(self) -> bytes:
        sought = self._handler.draw(self._limited.scope, MESSAGE, str)
        if sought in _ENDS:
            raise _ENDS[sought]
        seconds = _FIRST
        while True:
            found = self._box.take(sought)
            if found is None:
                found = self._from_pipe(sought, seconds)
            if found is not None:
                return found
            self._look(f"the message that came in {self._limited.what} when it was recorded does not come")
            seconds = min(seconds * 1.5, _LONGEST)

    def _next(self, limit: float, *, endless: bool) -> bytes:
        # The recording has no end of this wait: it lasts until the process is ended, or answers are live.
        waited = 0.0
        while True:
            if self._handler.gone_live:
                return self._whatever()
            pause(_LONGEST)
            waited += _LONGEST
            if not endless and waited >= limit:
                raise queue.Empty
            self._look(
                f"the program waits in {self._limited.what} once more than it did when it was recorded"
            )

    def _whatever(self) -> bytes:
        while True:
            data = self._read(_LONGEST)
            if data is not None:
                return data

    def _from_pipe(self, sought: str, seconds: float) -> bytes | None:
        try:
            data = self._read(seconds)
        except (EOFError, OSError) as error:
            found = self._box.take(sought)
            if found is not None:
                return found
            raise self._refuse(f"a message was received when it was recorded, and now {error!r}") from None
        if data is None:
            return None
        mark = digest(data)
        if mark == sought:
            return data
        if self._family is not None and mark not in self._family.drawn(MESSAGE):
            raise self._refuse("a message came that no process received when it was recorded")
        self._box.leave(mark, data)
        return None

    def _read(self, seconds: float) -> bytes | None:
        """Read one message, if one comes within these seconds."""
        if self._lock is not None and not self._lock.acquire(True, seconds):
            return None
        try:
            if not self._end._poll(seconds):
                return None
            with _hearing():
                data = bytes(self._end._recv_bytes().getvalue())
            self._left()
            return data
        finally:
            if self._lock is not None:
                self._lock.release()

    def _look(self, what: str) -> None:
        if self._handler.poison is not None:
            raise self._handler.poison
        if self._still.found():
            raise self._refuse(f"{what}, and no process of the run is at work")

    def _refuse(self, what: str) -> BaseException:
        return self._handler.refuse(self._limited.scope.path, what)


# -- asking --------------------------------------------------------------------------------------------------


def _polled(original: Callable[..., bool], end: Any, timeout: float | None = 0.0) -> bool:
    """`poll` of a connection."""
    limited = deadline("poll", _UNLIMITED if timeout is None else max(timeout, 0.0), _getframe(2), _counts)
    if limited is None:
        return original(end, timeout)
    met = limited.recorded()
    if met is None:
        with resting():
            met = bool(original(end, timeout))
        limited.over(met)
    return met


def _put(
    original: Callable[..., None], box: Any, item: Any, block: bool = True, timeout: float | None = None
) -> None:
    """`Queue.put` of a queue with a limit."""
    if box._maxsize >= multiprocessing.synchronize.SEM_VALUE_MAX:  # type: ignore[attr-defined]
        original(box, item, block, timeout)
        return
    seconds = _UNLIMITED if timeout is None else max(timeout, 0.0)
    limited = deadline("put", seconds if block else 0.0, _getframe(2), _counts)
    met = None if limited is None else limited.recorded()
    if met is False:
        raise queue.Full
    try:
        with resting():
            original(box, item, *((block, timeout) if met is None else (True, None)))
    except queue.Full:
        if limited is not None:
            limited.over(met=False)
        raise
    if limited is not None and met is None:
        limited.over(met=True)


def _state(what: str, original: Callable[..., Any], box: Any) -> Any:
    """`qsize` and `full` of a queue."""
    scope = listening()
    if scope is None or not _counts(_getframe(2)):
        return original(box)
    return scope.run.handler.draw(scope, f"processes:{what}", lambda: original(box))


def _updates(original: Callable[..., None], _: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """`Pool._wait_for_updates`: it rests.

    Results may be there meanwhile, which another thread is to read in its turn.
    """
    scope = current()
    if scope is not None:
        # It never works for the program: so it rests in between, too.
        scope.run.turnstile.blocks()
    with entered(None):
        original(*args, **options)
        if scope is not None and scope.run.replaying:
            pause(_LONGEST)


def _temporary(original: Callable[..., str], _: Any, args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """`get_temp_dir`: it is no folder of the program's.

    Sockets in it are opened by their real path.
    """
    with entered(None):
        return original(*args, **options)
