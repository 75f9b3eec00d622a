"""The debugger's screen: the timeline, the panes, and a status line."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from reenact.analysis.views.text import many, one_line
from reenact.analysis.views.verdict import brief
from reenact.core.model.event import Tree
from reenact.core.query.facts import RecordingFacts
from reenact.run.debugger import debugger_views
from reenact.run.debugger.machine import MachineState, Phase
from reenact.run.debugger.orders import START
from reenact.run.driver import Driver
from reenact.tui import panes
from reenact.tui.reader import LinesPane, UnwrappedLine
from reenact.tui.timeline import Timeline

TABS = ("messages", "call", "actual", "state", "output", "stack")
MEDIUM, WIDE = 110, 150
"""The widths in columns from which the timeline shows figures, and messages have a pane."""

_SLICE = 0.008
_AHEAD = 40


class Board(Vertical):
    """Shows the machine's state, without changing it.

    Args:
        driver: The session.
        facts: The recording.
    """

    def __init__(self, driver: Driver, facts: RecordingFacts, **options: Any) -> None:
        super().__init__(**options)
        self.facts = facts
        self.tab = ""
        self.whole = False
        self._driver = driver
        self._state = driver.machine.state
        self._said = ("", "")
        self._tracked: tuple[Mapping[str, Tree], Mapping[str, Tree]] = ({}, {})
        self._read = 0
        self.timeline = Timeline(facts, self._state, id="timeline")

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        yield Static(self._head(), id="head")
        with Horizontal(id="panes"):
            yield self.timeline
            yield LinesPane(id="side")
            with Vertical(id="right"):
                yield Static(id="tabs")
                yield LinesPane(id="page")
        yield Static(id="status")

    def on_mount(self) -> None:
        """Begin to read the conversations."""
        self._reading = self.set_interval(0.02, self._read_on)

    def on_resize(self, event: events.Resize) -> None:
        """Show the messages beside the other panes if the screen is wide."""
        self.set_class(event.size.width >= WIDE, "wide")
        self.set_class(MEDIUM <= event.size.width < WIDE, "medium")
        self.call_after_refresh(self.refresh_all)

    @property
    def wide(self) -> bool:
        """True if the messages have their own pane."""
        return self.size.width >= WIDE

    @property
    def shown_tab(self) -> str:
        """The tab of the right pane; at first, the messages once a model was asked."""
        tab = self.tab or ("messages" if debugger_views.seen(self.facts, self.timeline.cursor) else "call")
        return "call" if self.wide and tab == "messages" else tab

    # -- showing ---------------------------------------------------------------------------------------------

    def say(self, text: str = "", style: str = "red") -> None:
        """Show a line instead of the status, until the next command."""
        # The second line of a filter's error points at the column; there is no room for it here.
        self._said = (text.split("\n", 1)[0], style)
        if self.is_attached:
            self._bars()

    def refresh_all(self) -> bool:
        """Show the current state. Returns True if it has changed."""
        if not self.is_attached:
            # The program has written something after the screen was closed.
            return False
        state, before = self._driver.machine.state, self._state
        if state is not before:
            self._state = state
            stands = state.phase is not Phase.RUNNING
            moved = stands and (state.at, state.phase) != (before.at, before.phase)
            if moved and state.phase is not Phase.READING:
                self._tracked = (self._tracked[1], state.actual.state)
            if moved:
                self.tab = _telling(state) or self.tab
            self.timeline.update(state, self._driver.machine.stops(), follow=moved)
        self._bars()
        self.show()
        return state is not before

    def show(self) -> None:
        """Show the panes of the step under the cursor."""
        step = self.timeline.cursor
        if self.wide:
            self._fill(self.query_one("#side", LinesPane), "messages", step)
        self._fill(self.query_one("#page", LinesPane), self.shown_tab, step)

    def on_timeline_moved(self, event: Timeline.Moved) -> None:
        """Show the panes of the new step."""
        self.whole = False
        self._bars()
        self.show()

    def _fill(self, page: LinesPane, tab: str, step: int) -> None:
        about = self._state.at if tab in ("actual", "output") else step
        try:
            lines = list(self._lines(tab, step))
        except Exception as error:  # a recording may contain anything, and the session must go on
            why = one_line(f"this cannot be shown: {type(error).__name__}: {error}", 300)
            lines = [panes.remark(why, "red")]
        page.show(lines, of=(tab, about, self.whole, len(lines) == 1), at_end=tab == "output")

    def _lines(self, tab: str, step: int) -> Iterable[UnwrappedLine]:
        state, whole = self._state, self.whole
        if tab == "messages":
            if step > self._read + _AHEAD:
                return [panes.remark(f"reading the conversation … step {self._read} of {step}")]
            return panes.messages(self.facts, step, whole=whole)
        if tab == "call":
            return panes.call(self.facts, step, state, whole=whole)
        if tab == "actual":
            return panes.actual(self.facts, state, wide=self.wide, whole=whole)
        if tab == "state":
            return panes.tracked(self.facts, step, state, self._tracked[0], whole=whole)
        if tab == "output":
            return panes.output(self._driver.output, state)
        return panes.stack(self.facts, state, step)

    def _read_on(self) -> None:
        """Read calls in idle moments, because a call's new messages depend on all earlier calls."""
        until, waited = time.monotonic() + _SLICE, self.timeline.cursor > self._read + _AHEAD
        while self._read < len(self.facts.steps) and time.monotonic() < until:
            self._read += 1
            self.facts.turn(self._read)
        if self._read >= len(self.facts.steps):
            self._reading.stop()
        if waited and (self.wide or self.shown_tab == "messages"):
            self.show()

    # -- bars ------------------------------------------------------------------------------------------------

    def _head(self) -> Text:
        recording = self.facts.recording
        counted = f"  {many(len(recording.steps), 'step')}, {one_line(recording.status, 20)}"
        name = f"  {one_line(recording.name, max(40, self.app.size.width - 60))}"
        return Text.assemble(
            (" reenact ", "bold reverse"), (f" {recording.id}", "yellow"), (name, "bold"), (counted, "dim")
        )

    def _bars(self) -> None:
        self.query_one("#status", Static).update(self._status(), layout=False)
        departed = self._state.divergence is not None or bool(self._state.at.extra)
        words, shown = [], self.shown_tab
        for number, tab in enumerate(TABS, 1):
            if tab == "messages" and self.wide:
                continue
            style = "b reverse" if tab == shown else "b $warning" if tab == "actual" and departed else "not b"
            word = f"{number} {tab.capitalize()}" if self.wide else tab.capitalize()
            words.append(f"[{style}][@click=app.tab('{tab}')] {word} [/][/]")
        self.query_one("#tabs", Static).update("".join(words), layout=False)

    def _status(self) -> Text:
        text, style = self._said
        if text:
            return Text(f" {one_line(text)}", f"bold {style}")
        state, why = self._state, one_line(self._state.why)
        if state.phase is Phase.RUNNING:
            return Text(" running … Ctrl-C stops it", "bold cyan")
        if state.phase is Phase.READING:
            return Text.assemble((f" reading {state.at}", "bold"), (f"  {why}", "magenta"))
        if state.phase is Phase.STOPPED:
            where = f"before {state.at}" if state.at != START else "at its beginning"
            if state.at.extra and not state.actual.label:
                where = f"after step {state.at.step}, between questions"
            return Text.assemble((f" stopped {where}", "bold green"), (f"  {why}", "magenta"))
        if state.phase is Phase.DEPARTED and (found := state.divergence) is not None:
            # The pane shows the differences, and a hint for the command's options.
            at = f" at step {found.step}" if found.step else ""
            return Text(f" {found.kind.value}{at}, {one_line(found.address)}", "bold red")
        verdict = f"  {brief(state.verdict)}" if state.verdict is not None else ""
        return Text.assemble(
            (f" {why}", "bold" if state.phase is Phase.ENDED else "bold red"), (verdict, _colour(state))
        )


def _telling(state: MachineState) -> str:
    """Return the tab that explains an unusual state, or ""."""
    if state.phase is Phase.DEPARTED:
        return "actual"
    if state.phase is Phase.STOPPED and state.at.extra and not state.actual.label:
        return "stack"
    failed = state.phase is Phase.DIED or (state.phase is Phase.ENDED and bool(state.exit))
    return "output" if failed and state.divergence is None else ""


def _colour(state: MachineState) -> str:
    return "green" if state.verdict is not None and state.verdict.faithful else "yellow"
