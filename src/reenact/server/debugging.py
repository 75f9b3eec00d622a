"""The debugger behind the console's page: one session at a time, any number of pages.

The machine and its driver are those of the terminal. A page controls them with the same commands, and all pages are
notified of changes.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping

from rich.text import Text

from reenact.analysis.views.text import visible
from reenact.core.model.event import Tree
from reenact.core.query.facts import RecordingFacts
from reenact.core.replay.watch import Edit
from reenact.core.wakers import waker
from reenact.errors import UsageError
from reenact.run.debugger import answer
from reenact.run.debugger.amending import amended, answer_of, step_meant
from reenact.run.debugger.commands import arguments, command_of
from reenact.run.debugger.machine import Phase
from reenact.run.driver.opening import Opening
from reenact.server.debug_state import Standing, Tracked, standing, tracked

_STILL = 0.25
"""Seconds to wait for an order's outcome; most steps take a hundredth of it."""

_CALM = 0.1
"""Seconds between two updates of a page while the program runs.

It may write a thousand lines a second.
"""

_LINES = 2_000
"""The number of output lines that are shown."""

_AMENDING = ("edit", "raise", "undo")


class DebugSession:
    """One debugging session.

    Args:
        opening: The options and the machine of the session.

    Raises:
        UsageError: The options do not fit together, or there is no such program.
        FilterError: An invalid breakpoint.
    """

    def __init__(self, opening: Opening) -> None:
        self.id = opening.recording.id
        self._facts = RecordingFacts(opening.recording)
        self._lock = threading.RLock()
        self._ears: set[Callable[[], None]] = set()
        self._version = 0
        self._stood: tuple[Mapping[str, Tree], Mapping[str, Tree]] = ({}, {})
        self._last: object = None
        self._over = False
        self._driver, self._note = opening.open(self._changed)
        self._driver.tell("start")
        self._driver.wait(_STILL)

    # -- state -----------------------------------------------------------------------------------------------

    def state(self) -> Standing:
        """Return the current state of the program."""
        with self._lock:
            machine = self._driver.machine
            # Read the version first, so that the state is never older than its version.
            version = self._version
            state = machine.state
            if state is not self._last and state.phase in (Phase.STOPPED, Phase.DEPARTED):
                self._stood = (self._stood[1], state.actual.state)
            self._last = state
            found = standing(machine, self._facts, self._stood[0])
        told = {"version": version, "note": visible(self._note), "written": len(self._driver.output)}
        return found.model_copy(update=told)

    def output(self) -> str:
        """Return the program's output as a terminal would show it, without colours."""
        lines = self._driver.output.split("\n")
        left = [f"… {len(lines) - _LINES:,} earlier lines"] if len(lines) > _LINES else []
        return "\n".join((*left, *map(_line, lines[-_LINES:])))

    def tracked(self, step: int) -> list[Tracked]:
        """Return the tracked state at a step."""
        self._facts.recording.step(step)
        with self._lock:
            return tracked(self._facts, self._driver.machine.state, step)

    def draft(self, step: int) -> tuple[answer.EditedAnswer, bool]:
        """Return a step's answer as text to edit, and True if it is edited already.

        Raises UsageError if it cannot be edited.
        """
        self._facts.recording.step(step)
        with self._lock:
            machine = self._driver.machine
            machine.editable(step)
            return answer.draft(answer_of(machine, self._facts, step)), step in machine.state.edits

    def forking(self, step: int) -> tuple[list[str], Edit | None]:
        """Return the command that forks at a step, with the edited answer."""
        self._facts.recording.step(step)
        edit = self._driver.machine.state.edits.get(step)
        return answer.forking(self.id, step, edit), edit

    async def changes(self) -> AsyncIterator[Standing]:
        """Yield the state now and after every change, until the session ends."""
        changed = asyncio.Event()
        heard = waker(changed)
        self._ears.add(heard)
        try:
            while not self._over:
                changed.clear()
                yield await asyncio.to_thread(self.state)
                await changed.wait()
                await asyncio.sleep(0 if self._stands() else _CALM)
        finally:
            self._ears.discard(heard)

    # -- commands --------------------------------------------------------------------------------------------

    def order(self, line: str, here: int = 0) -> Standing:
        """Run a command of the line mode, and return the state after it, or `running`.

        `here` is the step whose answer is edited if the line names none.

        Raises a ReenactError with one line for an invalid command, which changes nothing.
        """
        if line.strip() == "interrupt":
            self._driver.tell("interrupt")
        else:
            command, rest = command_of(line)
            if command.name == "break" and not rest:
                raise UsageError("`break` needs a place: break 7, break tool:cancel_order, break error")
            if command.order:
                self._driver.tell(command.order, *arguments(command, rest))
            elif command.name in _AMENDING:
                self._amend(command.name, rest, here)
            else:
                raise UsageError(f"`{command.name}` is a terminal command: this page shows it elsewhere")
        self._driver.wait(_STILL)
        return self.state()

    def meant(self, step: int, text: str) -> Edit | None:
        """Parse a text as an edited answer; return None if it equals the draft.

        Raises UsageError, with the place, for an invalid answer.
        """
        draft, _ = self.draft(step)
        return answer.edited(draft, text)

    def answer(self, step: int, text: str) -> Standing:
        """Set a step's answer from a text. Raises as `meant` does."""
        found = self.meant(step, text)
        if found is not None:
            self._driver.tell("edit", step, found)
            self._driver.wait(_STILL)
        return self.state()

    def close(self) -> None:
        """End the program and the session."""
        self._over = True
        self._driver.close()
        self._changed()

    # -- within ----------------------------------------------------------------------------------------------

    def _amend(self, word: str, rest: str, here: int) -> None:
        here = here or self._driver.machine.state.at.step
        step = step_meant(word, rest, here)
        self._facts.recording.step(step)
        edit = amended(self._driver.machine, self._facts, word, rest, here)
        self._driver.tell("edit", step, edit)

    def _stands(self) -> bool:
        return self._driver.machine.state.phase is not Phase.RUNNING

    def _changed(self) -> None:
        # The driver's thread calls this, too, so it must not block.
        self._version += 1
        for ear in tuple(self._ears):
            ear()


class Desks:
    """The desks of all projects: each project has its own debugging session."""

    def __init__(self) -> None:
        self._desks: defaultdict[str, Desk] = defaultdict(Desk)

    def of(self, project: str) -> Desk:
        """Return the desk of a project."""
        return self._desks[project]

    def close(self) -> None:
        """End all sessions."""
        for desk in [*self._desks.values()]:
            desk.close()


class Desk:
    """The holder of a project's debugging session."""

    def __init__(self) -> None:
        self._session: DebugSession | None = None
        self._lock = threading.Lock()

    @property
    def recording(self) -> str | None:
        """The id of the recording that is debugged, or None."""
        return self._session.id if self._session is not None else None

    def session(self, id: str) -> DebugSession | None:
        """Return the session of that recording, if it is open."""
        found = self._session
        return found if found is not None and found.id == id else None

    def open(self, opening: Opening) -> DebugSession:
        """Open a session; end one that is open on another recording."""
        with self._lock:
            self._end()
            self._session = DebugSession(opening)
            return self._session

    def close(self) -> None:
        """End the session, if there is one."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            session.close()


def _line(line: str) -> str:
    shown = line.rstrip("\r").rpartition("\r")[2]
    return visible(Text.from_ansi(shown).plain if "\x1b" in shown else shown)
