"""Processes that read large recordings, so that the server's process can go on answering.

Python runs one thread at a time: reading a recording of 30,000 steps takes seconds, and a single call on a text of 50
MB blocks all threads. A process that uses too much processor time or memory is ended, and its request is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from reenact.core import system
from reenact.core.store import shared
from reenact.core.wakers import waker
from reenact.errors import ReenactError, SearchEnded, TooLarge
from reenact.server.pipe import MessagePipe
from reenact.server.project_lines import ProjectLine

LARGE = 2_000_000
"""Bytes of lines above which a recording is read in another process."""

LONGEST = 30
"""Seconds of processor time for one request, after which its process is ended."""

MEMORY = 2 << 30
"""Most bytes of memory for one process."""

_IMPORT = 120
"""Seconds of processor time for an import."""

_PATIENCE = 1.5
"""Seconds until a request is answered with 503 while the process continues."""

_PROCESSES = 2
_WAITING = 32
_KEPT = 8
"""Most late answers and refusals that are kept for repeated requests."""

TOO_LONG = 3
"""The exit status of a process whose processor time is used up, without timer signals."""

_TOO_LONG = {TOO_LONG, *(-number for number in system.signals("SIGPROF"))}

_MAIN = "import sys; sys.path[:] = filter(None, sys.path); from reenact.server.reader import main; main()"
"""The program of a process. It imports nothing from the working directory."""


class OutOfMemory(Exception):
    """The process does not have enough memory for the job."""


class Closing(SearchEnded):
    """The server ended before the job was done."""


class ReaderAnswer(NamedTuple):
    """A response: its status, its content type and its body."""

    status: int
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """A GET request about recordings, to be answered in another process.

    Attributes:
        home: The folder of the project.
        path: The path of the request.
        query: Its query string.
        entries: The server's lines of the recordings, if known.
    """

    home: Path
    path: str
    query: bytes
    entries: tuple[ProjectLine, ...]


@dataclass(frozen=True, slots=True)
class ReaderCall:
    """A call of a function of a module; arguments and result can be pickled.

    Attributes:
        work: The function.
        args: Its arguments.
        home: The folder of a project, whose library becomes the first argument, or None.
    """

    work: Callable[..., Any]
    args: tuple[Any, ...]
    home: Path | None = None


def state_of(folder: Path) -> str:
    """Return size and time of a large recording's files; "" for a small one."""
    size, newest = _measured(folder, LARGE)
    return f"{size}.{newest}" if size > LARGE else ""


def size_of(folder: Path) -> int:
    """Return the bytes of a recording's lines, including those that a fork shares."""
    return _measured(folder, sys.maxsize)[0]


def _measured(folder: Path, enough: int) -> tuple[int, int]:
    """Return size and newest time of a recording's files; stop above `enough` bytes."""
    size = newest = seen = 0
    place: Path | None = folder
    # Add the recordings whose lines a fork shares.
    while place is not None and seen <= shared.MOST and size <= enough:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for one in entries:
                if one.name.endswith(".jsonl"):
                    found = one.stat()
                    size, newest = size + found.st_size, max(newest, found.st_mtime_ns)
        place, seen = shared.parent_of(place), seen + 1
    return size, newest


