"""Run verbs for a user at a terminal: ask for consent, show progress."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import field
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Self

import click

from reenact.analysis.views.text import visible
from reenact.cli.printing import say
from reenact.core.dataclass import dataclass
from reenact.core.store.local import LocalStore
from reenact.core.store.local import home as home_of
from reenact.errors import UsageError
from reenact.team.open import Reaching, place_of, team_store
from reenact.verbs import interface, marks

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from reenact.core.query.recorded_run import RecordedRun
    from reenact.core.store.base import Library

EVERY = 10.0
"""Seconds between lines about the progress if standard error is no terminal."""


@dataclass
class TerminalContext(interface.Context):
    """The context of a command.

    Attributes:
        json: True if the result is printed as JSON.
    """

    json: bool = False
    _bar: Progress | None = field(default=None, init=False)
    _tasks: dict[str, TaskID] = field(default_factory=dict, init=False)
    _next: float = field(default_factory=lambda: monotonic() + EVERY, init=False)

    @property
    def store(self) -> LocalStore:
        """The local recordings and, by their ids, those of the team's store."""
        return Reaching(self.home)

    @contextmanager
    def opened(self) -> Iterator[tuple[LocalStore, Library]]:
        """Open the recordings, or the team's, and their index."""
        with opened(self.home, team=self.team) as both:
            yield both

    def may_run(
        self,
        recordings: Sequence[str | RecordedRun],
        command: Sequence[str] = (),
        *,
        requests: bool = False,
        starts: bool = True,
        instead: str = marks.INSTEAD,
    ) -> bool:
        """Ask the user for each foreign recording."""
        agreed = import_module("reenact.cli.consent").agreed
        asked: bool = agreed(
            recordings,
            command,
            self.home,
            run_foreign=self.run_foreign,
            requests=requests,
            starts=starts,
            instead=instead,
        )
        return asked

    def say(self, line: str, of: int | None = None) -> None:
        """Print the line, unless the result is printed as JSON."""
        if not self.json:
            say(line)

    def note(self, line: str) -> None:
        """Show the line beside the bar if there is one, or print it."""
        if self._bar is not None and self._tasks:
            self._bar.update(next(reversed(self._tasks.values())), description=line)
        else:
            say(f"reenact: {line}")

    def warn(self, line: str) -> None:
        """Print the line."""
        if self._bar is None:
            say(f"reenact: {line}")
            return
        with suppress(OSError, ValueError):
            self._bar.console.print(visible(f"reenact: {line}"), markup=False)

    def confirm(self, question: str, details: Iterable[str]) -> bool | None:
        """Ask on the terminal; return None if standard input is no terminal."""
        if not sys.stdin.isatty():
            return None
        for line in details:
            say(line)
        return click.confirm(question, err=True)

    def listening(self, environ: Mapping[str, str]) -> None:
        """Print the variables to set, for a shell to read."""
        for variable, value in environ.items():
            print(f"export {variable}={shlex.quote(value)}", flush=True)
        say("reenact: recording the requests to these addresses; Ctrl-C stops it")

    def progress(self, what: str, done: int, total: int, *, label: str = "", note: str = "") -> None:
        """Draw a bar on a terminal; otherwise print a line from time to time, if there is a note."""
        if self._bar is None and sys.stderr.isatty():
            self._bar = _new_bar()
        if self._bar is not None:
            if what not in self._tasks:
                self._bar.start()
                self._tasks[what] = self._bar.add_task("", total=total, what=what)
            self._bar.update(self._tasks[what], completed=done, total=total)
        elif note and monotonic() > self._next:
            self._next = monotonic() + EVERY
            say(f"reenact: {done} of {total}, {note}")

    def end_progress(self) -> None:
        """Remove the bar from the terminal, so that the result begins on a new line."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
            self._tasks.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_progress()


def _new_bar() -> Progress:
    """Return a bar for a terminal."""
    from rich.progress import (  # noqa: PLC0415 - for long work on terminals alone
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from reenact.cli import present  # noqa: PLC0415 - rich, too

    return Progress(
        TextColumn("{task.fields[what]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=present.err(),
        transient=True,
    )


@contextmanager
def opened(home: Path | None, *, team: bool) -> Iterator[tuple[LocalStore, Library]]:
    """Open the local recordings, or the team's, and their index. Raises UsageError."""
    if not team:
        from reenact.core.store.index import Index  # noqa: PLC0415 - queries, which `record` does not need

        here = Reaching(home)
        with closing(Index(here)) as index:
            yield here, index
        return
    if home is not None:
        raise UsageError("--team is the team's store and --home a folder here: one of the two")
    with team_store(place_of()) as there:
        from reenact.team.index import TeamIndex  # noqa: PLC0415 - drivers that few need

        # Lists show the origin of recordings, which needs the project's key.
        there.adopt([], home_of(None))
        with closing(TeamIndex(there)) as index:
            yield there, index
