"""The debugger's screen: a timeline, panes, and keys that give the driver its commands.

Nothing here knows how a program is run, or decides where it stops: it shows the machine's state, and asks for another.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from reenact.debugger import answer
from reenact.debugger.commands import arguments, command_of, edit_words, raise_words, step_number
from reenact.debugger.machine import START, Phase, Place, State
from reenact.driver import Driver
from reenact.editor import in_editor
from reenact.errors import ReenactError, UsageError
from reenact.model.event import Tree
from reenact.model.facts import RecordingFacts
from reenact.model.filter import Filter
from reenact.model.recording import Recording
from reenact.prose.words import many, one_line
from reenact.replay.watch import Edit
from reenact.tui import keys, panes
from reenact.tui.help import Help
from reenact.tui.reader import Line, Reader
from reenact.tui.timeline import Timeline

TABS = ("messages", "call", "actual", "state", "output", "stack")
WIDE = 150
"""From how many columns on the messages have a pane of their own."""

_SLICE = 0.008
_AHEAD = 40
_STILL = 0.12

_PANE_OF = {
    "print": "call", "messages": "messages", "state": "state", "output": "output", "where": "stack",
    "verdict": "actual",
}  # fmt: skip


class Changed(Message):
    """The program or the session is in another state, or something was written."""


class Heard:
    """Takes what the driver says, from whichever thread, to the application once there is one."""

    def __init__(self) -> None:
        self.app: Debugger | None = None
        self.waiting = False

    def __call__(self) -> None:
        if self.app is not None and not self.waiting:
            # One message for all changes until it is read: a program may write a thousand lines a second.
            self.waiting = True
            self.app.post_message(Changed())


def run(recording: Recording, open: Callable[[Callable[[], None]], tuple[Driver, str]]) -> None:
    """Debug on this terminal until the user has enough.

    Args:
        recording: What is debugged.
        open: Opens the session, given whom to tell of changes; returns it, and why it can only read (or nothing).
    """
    heard = Heard()
    driver, note = open(heard)
    try:
        Debugger(driver, RecordingFacts(recording), heard, note=note).run()
    finally:
        driver.close()


class Debugger(App[None]):
    """The application.

    Args:
        driver: The session.
        facts: The recording.
        heard: What the driver was told to call.
        note: Why there is no program, or nothing.
    """

    CSS_PATH = "debugger.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = keys.BINDINGS

    def __init__(self, driver: Driver, facts: RecordingFacts, heard: Heard, *, note: str = "") -> None:
        super().__init__()
        self.driver = driver
        self.facts = facts
        self.tab = "messages"
        self.whole = False
        self._heard = heard
        self._note = note
        self._said = ("", "")
        self._state = driver.machine.state
        self._tracked: tuple[Mapping[str, Tree], Mapping[str, Tree]] = ({}, {})
        self._filter: Filter | None = None
        self._read = 0
        self._late = False
        self._timeline = Timeline(facts, self._state, id="timeline")

    def compose(self) -> ComposeResult:
        """The screen's parts."""
        yield Static(id="head")
        with Horizontal(id="body"):
            yield self._timeline
            yield Reader(id="side")
            with Vertical(id="right"):
                yield Static(id="tabs")
                yield Reader(id="page")
        yield Static(id="status")
        yield Input(id="prompt", compact=True)
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Start the program."""
        self._heard.app = self
        self._timeline.focus()
        self.query_one("#head", Static).update(self._head())
        self._warm = self.set_interval(0.02, self._read_on)
        self.action_order("start")
        if self._note:
            self._say(f"{self._note}; reading only", "yellow")
        self._refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Wide screens have room for the messages beside the other panes."""
        self.set_class(event.size.width >= WIDE, "wide")
        self.query_one("#keys", Static).update(keys.bar(event.size.width))
        self.call_after_refresh(self._show)

    # -- what is shown ---------------------------------------------------------------------------------------

    @property
    def _wide(self) -> bool:
        return self.size.width >= WIDE

    def on_changed(self) -> None:
        """Something has changed: show it, but not every moment of a program that runs."""
        self._heard.waiting = False
        if self.driver.machine.state.phase is not Phase.RUNNING:
            self._refresh()
        elif not self._late:
            self._late = True
            self.set_timer(_STILL, self._still_running)

    def _still_running(self) -> None:
        self._late = False
        self._refresh()

    def _refresh(self) -> None:
        state, before = self.driver.machine.state, self._state
        if state is not before:
            self._state = state
            stands = state.phase is not Phase.RUNNING
            moved = stands and (state.at, state.phase) != (before.at, before.phase)
            if moved and state.phase is not Phase.READING:
                self._tracked = (self._tracked[1], state.actual.state)
            self._timeline.update(state, self.driver.machine.stops(), follow=moved)
            if moved and state.phase is Phase.DEPARTED:
                self.tab = "actual"
        self._bars()
        self._show()
        if state is not before and self.driver.wants_shell:
            self.action_pdb()

    def on_timeline_moved(self, event: Timeline.Moved) -> None:
        """The panes follow the cursor."""
        self._show()

    def on_timeline_chosen(self, event: Timeline.Chosen) -> None:
        """Run there."""
        self.action_order("run_to", event.step)

    def _head(self) -> Text:
        recording = self.facts.recording
        text = Text(" reenact ", "bold reverse").append(f" {recording.id}", "yellow")
        text.append(f"  {one_line(recording.name, 40)}", "bold")
        counted = many(len(recording.steps), "step")
        return text.append(f"  {counted}, {recording.status}", "dim")

    def _bars(self) -> None:
        self.query_one("#status", Static).update(self._status())
        changed = bool(self._state.divergence) or bool(self._state.at.extra)
        shown = []
        for number, tab in enumerate(TABS, 1):
            if tab == "messages" and self._wide:
                continue
            style = "b reverse" if tab == self._page_tab() else "b $warning" if tab == "actual" and changed else ""
            word = f"{number} {tab.capitalize()}" if self._wide else tab.capitalize()
            shown.append(f"[@click=app.tab('{tab}')]{f'[{style}]' if style else ''} {word} {'[/]' if style else ''}[/]")
        self.query_one("#tabs", Static).update("".join(shown))

    def _status(self) -> Text:
        text, style = self._said
        if text:
            return Text(f" {one_line(text)}", f"bold {style}")
        state = self._state
        why = one_line(state.why)
        if state.phase is Phase.RUNNING:
            return Text(" running … Ctrl-C stops it", "bold cyan")
        if state.phase is Phase.READING:
            return Text(f" reading {state.at}", "bold").append(f"  {why}", "magenta")
        if state.phase is Phase.STOPPED:
            where = f"before {state.at}" if state.at != START else "at its beginning"
            return Text(f" stopped {where}", "bold green").append(f"  {why}", "magenta")
        if state.phase is Phase.DEPARTED:
            return Text(f" {one_line(str(state.divergence))}", "bold red")
        verdict = f"  {one_line(str(state.verdict))}" if state.verdict is not None else ""
        return Text(f" {why}", "bold" if state.phase is Phase.ENDED else "bold red").append(verdict, "not bold")

    def _say(self, text: str, style: str = "red") -> None:
        # A filter's error has a second line that points at the column: there is no room for it here.
        self._said = (text.split("\n", 1)[0], style)
        self._bars()

    def _page_tab(self) -> str:
        return "call" if self._wide and self.tab == "messages" else self.tab

    def _show(self) -> None:
        step = self._timeline.cursor
        if self._wide:
            self._fill(self.query_one("#side", Reader), "messages", step)
        self._fill(self.query_one("#page", Reader), self._page_tab(), step)

    def _fill(self, page: Reader, tab: str, step: int) -> None:
        of_program = tab in ("actual", "state", "output")
        try:
            lines = list(self._lines(tab, step))
        except Exception as error:  # a recording may hold anything; the session goes on
            lines = [panes.remark(f"this cannot be shown: {type(error).__name__}: {one_line(str(error))}", "red")]
        page.show(
            lines, of=(tab, self._state.at if of_program else step, self.whole), at_end=tab == "output"
        )

    def _lines(self, tab: str, step: int) -> Iterable[Line]:
        state, whole = self._state, self.whole
        if tab == "messages":
            if step > self._read + _AHEAD:
                return [panes.remark(f"reading the conversation … step {self._read} of {step}")]
            return panes.messages(self.facts, step, whole=whole)
        if tab == "call":
            return panes.call(self.facts, step, state, whole=whole)
        if tab == "actual":
            return panes.actual(self.facts, state, wide=self._wide, whole=whole)
        if tab == "state":
            return panes.state_of(state.actual.state, self._tracked[0], whole=whole)
        if tab == "output":
            return panes.output(self.driver.output, state)
        return panes.stack(self.facts, state, step)

    def _read_on(self) -> None:
        """What is new in a call depends on all calls before it: they are read in spare moments."""
        until, waited = time.monotonic() + _SLICE, self._timeline.cursor > self._read + _AHEAD
        while self._read < len(self.facts.steps) and time.monotonic() < until:
            self._read += 1
            self.facts.turn(self._read)
        if self._read >= len(self.facts.steps):
            self._warm.stop()
        if waited and (self._wide or self.tab == "messages"):
            self._show()

    # -- the program -----------------------------------------------------------------------------------------

    def action_order(self, order: str, *args: Any) -> bool:
        """A command for the machine. What it cannot do costs a line. Returns whether it could."""
        self._said = ("", "")
        try:
            self.driver.tell(order, *args)
        except ReenactError as error:
            self._say(str(error))
            return False
        self._bars()
        return True

    def action_into(self) -> None:
        """Into the call where something was recorded inside, else on."""
        at = self._state.at.step
        inside = at and any(self.facts.within(step) == at for step in self.facts.steps[at:])
        self.action_order("into" if inside else "step")

    def action_until(self) -> None:
        """To the cursor."""
        self.action_order("run_to", self._timeline.cursor)

    def action_interrupt(self) -> None:
        """Stop the program."""
        if self.driver.machine.state.phase is Phase.RUNNING:
            self.action_order("interrupt")
        else:
            self._say("the program is not running; q leaves", "yellow")

    def action_toggle(self) -> None:
        """A breakpoint at the cursor, or none."""
        step = str(self._timeline.cursor)
        there = any(point.text == step for point in self.driver.machine.state.breakpoints)
        self.action_order("clear" if there else "break_at", step)

    def action_pdb(self) -> None:
        """Python's debugger, on this terminal."""
        with self._given_away():
            self.driver.shell(os.ttyname(sys.stdin.fileno()))

    def action_edit(self, number: int = 0) -> None:
        """Another answer, in the user's editor."""
        number = number or self._timeline.cursor
        with self._given_away() as may:
            self.driver.machine.editable(number)
            shown = answer.draft(self._answer(number))
            text = shown.text
            may()
            while True:
                text = in_editor(text, suffix=shown.suffix, name=f"step-{number}")
                try:
                    found = answer.edited(shown, text)
                    break
                except UsageError as error:
                    print(f"reenact: {error}")
                    if input("edit it again? [Y/n] ").strip().lower() in ("n", "no"):
                        raise
        if found is not None:
            self._edit(number, found)

    def _answer(self, number: int) -> Edit:
        known = self.driver.machine.state.edits.get(number)
        return known if known is not None else answer.recorded(self.facts.steps[number - 1].step)

    def _edit(self, number: int, edit: Edit | None) -> None:
        if self.action_order("edit", number, edit):
            what = "its recorded answer again" if edit is None else "its answer is edited"
            self._say(f"step {number}: {what}; c goes on with it", "green")
