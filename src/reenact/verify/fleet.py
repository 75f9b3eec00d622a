"""Many recordings at once: a few processes that have imported the program, each serving one recording at a time."""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from time import monotonic
from typing import Any

import orjson

from reenact.errors import ProgramError, ReenactError, UsageError
from reenact.launch import Options
from reenact.store.local import LocalStore
from reenact.verify.outcome import Outcome, Status, outcome_of

TIMEOUT = 60.0
"""Seconds that one replay may take."""

Progress = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class _Task:
    place: int
    ref: str
    path: str


def verify(
    refs: Sequence[str],
    *,
    entry: str = "",
    options: Options | None = None,
    workers: int = 0,
    timeout: float = TIMEOUT,
    home: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Replay recordings against today's code, in parallel.

    Args:
        refs: Ids, prefixes, or paths.
        entry: What runs the program: `pkg.module:function`. It is called with the arguments that `@reenact.recorded`
            wrote down; or, if its one parameter is `recording`, with that. Without an entry the recorded commands are
            run, each in a fresh interpreter.
        options: How to replay.
        workers: How many at once; by default one for each core.
        timeout: Seconds that one may take.
        home: The folder of the recordings.
        progress: Told of each outcome as it comes.

    Returns:
        The outcomes, in the order of `refs`.

    Raises:
        ProgramError: The entry cannot be imported.
        UsageError: The options do not fit together.
    """
    if entry and (
        ":" not in entry or not all(part.isidentifier() for part in entry.replace(":", ".").split("."))
    ):
        raise UsageError(f"--entry {entry}: write it as pkg.module:function")
    words = (options or Options()).tree()
    store = LocalStore(home)
    outcomes: dict[int, Outcome] = {}
    tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
    lock = threading.Lock()

    def done(place: int, outcome: Outcome) -> None:
        with lock:
            outcomes[place] = outcome
            if progress is not None:
                progress(outcome)

    for place, ref in enumerate(refs):
        try:
            tasks.put(_Task(place, ref, str(store.find(ref))))
        except ReenactError as error:
            done(place, Outcome(ref, Status.UNABLE, cause="no such recording", detail=str(error)))
    count = max(1, min(workers or len(os.sched_getaffinity(0)), tasks.qsize()))
    kind: Any = _Forking if entry else _Starting
    crew = [kind(entry, words, timeout) for _ in range(count)]
    _work(crew, tasks, done)
    return [outcomes[place] for place in range(len(refs))]


def _work(
    crew: Iterable[_Forking | _Starting],
    tasks: queue.SimpleQueue[_Task],
    done: Callable[[int, Outcome], None],
) -> None:
    failures: list[ReenactError] = []
    over = threading.Event()

    def serve(worker: _Forking | _Starting) -> None:
        try:
            while not failures and not over.is_set():
                try:
                    task = tasks.get_nowait()
                except queue.Empty:
                    return
                done(task.place, outcome_of(task.ref, worker.run(task)))
        except ReenactError as error:
            failures.append(error)
        finally:
            worker.close()

    threads = [threading.Thread(target=serve, args=(worker,), name="reenact-verify") for worker in crew]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        # On Ctrl-C nothing more is begun; the replays that run have heard it too, being of the same terminal.
        over.set()
    if failures:
        raise failures[0]


class _Forking:
    """One process that has imported the program, and forks for each recording."""

    def __init__(self, entry: str, words: dict[str, Any], timeout: float) -> None:
        self._entry = entry
        self._options = {
            "live": words["live"],
            "ignore": words["ignore"],
            "on_divergence": words["policy"],
            "inserted": words["inserted"],
            "pace": words["pace"],
        }
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._file: Any = None

    def run(self, task: _Task) -> dict[str, Any]:
        """Replay one. A zygote that is gone is replaced; the recording that it had is not tried again."""
        if self._process is None:
            self._start()
        assert self._line is not None
        message = {"path": task.path, "options": self._options, "timeout": self._timeout}
        reply = b""
        with suppress(OSError):
            self._line.sendall(orjson.dumps(message) + b"\n")
            reply = self._file.readline()
        if not reply:
            self.close()
            return {"failed": "the process that imported the program is gone"}
        found: dict[str, Any] = orjson.loads(reply)
        return found

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "reenact.verify.zygote", str(theirs.fileno()), self._entry]
        self._process = subprocess.Popen(  # noqa: S603 - this very Python
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
        )
        theirs.close()
        self._line, self._file = ours, ours.makefile("rb")
        first = self._file.readline()
        said = orjson.loads(first) if first else {"failed": f"{self._entry}: its import ended the process"}
        if "failed" in said:
            self.close()
            raise ProgramError(said["failed"])

    def close(self) -> None:
        """No more."""
        if self._line is not None:
            self._file.close()
            self._line.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
            self._process.kill()
            self._process.wait()
        self._process = self._line = None


class _Starting:
    """Runs the recorded command of each recording."""

    def __init__(self, entry: str, words: dict[str, Any], timeout: float) -> None:
        self._words = words
        self._timeout = timeout

    def run(self, task: _Task) -> dict[str, Any]:
        """Replay one."""
        words = self._words
        command = [sys.executable, "-m", "reenact", "replay", task.path, "--json"]
        command += [each for word in words["live"] for each in ("--live", word)]
        command += [each for word in words["ignore"] for each in ("--ignore", word)]
        command += [
            "--on-divergence",
            words["policy"],
            "--inserted",
            words["inserted"],
            "--pace",
            words["pace"],
        ]
        began = monotonic()
        try:
            done = subprocess.run(  # noqa: S603 - this very Python
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=self._timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"no end after {self._timeout:g} seconds", "seconds": self._timeout}
        took = round(monotonic() - began, 4)
        try:
            tree = orjson.loads(done.stdout)
        except ValueError:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()
            tree = {"failed": last[-1].removeprefix("reenact: ") if last else "no verdict"}
        known = {"id": tree.get("recording"), "verdict": tree.get("verdict"), "failed": tree.get("failed")}
        return {**known, "seconds": took}

    def close(self) -> None:
        """Nothing is kept."""
