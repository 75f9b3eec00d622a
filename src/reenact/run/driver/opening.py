"""Open a debugging session for every interface: with its program, or only to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import ProgramError
from reenact.run.driver import Driver
from reenact.run.launch import Options


@dataclass(frozen=True, slots=True)
class Opening:
    """The parameters of a session.

    Attributes:
        recording: The debugged recording.
        command: Another program than the recorded one.
        options: The options of the replay.
        home: The folder of the recordings, if not the default one.
        breakpoints: The initial breakpoints.
        read: Run nothing.
        run_foreign: The user lets a foreign recording's program run.
    """

    recording: RecordedRun
    command: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    home: Path | None = None
    breakpoints: Sequence[str] = ()
    read: bool = False
    run_foreign: bool = False

    def open(self, on_change: Callable[[], None] = lambda: None) -> tuple[Driver, str]:
        """Return the session, and the reason that it has no program (or empty).

        Raises FilterError or UsageError for an invalid breakpoint, and ForeignRecording if the program may not run.
        """
        note = ""
        try:
            driver = Driver(
                self.recording, command=self.command, options=self.options, home=self.home,
                run_foreign=self.run_foreign, reading=self.read, on_change=on_change,
            )  # fmt: skip
        except ProgramError as error:
            note = str(error)
            driver = Driver(self.recording, reading=True, on_change=on_change)
        try:
            for point in self.breakpoints:
                driver.tell("break_at", point)
        except BaseException:
            driver.close()
            raise
        return driver, note
