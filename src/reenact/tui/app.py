"""The debugger's application: passes keys and commands to the driver, and shows its changes.

It neither runs the program nor decides on stops: it shows the machine's state, and gives it orders.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar, TypeVar

from textual import events
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.widgets import Static

from reenact.core import system
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.filter import Filter
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.watch import Edit
from reenact.errors import ReenactError, UsageError
from reenact.run.debugger import answer
from reenact.run.debugger.amending import amended, answer_of, step_meant
from reenact.run.debugger.commands import arguments, command_of, edit_words
from reenact.run.debugger.editor import answer_in_editor
from reenact.run.debugger.machine import Phase
from reenact.run.driver import Driver
from reenact.tui import key_table
from reenact.tui.board import TABS, Board
from reenact.tui.help import HelpScreen
from reenact.tui.notices import Heard
from reenact.tui.prompt_line import PromptLine
from reenact.tui.timeline import Timeline

T = TypeVar("T")

_STILL = 0.12
"""Seconds after which the screen shows that a program runs; most steps take a hundredth."""

_AHEAD = 0.5
"""Seconds from the start of a program for which a key waits until it stops.

So a key that is held down steps repeatedly.
"""


def run(
    recording: RecordedRun, opened: Callable[[Callable[[], None]], tuple[Driver, str]], *, home: str = ""
) -> None:
    """Debug on this terminal until the user leaves.

    Args:
        recording: The recording to debug.
        opened: Opens the session, with a function for its notices. Returns the session, and the reason if it can only
            read, or "".
        home: The folder of the recordings, if it is not the default.
    """
    heard = Heard()
    driver, note = opened(heard)
    try:
        Debugger(driver, RecordingFacts(recording), heard, note=note, home=home).run()
    finally:
        driver.close()


_PANES = {
    "print": "call", "messages": "messages", "state": "state", "output": "output", "where": "stack",
    "verdict": "actual",
}  # fmt: skip


class Debugger(App[None]):
    """The application.

    Args:
        driver: The session.
        facts: The recording.
        heard: The function that the driver calls.
        note: The reason that there is no program, or "".
        home: The folder of the recordings, if it is not the default.
    """

    CSS_PATH = "debugger.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = key_table.BINDINGS

    def __init__(
        self, driver: Driver, facts: RecordingFacts, heard: Heard, *, note: str = "", home: str = ""
    ) -> None:
        super().__init__()
        self.driver = driver
        self.board = Board(driver, facts)
        self._heard = heard
        self._note = note
        self.environ = dict(os.environ) | ({"REENACT_HOME": home} if home else {})
        self._late = False
        self._began = 0.0
        self._next: tuple[str, tuple[Any, ...]] | None = None
        self._prompt = PromptLine()
        self.looked_for: Filter | None = None

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        yield self.board
        yield self._prompt
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Start the program."""
        self._heard.app = self
        self.board.timeline.focus()
        self.action_order("start")
        if self._note:
            self.board.say(f"{self._note}; reading only", "yellow")

    def on_resize(self, event: events.Resize) -> None:
        """Show the keys for which there is room."""
        self.query_one("#keys", Static).update(key_table.bar(event.size.width - 2))

    def on_changed(self) -> None:
        """Show the changes, but not each change of a running program."""
        self._heard.waiting = False
        if self.driver.machine.state.phase is not Phase.RUNNING:
            self._show()
        elif not self._late:
            self._late = True
            self.set_timer(_STILL, self._show_late)

    def _show_late(self) -> None:
        self._late = False
        self._show()

    def _show(self) -> None:
        new = self.board.refresh_all()
        if self.driver.machine.state.phase is Phase.RUNNING:
            return
        (order, args), self._next = self._next or ("", ()), None
        if new and self.driver.wants_shell:
            self.action_pdb()
        elif order:
            self.action_order(order, *args)

    @property
    def cursor(self) -> int:
        """The step that the panes show."""
        return self.board.timeline.cursor

    # -- the program -----------------------------------------------------------------------------------------

    def action_order(self, order: str, *args: Any) -> bool:
        """Give the machine an order; show a refusal in a line. Returns True if it was accepted."""
        running = self.driver.machine.state.phase is Phase.RUNNING
        if running and order != "interrupt" and monotonic() - self._began < _AHEAD:
            # The key was pressed ahead: give the order once the program stops.
            self._next = order, args
            return True
        self.board.say()
        self._next = None
        try:
            self.driver.tell(order, *args)
        except ReenactError as error:
            self.board.say(str(error))
            return False
        self._began = self._began if running else monotonic()
        return True

    def action_into(self) -> None:
        """Step into the call if steps were recorded inside it, else step."""
        at, facts = self.driver.machine.state.at.step, self.board.facts
        inside = at and any(facts.within(step) == at for step in facts.steps[at:])
        self.action_order("into" if inside else "step")

    def action_until(self) -> None:
        """Run to the cursor."""
        self.action_order("run_to", self.cursor)

    def on_timeline_chosen(self, event: Timeline.Chosen) -> None:
        """Run to the chosen step."""
        self.action_until()

    def action_interrupt(self) -> None:
        """Stop the program."""
        if self.driver.machine.state.phase is Phase.RUNNING:
            self.action_order("interrupt")
        else:
            self.board.say("the program does not run now; q leaves", "yellow")

    def action_break(self) -> None:
        """Set or remove a breakpoint at the cursor."""
        step = str(self.cursor)
        there = any(point.text == step for point in self.driver.machine.state.breakpoints)
        self.action_order("clear" if there else "break_at", step)

    # -- answers ---------------------------------------------------------------------------------------------

    def action_edit(self, step: int = 0) -> None:
        """Edit the answer in the user's editor."""
        number = step or self.cursor
        try:
            self.driver.machine.editable(number)
            draft = answer.draft(answer_of(self.driver.machine, self.board.facts, number))
        except ReenactError as error:
            self.board.say(str(error))
            return
        found = self._on_terminal(lambda: answer_in_editor(draft, f"step-{number}", ask=True))
        if found is not None:
            self.edit(number, found)

    def action_undo(self, step: int = 0) -> None:
        """Restore the recorded answer."""
        number = step or self.cursor
        if number in self.driver.machine.state.edits:
            self.edit(number, None)
        else:
            self.board.say(f"the answer of step {number} has not been edited")

    def edit(self, number: int, edit: Edit | None) -> None:
        """Set a step's answer, or with None restore the recorded one."""
        if self.action_order("edit", number, edit):
            what = "recorded answer restored" if edit is None else "its answer is edited"
            self.board.say(f"step {number}: {what}", "green")

    # -- the terminal given away -----------------------------------------------------------------------------

    def _on_terminal(self, work: Callable[[], T]) -> T | None:
        """Run a function on the whole terminal. After a failure, show it in a line; return None."""
        found, failed = None, ""
        self.board.say()
        try:
            with self.suspend():
                try:
                    found = work()
                except (ReenactError, OSError, EOFError) as error:
                    failed = str(error) or type(error).__name__
                except KeyboardInterrupt:
                    failed = "given up"
        except SuspendNotSupported:
            failed = "this terminal cannot run another program meanwhile"
        self.refresh(layout=True)
        if failed:
            self.board.say(failed)
        return found

    def action_pdb(self) -> None:
        """Open Python's debugger, on this terminal."""
        self._on_terminal(lambda: self.driver.shell(system.terminal_of(sys.stdin.fileno())))

    def action_fork(self, step: int = 0) -> None:
        """Open the prompt with the command that forks at a step."""
        number = step or self.cursor
        edit = self.driver.machine.state.edits.get(number)
        self.action_prompt("$", shlex.join(answer.forking(self.board.facts.recording.id, number, edit)))
        self.board.say("Enter runs it on this terminal; Esc does not", "cyan")

    def run_fork(self, line: str) -> None:
        """Fork, on this terminal. Raises UsageError for another command."""
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{error}: {line}") from None
        if words[:2] != ["reenact", "fork"]:
            raise UsageError("only `reenact fork …` is run from here")

        def fork() -> int:
            done = subprocess.run(  # noqa: S603 - the user has seen the command
                [sys.executable, "-m", "reenact", *words[1:]], env=self.environ, check=False
            )
            input(f"{line}\nended with status {done.returncode}; Enter goes back to the debugger ")
            return done.returncode

        self._on_terminal(fork)

    # -- looking ---------------------------------------------------------------------------------------------

    def action_tab(self, tab: str) -> None:
        """Show another pane."""
        self.board.tab = tab
        self.board.refresh_all()

    def action_turn(self, by: int) -> None:
        """Show the next or previous pane."""
        known = [tab for tab in TABS if not (self.board.wide and tab == "messages")]
        self.action_tab(known[(known.index(self.board.shown_tab) + by) % len(known)])

    def action_unfold(self) -> None:
        """Unfold or fold long texts."""
        self.board.whole = not self.board.whole
        self.board.show()

    def action_follow(self) -> None:
        """Move the cursor to the position of the program."""
        self.board.timeline.go_to(max(self.driver.machine.state.at.step, 1))

    def action_help(self) -> None:
        """Show all keys."""
        if not isinstance(self.screen, HelpScreen):
            _ = self.push_screen(HelpScreen())

    def action_find(self, by: int) -> None:
        """Go to the next or previous step that matches the filter."""
        if self.looked_for is None:
            self.board.say("type / and a filter such as tool:cancel_order, or a step's number")
            return
        steps = self.board.facts.steps
        order = [(self.cursor - 1 + by * ahead) % len(steps) for ahead in range(1, len(steps) + 1)]
        found = next((place for place in order if self.looked_for.matches(steps[place])), None)
        if found is None:
            self.board.say(f"no step matches {self.looked_for.text}")
        else:
            self.board.say()
            self.board.timeline.go_to(found + 1)

    # -- the prompt ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return False for keys that open the prompt while the prompt or help is open."""
        if action in ("prompt", "fork"):
            return not (isinstance(self.screen, HelpScreen) or self._prompt.display)
        return True

    def action_prompt(self, asked: str, text: str = "") -> None:
        """Open the prompt: for a command after `:`, or a search after `/`."""
        self._prompt.open(asked, text)

    def on_key(self, event: events.Key) -> None:
        """Close the prompt at Escape."""
        if event.key == "escape" and self._prompt.display:
            self._close_prompt()

    def _close_prompt(self) -> None:
        self._prompt.display = False
        self.screen.set_focus(self.board.timeline)

    def on_input_submitted(self, event: PromptLine.Submitted) -> None:
        """Run the input; leave an invalid one in the line for correction."""
        text = event.value.strip()
        self.board.say()
        try:
            if text and self._prompt.asked == "$":
                self._close_prompt()
                self.run_fork(text)
                return
            if text and self._prompt.asked == "/":
                look_for(self, text)
            elif text:
                carry_out(self, text)
        except ReenactError as error:
            self.board.say(str(error))
            return
        self._close_prompt()


