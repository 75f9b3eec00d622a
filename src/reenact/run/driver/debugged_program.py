"""The program under the debugger: its process, its copies at earlier places, and its output."""

from __future__ import annotations

import os
import queue
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

from reenact.core import system
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import UsageError
from reenact.run.debugger import debugger_protocol
from reenact.run.debugger.channel import DebuggerListener
from reenact.run.debugger.orders import START, Again, Died, Go, Interrupt, Order, ProgramPlace, Report
from reenact.run.driver.copies import Copy, ProcessConnection, given
from reenact.run.files.scratch import discard
from reenact.run.launch import Options, failure_in, replaying, reports_in
from reenact.run.plan import DEBUG

_PATIENCE = 2.0
"""Seconds in which a program must react to an interrupt."""

_LOOK = 0.2


class Program:
    """Runs the program, and carries out orders in a thread of its own.

    Args:
        recording: The replayed recording.
        options: The options of the replay.
        command: Another program than the recorded one.
        home: The folder of the recordings.
        run_foreign: The user lets a foreign recording's program run.
        hear: Called with each report.
        wrote: Called when the program has written something.
        shell_over: Called when pdb is left.
    """

    def __init__(
        self,
        recording: RecordedRun,
        options: Options,
        *,
        command: Sequence[str],
        home: str | PathLike[str] | None,
        run_foreign: bool = False,
        hear: Callable[[Report], None],
        wrote: Callable[[], None],
        shell_over: Callable[[], None],
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="reenact-"))
        self._listener = DebuggerListener(str(self._folder / "debug"))
        try:
            words = {**options.tree(), DEBUG: self._listener.address}
            self._start = replaying(
                recording, words, self._folder, command=command, home=home, run_foreign=run_foreign
            )
        except BaseException:
            self._listener.close()
            discard(self._folder)
            raise
        self._hear, self._say_wrote, self._shell_over = hear, wrote, shell_over
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener.socket, selectors.EVENT_READ)
        self._wake, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._orders: queue.SimpleQueue[Order | str | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._written = bytearray()
        self._now: ProcessConnection | None = None
        self._copies: list[Copy] = []
        self._last: Go | Again | None = None
        self._deadline: float | None = None
        self._running = False
        self._waking: Copy | None = None
        self._over = True
        self._thread = threading.Thread(target=self._serve, name="reenact-driver", daemon=True)
        self._thread.start()

    @property
    def output(self) -> str:
        """The program's output so far."""
        return bytes(self._written).decode("utf-8", "replace")

    @property
    def connected(self) -> bool:
        """True if a program is connected."""
        return self._now is not None

    def carry_out(self, order: Order) -> None:
        """Carry out an order soon, in the thread."""
        self._orders.put(order)
        self._wake.send(b".")

    def open_shell(self, terminal: str) -> None:
        """Open pdb on that terminal."""
        self._orders.put(terminal)
        self._wake.send(b".")

    def close(self) -> None:
        """End everything."""
        self._orders.put(None)
        with suppress(OSError):
            self._wake.send(b".")
        self._thread.join()

    # -- the thread ------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        while True:
            # Output first: it was written before the reports that follow it.
            for key, _ in sorted(
                self._selector.select(_LOOK), key=lambda item: item[0].fileobj != self._pipe
            ):
                if key.fileobj is self._woken:
                    self._woken.recv(4096)
                elif key.fileobj == self._pipe:
                    self._drain()
                elif key.fileobj is self._listener.socket:
                    self._accept()
                elif isinstance(key.data, ProcessConnection) and key.fd in self._selector.get_map():
                    self._receive(key.data)
            while not self._orders.empty():
                order = self._orders.get()
                if order is None:
                    self._end()
                    return
                self._obey(order)
            self._look()

    def _obey(self, order: Order | str) -> None:
        if isinstance(order, str):
            if self._now is not None:
                self._now.send(debugger_protocol.line("shell", terminal=order))
            else:
                self._shell_over()
        elif isinstance(order, Go):
            self._last, self._running = order, True
            if self._now is not None:
                self._now.send(_go(order))
        elif isinstance(order, Again):
            self._again(order)
        elif isinstance(order, Interrupt) and self._now is not None:
            self._deadline = monotonic() + _PATIENCE
            self._now.interrupt()

    def _again(self, order: Again) -> None:
        self._last, self._running, self._over = order, True, False
        self._kill_now()
        self._waking = copy = None
        if order.before != START:
            self._copies = [copy for copy in self._copies if self._sound(copy, order)]
            fitting = [copy for copy in self._copies if copy.leads_to(order)]
            copy = max(fitting, key=lambda copy: len(copy.passed), default=None)
        if copy is None:
            self._launch()
            return
        del self._written[copy.written :]
        self._waking = copy
        copy.line.send(_go(order))

    def _sound(self, copy: Copy, order: Again) -> bool:
        """Return True if a copy was made with the current answers, so that it can be used."""
        if copy.fits(order):
            return True
        self._drop(copy.line)
        return False

    # -- processes -------------------------------------------------------------------------------------------

    def _launch(self) -> None:
        self._kill_all()
        self._written.clear()
        for left in self._folder.glob("*.*"):
            # The report of an earlier run.
            left.unlink(missing_ok=True)
        reading, writing = self._pipes()
        try:
            self._process = self._start.open(writing, writing)
        except UsageError as error:
            os.close(reading)
            self._running = False
            self._hear(Died(str(error)))
            return
        finally:
            os.close(writing)
        self._pipe = reading
        if not system.PORTABLE:
            self._selector.register(reading, selectors.EVENT_READ)

    def _pipes(self) -> tuple[int, int]:
        """Return both ends of the program's output: a pipe, or a file where no pipe can be selected."""
        if sys.platform == "win32" or system.PORTABLE:
            path = self._folder / "output"
            flags = os.O_CREAT | os.O_TRUNC | os.O_APPEND | system.CLOEXEC
            writing = os.open(path, os.O_WRONLY | flags, 0o600)
            reading = os.open(path, os.O_RDONLY | system.CLOEXEC)
        else:
            reading, writing = os.pipe()
            os.set_blocking(reading, False)
        return reading, writing

    def _accept(self) -> None:
        caller = self._listener.accept()
        now = self._now
        if caller is not None and caller.interrupts and now is not None and caller.process == now.process:
            now.interrupts = caller.socket
            return
        if caller is None or caller.interrupts:
            return
        line = ProcessConnection(caller.socket, caller.process)
        if now is not None or self._last is None:
            line.close()
            return
        self._now = line
        self._selector.register(line.socket, selectors.EVENT_READ, line)
        line.send(_go(self._last))

    def _receive(self, line: ProcessConnection) -> None:
        data = b""
        handles: list[int] = []
        with suppress(OSError):
            if sys.platform == "win32" or system.PORTABLE:
                data = line.socket.recv(1 << 16)
            else:
                data, handles, _, _ = socket.recv_fds(line.socket, 1 << 16, 4)
        if not data:
            self._gone(line)
            return
        line.rest += data
        while b"\n" in line.rest:
            message, _, line.rest = line.rest.partition(b"\n")
            tree = debugger_protocol.parsed(message)
            self._drain()
            self._understand(line, tree, handles)

    def _understand(self, line: ProcessConnection, tree: dict[str, Any], handles: list[int]) -> None:
        word = tree["say"]
        if word == "copy":
            self._keep(tree, handles.pop(0))
            line.send(debugger_protocol.line("kept"))
        elif word == "woken":
            self._now = ProcessConnection(socket.socket(fileno=handles.pop(0)), tree["process"])
            self._selector.register(self._now.socket, selectors.EVENT_READ, self._now)
        elif word == "shell over":
            self._shell_over()
        elif line is self._now:
            self._deadline, self._running, self._over = None, False, word == "ended"
            self._waking = None
            self._hear(debugger_protocol.report_of(tree))

    def _keep(self, tree: dict[str, Any], handle: int) -> None:
        line = ProcessConnection(socket.socket(fileno=handle), tree["process"])
        self._selector.register(line.socket, selectors.EVENT_READ, line)
        place, passed = (
            ProgramPlace(*tree["place"]),
            frozenset(ProgramPlace(*each) for each in tree["passed"]),
        )
        edits, opened = given(passed, self._last) if self._last is not None else ({}, frozenset())
        if any((copy.place, copy.changed, copy.opened) == (place, edits, opened) for copy in self._copies):
            self._drop(line)
            return
        self._copies.append(Copy(line, place, passed, len(self._written), edits, opened))

    def _gone(self, line: ProcessConnection) -> None:
        self._drop(line)
        self._copies = [copy for copy in self._copies if copy.line is not line]
        waking = self._waking
        if waking is not None and line in (self._now, waking.line) and isinstance(self._last, Again):
            # The copy has ended: use the next one, or a fresh run.
            self._copies = [copy for copy in self._copies if copy is not waking]
            self._drop(waking.line)
            self._again(self._last)
            return
        if line is not self._now:
            return
        self._now = None
        self._drain()
        self._shell_over()
        if not self._over:
            self._running = False
            self._hear(Died(self._how_it_died()))

    def _how_it_died(self) -> str:
        if failed := failure_in(reports_in(self._folder)):
            return failed
        status = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(_LOOK)
        if status is not None and status < 0:
            return f"the program was ended by {signal.Signals(-status).name}"
        return "the program ended without a message"

    def _look(self) -> None:
        """Detect the silent ends: a program that never connected, and one that does not react."""
        if system.PORTABLE:
            self._drain()
        if self._deadline is not None and monotonic() > self._deadline:
            self._deadline = None
            self._running = False
            self._kill_now()
            self._hear(Died("the program did not react, and was killed"))
        process = self._process
        if self._running and self._now is None and process is not None and process.poll() is not None:
            if self._copies:
                # The first process may end while a copy goes on.
                return
            self._running = False
            self._drain()
            word = " ".join(self._start.argv)
            text = self._how_it_died() if reports_in(self._folder) else f"no Python was started by `{word}`"
            self._hear(Died(text))

    # -- ends ------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        before = len(self._written)
        while self._pipe >= 0:
            try:
                data = os.read(self._pipe, 1 << 16)
            except BlockingIOError:
                break
            if not data:
                if not system.PORTABLE:
                    self._close_pipe()
                break
            self._written += data
        if len(self._written) != before:
            self._say_wrote()

    def _close_pipe(self) -> None:
        if self._pipe >= 0:
            with suppress(KeyError):
                self._selector.unregister(self._pipe)
            os.close(self._pipe)
            self._pipe = -1

    def _drop(self, line: ProcessConnection) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(line.socket)
        line.close()

    def _kill_now(self) -> None:
        line, self._now = self._now, None
        if line is None:
            return
        system.kill(line.process)
        with suppress(OSError):
            # It may write until it has ended.
            line.socket.settimeout(_PATIENCE)
            while line.socket.recv(1 << 16):
                pass
        self._drop(line)
        self._drain()

    def _kill_all(self) -> None:
        self._kill_now()
        for copy in self._copies:
            self._drop(copy.line)
        self._copies.clear()
        if self._process is not None:
            system.kill_group(self._process.pid)
            self._process.wait()
            self._process = None
        self._close_pipe()

    def _end(self) -> None:
        self._kill_all()
        self._listener.close()
        self._selector.close()
        self._wake.close()
        self._woken.close()
        discard(self._folder)


def _go(order: Go | Again) -> bytes:
    return debugger_protocol.go(order.until, order.edits, order.opened)
