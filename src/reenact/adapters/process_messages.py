"""Messages between processes: queues and pipes of `multiprocessing`, and pools.

In a replay, the processes run and send their messages for real. A recording has the turn of each received message, and
a digest of its content. In a replay, a receiver waits for the message with that digest; it leaves other messages in a
folder of the replay (`Mailbox`), where their receivers find them. No message is built from a recording.
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
from reenact.adapters.deadlines import UNLIMITED, Deadline, deadline, pause, seconds_of
from reenact.adapters.hooks import Replace, wrap
from reenact.adapters.mailbox import MESSAGE, Mailbox
from reenact.adapters.message_digest import digest
from reenact.adapters.readiness import resting
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers
from reenact.core.boundary import current, entered

_FIRST, _LONGEST = 0.001, 0.05
"""Seconds of the first look for a message, and of the longest."""

_CARRIERS = {multiprocessing.connection.__file__, multiprocessing.queues.__file__, threading.__file__}
_JOBS = {"_job", "call_within", "run_within"}
"""Reenact's functions that run the program's (`to_thread(queue.get)`)."""

_POOL = multiprocessing.pool.__file__
_WORKS = multiprocessing.pool.worker.__code__  # type: ignore[attr-defined]
"""The code of a pool's worker."""
_MANAGERS = str(Path(_POOL).with_name("managers.py"))
_DRAINS = {"_help_stuff_finish"}
"""Functions of pools that discard what they receive."""

_ENDS: dict[str, type[OSError | EOFError]] = {
    "EOFError": EOFError,
    "ConnectionResetError": ConnectionResetError,
    "OSError": OSError,
}

_inner = threading.local()


def install(replace: Replace) -> None:
    """Patch the functions that receive messages."""
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
    """Return True if the receiver is the program, or one of its pools."""
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
    """`_recv_bytes` of a connection, by which all messages are received."""
    digests = getattr(_inner, "digests", None)
    if digests is not None:
        data = original(end, maxsize)
        digests.append(digest(data.getvalue()))
        return data
    limited = deadline("receive", UNLIMITED, _getframe(2), _counts)
    if limited is None and _getframe(3).f_code.co_filename == _MANAGERS:
        # The server and its proxies wait for each other.
        with resting():
            return original(end, maxsize)
    if limited is None:
        return original(end, maxsize)
    if _receives_any(limited):
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


def _receives_any(limited: Deadline) -> bool:
    """Return True if the receiver takes any message: while recording, and once answers are live."""
    run = limited.scope.run
    return not run.replaying or run.handler.gone_live


def _got(original: Callable[..., Any], box: Any, block: bool = True, timeout: float | None = None) -> Any:
    """`Queue.get`."""
    seconds = seconds_of(timeout)
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
    limited = deadline("get", UNLIMITED, _getframe(2), _counts)
    if limited is None:
        return original(box)
    return _from_queue(limited, box, partial(original, box), endless=True)


def _from_queue(limited: Deadline, box: Any, get: Callable[[], Any], *, endless: bool) -> Any:
    if _receives_any(limited):
        return _recorded_get(limited, get)
    # Each message that is read makes room in a bounded queue, also if another process is to get it.
    semaphore = getattr(box, "_sem", None)
    left = _nothing if semaphore is None else semaphore.release
    receiver = _Receiver(limited, box._reader, box._rlock, left)
    return ForkingPickler.loads(receiver.message(endless=endless))


def _recorded_get(limited: Deadline, get: Callable[[], Any]) -> Any:
    try:
        with resting(), _collected() as digests:
            value = get()
    except queue.Empty:
        limited.over(met=False)
        raise
    except (EOFError, OSError) as error:
        name = type(error).__name__
        _over(limited, name if name in _ENDS else "OSError")
        raise
    _over(limited, digests[-1] if digests else "")
    return value


@contextmanager
def _collected() -> Any:
    """Collect the digests of the messages that the body receives; it records their waits itself."""
    digests: list[str] = []
    _inner.digests = digests
    try:
        yield digests
    finally:
        _inner.digests = None


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
        """Return the recorded message in its turn, or raise the recorded error."""
        due = self._limited.due()
        if due is None:
            with resting():
                return self._unrecorded_message(self._limited.limit, endless=endless)
        if not due[0]:
            self._limited.recorded()
            raise queue.Empty
        # As in the recording, the message comes first, and then this thread's turn.
        turnstile = self._limited.scope.run.turnstile
        turnstile.live_begins()
        try:
            return self._recorded_message()
        finally:
            turnstile.live_ends()
            self._limited.recorded()

    def _recorded_message(self) -> bytes:
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

    def _unrecorded_message(self, limit: float, *, endless: bool) -> bytes:
        # The recording has no end of this wait: it lasts until the process is ended, or answers are live.
        waited = 0.0
        while True:
            if self._handler.gone_live:
                return self._any_message()
            pause(_LONGEST)
            waited += _LONGEST
            if not endless and waited >= limit:
                raise queue.Empty
            self._look(
                f"the program waits in {self._limited.what} once more than it did when it was recorded"
            )

    def _any_message(self) -> bytes:
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
            with _collected():
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


# -- polling and sending -------------------------------------------------------------------------------------


def _polled(original: Callable[..., bool], end: Any, timeout: float | None = 0.0) -> bool:
    """`poll` of a connection."""
    limited = deadline("poll", seconds_of(timeout), _getframe(2), _counts)
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
    seconds = seconds_of(timeout)
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
    """`Pool._wait_for_updates`: the thread rests; another thread reads the results in its turn."""
    scope = current()
    if scope is not None:
        # The thread does no work of the program, so it rests also after the wait.
        scope.run.turnstile.blocks()
    with entered(None):
        original(*args, **options)
        if scope is not None and scope.run.replaying:
            pause(_LONGEST)


def _temporary(original: Callable[..., str], _: Any, args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """`get_temp_dir`, outside of the run: sockets in the folder are opened by their real path."""
    with entered(None):
        return original(*args, **options)
