"""Drive the debugger: run the program in a process of its own, and carry out orders.

    driver = Driver(reenact.load("last"), on_change=lambda: ...)
    driver.tell("start")
    driver.tell("break_at", "tool:cancel_order")
    driver.tell("go")
    driver.wait()
    driver.machine.state

Every interface uses it in the same way.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, Self

from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import UsageError
from reenact.run.debugger.machine import Machine, Phase
from reenact.run.debugger.orders import Died, Report, Shell
from reenact.run.driver.debugged_program import Program
from reenact.run.launch import Options

COMMANDS = frozenset((
    "start", "step", "over", "out", "into", "go", "run_to", "back", "reverse", "break_at", "clear", "edit",
    "interrupt",
))  # fmt: skip
"""The machine's commands that `tell` accepts."""


class Driver:
    """One debugging session: the machine, and the program that it drives.

    Args:
        recording: The debugged recording.
        command: Another program than the recorded one.
        options: The options of the replay.
        home: The folder of the recordings.
        run_foreign: The user lets a foreign recording's program run.
        reading: There is no program to run: only read.
        on_change: Called after every change of state or output, from a thread of the driver's own.

    Raises:
        ForeignRecording: The recording comes from elsewhere, and nothing allows its program.
        ProgramError: There is no program that can be run; with `reading` none is needed.
        UsageError: The options do not fit together, or there is no such program.
    """

    def __init__(
        self,
        recording: RecordedRun,
        *,
        command: Sequence[str] = (),
        options: Options | None = None,
        home: str | PathLike[str] | None = None,
        run_foreign: bool = False,
        reading: bool = False,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.machine = Machine(recording, reading=reading)
        self._on_change = on_change
        self._changed = threading.Condition()
        self._shell_over = threading.Event()
        self._program: Program | None = None
        if not reading:
            self._program = Program(
                recording, options or Options(), command=command, home=home, run_foreign=run_foreign,
                hear=self._hear, wrote=self._wrote, shell_over=self._shell_over.set,
            )  # fmt: skip

    @property
    def output(self) -> str:
        """The program's standard output and error so far."""
        return self._program.output if self._program is not None else ""

    @property
    def wants_shell(self) -> bool:
        """True if the program has stopped at its own `breakpoint()`: the user expects a prompt."""
        state = self.machine.state
        return state.phase is Phase.STOPPED and state.why.startswith("breakpoint()")

    def tell(self, command: str, *args: Any) -> None:
        """Give a command: one of `COMMANDS`, a method of the machine. Returns at once.

        Raises UsageError or FilterError, with one line for the user, if it is not possible; nothing has changed then.
        """
        if command not in COMMANDS:
            raise UsageError(f"there is no command {command}; there are: {', '.join(sorted(COMMANDS))}")
        with self._changed:
            orders = getattr(self.machine, command)(*args)
            for order in orders:
                assert self._program is not None
                self._program.carry_out(order)
            self._changed.notify_all()
        self._on_change()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the program stops or ends. Return False if it runs after `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self.machine.state.phase is not Phase.RUNNING, timeout)

    def shell(self, terminal: str) -> None:
        """Give a terminal (its path) to pdb in the program's own frame. Returns when pdb is left.

        Raises UsageError if the program is not stopped.
        """
        with self._changed:
            (order,) = self.machine.shell()
        assert isinstance(order, Shell)
        assert self._program is not None
        self._shell_over.clear()
        with _deaf():
            self._program.open_shell(terminal)
            while not self._shell_over.wait(0.2):
                if not self._program.connected:
                    return

    def close(self) -> None:
        """End the program in any state, and the rest of the session."""
        if self._program is not None:
            self._program.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- reports of the program ------------------------------------------------------------------------------

    def _hear(self, report: Report) -> None:
        with self._changed:
            if isinstance(report, Died) and self.machine.state.phase is Phase.ENDED:
                return
            self.machine.hear(report)
            self._changed.notify_all()
        self._on_change()

    def _wrote(self) -> None:
        self._on_change()


def _unheard(number: int, frame: object) -> None:
    """Ignore a key press for another process."""


@contextmanager
def _deaf() -> Iterator[None]:
    """Ignore Ctrl-C while pdb, which has the terminal, handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _unheard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