def look_for(app: Debugger, text: str) -> None:
    """Move the cursor to a step by its number, or to the next match of a filter.

    Raises FilterError or UsageError.
    """
    if text.isdecimal():
        app.board.timeline.go_to(app.board.facts.recording.step(int(text)).number)
    else:
        app.looked_for = Filter(text)
        app.action_find(1)


def carry_out(app: Debugger, line: str) -> None:
    """Run a command; one that only shows values opens its pane.

    Raises a ReenactError for an invalid command.
    """
    command, rest = command_of(line)
    if command.name == "break" and not rest:
        points = ", ".join(point.text for point in app.driver.machine.state.breakpoints)
        app.board.say(f"breakpoints: {points or 'none'}", "cyan")
    elif command.order:
        app.driver.tell(command.order, *arguments(command, rest))
    elif command.name in _PANES:
        app.action_tab(_PANES[command.name])
    elif command.name == "list":
        look_for(app, rest or str(app.cursor))
    elif command.name in ("edit", "raise", "undo"):
        _another_answer(app, command.name, rest)
    elif command.name == "fork":
        app.action_fork(step_meant(command.name, rest, app.cursor))
    else:
        {"pdb": app.action_pdb, "help": app.action_help, "quit": app.exit}[command.name]()


def _another_answer(app: Debugger, name: str, rest: str) -> None:
    machine, facts = app.driver.machine, app.board.facts
    number = step_meant(name, rest, app.cursor)
    if name == "edit" and edit_words(rest)[1] is None:
        machine.editable(number)
        app.action_edit(number)
    else:
        app.edit(number, amended(machine, facts, name, rest, app.cursor))
