"""Connections to the processes of the debugged program, and copies of it that wait."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from reenact.core import system
from reenact.core.replay.watch import Edit
from reenact.run.debugger.orders import Again, Go, ProgramPlace

_Socket = socket.socket


@dataclass(eq=False, slots=True)
class ProcessConnection:
    """A connection to one process of the program."""

    socket: socket.socket
    process: int
    rest: bytes = b""
    interrupts: _Socket | None = None

    def interrupt(self) -> None:
        """Stop the program at any point."""
        if self.interrupts is not None:
            with suppress(OSError):
                self.interrupts.sendall(b".")
        elif system.LINUX:
            with suppress(ProcessLookupError):
                os.kill(self.process, system.INTERRUPT)

    def close(self) -> None:
        self.socket.close()
        if self.interrupts is not None:
            self.interrupts.close()

    def send(self, data: bytes) -> None:
        with suppress(OSError):
            self.socket.sendall(data)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the program that waits at a place, with the answers given until then."""

    line: ProcessConnection
    place: ProgramPlace
    passed: frozenset[ProgramPlace]
    written: int
    changed: Mapping[int, Edit] = field(default_factory=dict)
    opened: frozenset[int] = frozenset()

    def fits(self, order: Again) -> bool:
        """Return True if the answers given until here are those of an order."""
        return given(self.passed, order) == (self.changed, self.opened)

    def leads_to(self, order: Again) -> bool:
        """Return True if a run from here comes to the target of an order."""
        return order.before not in self.passed and order.until.place not in self.passed


def given(passed: frozenset[ProgramPlace], order: Go | Again) -> tuple[dict[int, Edit], frozenset[int]]:
    """Return an order's edits and opened steps at the places that a program has passed."""
    behind = {place.step for place in passed}
    edits = {step: edit for step, edit in order.edits.items() if step in behind}
    return edits, frozenset(step for step in order.opened if step in behind)
