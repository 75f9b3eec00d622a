"""Compare the standard input of a process that the program starts with the recorded one.

The parent runs again, so it writes the same bytes to the process's standard input, or others.
"""

from __future__ import annotations

from typing import Any

from reenact.core.boundary import Call
from reenact.core.replay.departures import HINT
from reenact.core.replay.replayer import Replayer
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run.plan import STDIN, Plan, file_of_stdin

_TOKEN = b"[[secret:"


class GivenInput:
    """Reads the real standard input beside the recorded one.

    Args:
        replayer: The replay of this process.
    """

    def __init__(self, replayer: Replayer) -> None:
        self._replayer = replayer
        self._over = False

    @classmethod
    def of(cls, plan: Plan, replayer: Replayer | None) -> GivenInput | None:
        """Return the comparison for a process with a standard input of its own, else None."""
        shared = plan.options.get(STDIN)
        return None if replayer is None or shared in (None, file_of_stdin()) else cls(replayer)

    def compare(self, raw: Any, recorded: bytes, call: Call) -> None:
        """Read as many bytes as were recorded; at a recorded end, expect the end.

        Raises `Halt` for other bytes.

        Args:
            raw: The real standard input.
            recorded: The bytes of the recorded call.
            call: The read, answered from the recording.
        """
        number = None if call.answer is None else call.answer.call
        if self._over or number is None or not self._replayer.state.on_recording or _TOKEN in recorded:
            # After a secret, the lengths may differ.
            self._over = True
            return
        turnstile = call.scope.run.turnstile
        turnstile.live_begins()
        try:
            found = _read(raw, recorded)
        finally:
            turnstile.live_ends()
        if found == recorded:
            return
        self._over = True
        shown = Mismatch("input", _text(recorded) or "the end", _text(found) or "the end")
        detail = "the program gives this process other input than recorded"
        place, step = self._replayer.cursor.log.calls[number].address, self._replayer.step_of(number)
        self._replayer.state.depart(Divergence(Departure.CHANGED, place, step, (shown,), detail, HINT))


def _read(raw: Any, recorded: bytes) -> bytes:
    """Read as many bytes as were recorded, fewer if they differ; at a recorded end, one."""
    found = b""
    while recorded.startswith(found) and (not recorded or len(found) < len(recorded)):
        piece = raw.read(max(len(recorded) - len(found), 1))
        if not piece:
            break
        found += piece
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