class ReaderProcess:
    """One process, which does its jobs one after the other.

    It is started for the first job, and again for a job after it has ended.

    Args:
        longest: Seconds of processor time for one job.
        memory: Bytes of memory for the process.
    """

    def __init__(self, longest: int = LONGEST, memory: int = MEMORY) -> None:
        self._limits = longest, memory
        self._jobs: queue.Queue[tuple[ForwardedRequest | ReaderCall, Future[Any]] | None] = queue.Queue(
            _WAITING
        )
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: MessagePipe | None = None
        self._done = 0
        self._closed = False

    @property
    def prepared(self) -> bool:
        """True if the process has been started, or is about to be."""
        return self._thread is not None

    def prepare(self) -> None:
        """Start the process ahead of a job, because its start takes longer than most jobs."""
        if not self.prepared:
            with contextlib.suppress(SearchEnded):
                self.submit(ReaderCall(_nothing, ()))

    def submit(self, job: ForwardedRequest | ReaderCall) -> Future[Any]:
        """Return the future result of a job. Raises SearchEnded if many wait already.

        The result's exception is TooLarge for a job that exceeds a limit, and SearchEnded if the process has died.
        """
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise _closing()
            try:
                self._jobs.put_nowait((job, future))
            except queue.Full:
                raise SearchEnded(
                    "many large recordings are being read already: ask again in a minute"
                ) from None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="reenact-reader", daemon=True)
                self._thread.start()
        return future

    def close(self) -> None:
        """End the process; unfinished jobs fail with Closing."""
        with self._lock:
            self._closed = True
            process, thread = self._process, self._thread
        if process is not None:
            process.kill()
        if thread is not None:
            with contextlib.suppress(queue.Full):
                self._jobs.put_nowait(None)
            thread.join(5)

    def _run(self) -> None:
        while (waiting := self._jobs.get()) is not None:
            job, future = waiting
            try:
                if self._closed:
                    raise _closing()
                result = self._worked(pickle.dumps(job))
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(result)
            if self._closed and self._jobs.empty():
                break
        self._end()

    def _worked(self, job: bytes) -> Any:
        used = self._done > 0
        try:
            return self._exchange(job)
        except OutOfMemory:
            self._end()
            if used:
                # Other recordings may fill the memory, so try once more in a new process.
                return self._worked(job)
            raise TooLarge(
                f"reading this takes more than {self._limits[1] >> 20} MB of memory, a server's limit: "
                "`reenact show`, `diff` and `diagnose` on your own machine have no such limit"
            ) from None

    def _exchange(self, job: bytes) -> Any:
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._pipe is not None
        try:
            self._pipe.send(job)
            good, result = pickle.loads(self._pipe.receive())  # noqa: S301 - from our own process
        except (EOFError, OSError):
            raise self._died() from None
        self._done += 1
        if not good:
            raise result
        return result

    def _died(self) -> ReenactError:
        assert self._process is not None
        status = self._process.wait()
        self._end()
        if self._closed:
            return _closing()
        if status in _TOO_LONG:
            return TooLarge(
                f"reading this takes more than {self._limits[0]} seconds of processor time, a server's limit: "
                "`reenact show`, `diff` and `diagnose` on your own machine have no such limit"
            )
        return SearchEnded(
            f"the process that read this recording has ended (status {status}), perhaps for want of memory: "
            "ask again"
        )

    def _start(self) -> None:
        self._end()
        longest, memory = self._limits
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-c", _MAIN, str(longest), str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with self._lock:
            self._process = process
            with process.stdin as writing, process.stdout as reading:
                self._pipe = MessagePipe(os.dup(reading.fileno()), os.dup(writing.fileno()))
            if self._closed:
                process.kill()

    def _end(self) -> None:
        self._done = 0
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None


class Readers:
    """The processes of a server: for requests, for imports, and for the index and findings."""

    def __init__(self) -> None:
        self._readers = [ReaderProcess() for _ in range(_PROCESSES)]
        self._background = ReaderProcess()
        self._importer = ReaderProcess(_IMPORT)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, ...], Future[Any]] = OrderedDict()

    async def answer(self, id: str, state: str, request: ForwardedRequest) -> ReaderAnswer:
        """Return the answer to a request within two seconds.

        Args:
            id: The recording; requests for one recording go to the process that has read it.
            state: The state of its files; a repeated request in the same state gets the same answer.
            request: The request.

        Raises:
            SearchEnded: The answer is not ready, and a repeated request will get it; or the process has died.
            TooLarge: The request exceeds a limit.
        """
        key = (str(request.home), request.path, request.query.decode("latin-1"), state)
        future = self._future(id, key, request)
        done = asyncio.Event()
        future.add_done_callback(waker(done))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), _PATIENCE)
        answer: ReaderAnswer = self._result(key, future)
        return answer

    def soon(self, id: str, state: str, job: ReaderCall) -> Any:
        """Return the result of a job about a recording as `answer` does, in a thread."""
        key = (str(job.home), id, job.work.__qualname__, repr(job.args), state)
        future = self._future(id, key, job)
        wait([future], _PATIENCE)
        return self._result(key, future)

    def submit(self, id: str, job: ForwardedRequest | ReaderCall) -> Future[Any]:
        """Return the future result of a job about a recording, from the process that has read it."""
        return self._reader(id).submit(job)

    def prepared(self, id: str) -> bool:
        """Return True if the process that would read a recording has been started."""
        return self._reader(id).prepared

    def prepare(self, id: str) -> None:
        """Start the process that would read a recording."""
        self._reader(id).prepare()

    def _reader(self, id: str) -> ReaderProcess:
        return self._readers[zlib.crc32(id.encode()) % len(self._readers)]

    def later(self, job: ReaderCall) -> Future[Any]:
        """Do a job in the background."""
        return self._background.submit(job)

    def imported(self, job: ReaderCall) -> Future[Any]:
        """Do a job that unpacks a file."""
        return self._importer.submit(job)

    def close(self) -> None:
        """End the processes."""
        for reader in (*self._readers, self._background, self._importer):
            reader.close()

    def _future(self, id: str, key: tuple[str, ...], job: ForwardedRequest | ReaderCall) -> Future[Any]:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = self.submit(id, job)
                ended = [one for one, future in self._kept.items() if future.done()]
                for one in ended[:-_KEPT]:
                    del self._kept[one]
        return found

    def _result(self, key: tuple[str, ...], future: Future[Any]) -> Any:
        if not future.done():
            raise SearchEnded("this recording is large and still being read: ask again in a moment")
        error = future.exception()
        if isinstance(error, TooLarge):
            # The same request is refused at once until the files change.
            raise TooLarge(str(error))
        with self._lock:
            self._kept.pop(key, None)
        return future.result()


def _nothing() -> None: ...


def _closing() -> Closing:
    return Closing("the server ends: ask again when it is back")
