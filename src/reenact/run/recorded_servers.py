"""Requests between the processes of a run, which a replay makes again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from reenact.adapters.deadlines import pause
from reenact.adapters.process_activity import StandStill
from reenact.core import system
from reenact.core.boundary import Run, entered
from reenact.core.model.event import LISTENS
from reenact.core.model.log import CallRecord, Log
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.own_requests import BESIDE, BROKEN, complete
from reenact.core.web_address import local_port

_FIRST, _LONGEST = 0.0005, 0.02
"""Seconds before the second look at the other processes, and the longest between two looks."""

_NOT_THERE = "the server in another process of the program did not answer it: it did not begin to listen"


class _RunRequest(NamedTuple):
    """A recorded request to a server of the run.

    Its times are seconds since the recording began.
    """

    begin: float
    end: float
    process: str
    call: CallRecord


class RecordedServers:
    """The servers of the processes of a replay, and the requests to them.

    A request is made again if it was answered, and no other one to that port was under way: the order in which a
    server takes connections is not recorded.

    Args:
        run: The replay of this process.
        recording: The recorded processes.
        exchange: Returns a folder of that name, which all processes of the replay share.
        on_listening: Called where this process begins to listen for requests of others.
    """

    def __init__(
        self,
        run: Run,
        recording: RecordedRun,
        exchange: Callable[[str], Path],
        on_listening: Callable[[], None],
    ) -> None:
        self._run = run
        self._logs = recording.logs
        self._process = run.root.path
        self._exchange = exchange
        self._on_listening = on_listening
        self._waiting: dict[int, Path] = {}

    @cached_property
    def _listening(self) -> dict[int, dict[str, float]]:
        """The time at which each process began to listen, by port."""
        found: dict[int, dict[str, float]] = {}
        for log in self._logs:
            for lock, number in log.locked:
                port = lock.removeprefix(LISTENS)
                if lock.startswith(LISTENS) and port.isascii() and port.isdigit():
                    found.setdefault(int(port), {}).setdefault(log.process, _offset(log) + number / 1e6)
        return found

    @cached_property
    def _requests(self) -> dict[int, list[_RunRequest]]:
        """The requests to servers in other processes, in the order of their times, by port."""
        found: dict[int, list[_RunRequest]] = {}
        for log in self._logs if self._listening else ():
            for call in log.calls.values():
                port = _port_of(call.name) if call.kind == "http" else None
                if port is not None and self._listening.get(port, {}).keys() - {log.process}:
                    begin = _offset(log) + call.began
                    end = begin + (float("inf") if call.duration is None else call.duration)
                    found.setdefault(port, []).append(_RunRequest(begin, end, log.process, call))
        return {port: sorted(requests, key=lambda each: each[:3]) for port, requests in found.items()}

    def serves(self, port: int) -> bool:
        """Return True if another process listened at a port when it was recorded."""
        return bool(self._listening.get(port, {}).keys() - {self._process})

    def asks_again(self, name: str, number: int) -> bool | str:
        """Return True if a request is to be made again, in its turn; a text: why it is not."""
        port = _port_of(name)
        requests = [] if port is None else self._requests.get(port, [])
        mine = (
            at
            for at, each in enumerate(requests)
            if (each.process, each.call.number) == (self._process, number)
        )
        place = next(mine, None)
        if port is None or place is None:
            return False
        reason = self._reason(requests, place, port)
        counts = self._exchange("servers") / f"{port}.requests"
        several = len({each.process for each in requests}) > 1
        if reason is None and not self.await_server(port):
            reason = _NOT_THERE
        if several and reason is None:
            self._wait(lambda: _size(counts) >= place)
        if several:
            self._waiting[number] = counts
        if reason is None:
            return True
        self.answered(number)
        return reason or False

    def _reason(self, requests: list[_RunRequest], place: int, port: int) -> str | None:
        """Return why a request is not made again, empty if nothing listened; None if it is."""
        request = requests[place]
        if min(self._listening[port].values()) > request.end:
            return ""
        beside = any(
            each.begin <= request.end and each.end >= request.begin
            for at, each in enumerate(requests)
            if at != place
        )
        if beside:
            return BESIDE
        # A program may look at the head of a response alone, to see that the server is there.
        return None if complete(request.call, ("ended", "closed")) else BROKEN

    def await_server(self, port: int) -> bool:
        """Wait until another process listens at a port; False: no process goes on."""
        known = self._exchange("servers") / str(port)
        if not self._wait(lambda: _size(known) > 0):
            return False
        with entered(None):
            actual = known.read_text(encoding="ascii")
        if actual.isdigit():
            from reenact.adapters.stdlib import ports  # noqa: PLC0415 - few programs have servers, and it needs sockets

            ports.reach(port, int(actual))
        return True

    def answered(self, number: int) -> None:
        """Note that a request is over."""
        counts = self._waiting.pop(number, None)
        if counts is not None:
            with entered(None), counts.open("a", encoding="ascii") as file:
                system.lock(file.fileno())
                file.write(".")

    def listens(self, port: int, actual: int) -> None:
        """Tell the other processes that this one listens at a port."""
        if self._process not in self._listening.get(port, {}):
            return
        # The folder is gone where the replay is over.
        with suppress(OSError), entered(None):
            folder = self._exchange("servers")
            part = folder / f"{port}.{self._process.replace('/', '-')}.part"
            part.write_text(str(actual), encoding="ascii")
            part.replace(folder / str(port))
        if not any(each.process != self._process for each in self._requests.get(port, [])):
            return
        # Timers must not fire early before the next request.
        self._run.turnstile.live_begins()
        self._run.turnstile.unblocks()
        self._on_listening()

    def _wait(self, met: Callable[[], bool]) -> bool:
        """Wait for other processes; False: the condition is not met, and no process goes on."""
        handler, turnstile = self._run.handler, self._run.turnstile
        seconds, still = _FIRST, StandStill(joined="/" in self._process)
        turnstile.live_begins()
        try:
            while not met():
                if handler.gone_live or handler.poison is not None or still.found():
                    return False
                pause(seconds)
                seconds = min(seconds * 1.5, _LONGEST)
        finally:
            turnstile.live_ends()
        return True


def _port_of(name: str) -> int | None:
    return local_port(name.partition(" ")[2])


def _offset(log: Log) -> float:
    """Return the seconds between the beginnings of the recording and of a process's part."""
    return float(log.opened.get("offset", 0.0))


def _size(path: Path) -> int:
    with entered(None):
        return path.stat().st_size if path.exists() else 0
