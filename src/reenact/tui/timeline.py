"""The steps of the run, one on each line, of which only the visible ones are drawn."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from reenact.analysis.views.text import count, one_line, seconds
from reenact.core.model.plain import compact
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.run.debugger import debugger_views
from reenact.run.debugger.machine import MachineState, Phase
from reenact.tui.cursor import CursorList

_ROOMY = 44
_COLOURS = {"model": "cyan", "tool": "green", "http": "blue", "process": "magenta"}
_MARKS = {"error": ("✗", "bold red"), "cancelled": ("⊘", "yellow"), "in flight": ("…", "bold red")}


class Timeline(CursorList):
    """All steps. The panes show the step under the cursor; an arrow is the program's position."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.turn(-1)", show=False),
        Binding("right", "app.turn(1)", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"timeline--cursor"}

    class Moved(Message):
        """The cursor has moved to another step."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Chosen(Message):
        """The user lets the program run to a step."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, facts: RecordingFacts, state: MachineState, **options: Any) -> None:
        super().__init__(**options)
        self.cursor = max(state.at.step, 1)
        self._facts = facts
        self._state = state
        self._stops: frozenset[int] = frozenset()
        self._reached: frozenset[int] = frozenset()
        self._depths = debugger_views.depths(facts)
        self._holding = debugger_views.holding(facts)
        self._hints: dict[int, str] = {}
        self._style = (Style(), Style())
        self._drawn: dict[tuple[int, int, bool], Strip] = {}
        self._digits = max(len(str(len(facts.steps))), 2)

    def update(self, state: MachineState, stops: frozenset[int], *, follow: bool) -> None:
        """Show a new state. `follow` moves the cursor to the program's position."""
        if state.passed is not self._state.passed:
            self._reached = frozenset(place.step for place in state.passed)
        self._state, self._stops = state, stops
        self._drawn.clear()
        self.virtual_size = Size(self.size.width, len(self._facts.steps) + self._extra())
        if follow:
            self.go_to(max(state.at.step, 1))
        self.refresh()

    def go_to(self, step: int) -> None:
        """Move the cursor to a step."""
        last = len(self._facts.steps)
        step = min(max(step, 1), last)
        if step != self.cursor:
            self.cursor = step
            self.post_message(self.Moved(step))
        self._into_view(self._row(step))
        self.refresh()

    def _into_view(self, row: int) -> None:
        # Show one more line on each side. The extra question is one line below its step.
        self.scroll_to_region(
            Region(0, row - 1, 1, 3 + self._extra()), animate=False, force=True, immediate=True, x_axis=False
        )

    def on_mount(self) -> None:
        """Set the size of the list."""
        self.virtual_size = Size(self.size.width, len(self._facts.steps))

    # -- keys ------------------------------------------------------------------------------------------------

    def ends(self) -> tuple[int, int]:
        """Return the first and the last step."""
        return 1, len(self._facts.steps)

    def number_at(self, line: int) -> int | None:
        """Return the step at a line."""
        return self._step(line)

    def action_choose(self) -> None:
        """Let the program run to the step under the cursor."""
        self.post_message(self.Chosen(self.cursor))

    # -- rows ------------------------------------------------------------------------------------------------

    def _extra(self) -> int:
        """Return 1 if there is a row for a question that the recording does not have, else 0."""
        return 1 if self._state.at.extra else 0

    def _row(self, step: int) -> int:
        return step - 1 + (1 if self._extra() and step > self._state.at.step else 0)

    def _step(self, row: int) -> int | None:
        if self._extra() and row >= self._state.at.step:
            row -= 1
        return row + 1 if 0 <= row < len(self._facts.steps) else None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines of the screen."""
        style = self.rich_style, self.get_component_rich_style("timeline--cursor")
        if style != self._style:
            self._style = style
            self._drawn.clear()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        row, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        plain, cursor = self._style
        if row >= len(self._facts.steps) + self._extra():
            return Strip.blank(width, plain)
        if self._extra() and row == self._state.at.step:
            return self._strip(self._unrecorded(), width, plain)
        step = self._step(row) or 1
        key = (step, width, step == self.cursor)
        drawn = self._drawn.get(key)
        if drawn is None:
            style = plain + cursor if step == self.cursor else plain
            drawn = self._drawn[key] = self._strip(self._recorded(step, width), width, style)
        return drawn

    def _strip(self, text: Text, width: int, style: Style) -> Strip:
        return Strip(text.render(self.app.console)).crop_extend(0, width, style).apply_style(style)

    def _unrecorded(self) -> Text:
        text = (
            Text()
            .append("▶ ", "bold green")
            .append(f"{'+' + str(self._state.at.extra):>{self._digits + 1}} ", "yellow")
        )
        label = one_line(self._state.actual.label)
        if not label:
            return text.append("  between questions", "dim")
        return text.append(f"  {label} ", "bold").append("not recorded", "red")

    def _recorded(self, number: int, width: int) -> Text:
        step, state = self._facts.steps[number - 1], self._state
        here = number == state.at.step and not state.at.extra
        colour = {Phase.DEPARTED: "bold red", Phase.ENDED: "dim", Phase.DIED: "bold red"}.get(
            state.phase, "bold green"
        )
        text = Text().append("▶" if here else " ", colour)
        text.append("●" if number in self._stops else " ", "bold red")
        text.append(f"{number:>{self._digits}} ", "bold" if here else "dim")
        mark, mark_style = _MARKS.get(step.call.status, (" ", ""))
        if number in state.edits:
            mark, mark_style = "✎", "bold yellow"
        text.append(mark, mark_style)
        text.append("  " * min(self._depths[number - 1], 6))
        text.append(("▾" if number in state.opened else "▸") if number in self._holding else " ", "dim")
        figures = self._figures(step, width)
        room = max(width - text.cell_len - cell_len(figures), 1)
        behind = not here and number not in self._reached and state.phase is not Phase.READING
        label = self._label(step, room, dim=behind)
        text.append(label)
        return text.append(figures, "dim")

    def _label(self, step: StepFacts, room: int, *, dim: bool) -> Text:
        label = one_line(step.call.label)
        colour = _COLOURS.get(step.call.kind, "")
        text = Text().append(label, f"dim {colour}" if dim else colour)
        if cell_len(label) < room - 4:
            text.append(" " + self._hint(step), "dim")
        if text.cell_len >= room:
            text.truncate(room - 1, overflow="ellipsis")
        text.append(" " * (room - text.cell_len))
        return text

    def _hint(self, step: StepFacts) -> str:
        """Return a short description: a model's tool calls or text, or a tool's arguments."""
        number = step.step.number
        if number not in self._hints:
            call = step.model_call
            if call is not None and call.answer is not None:
                calls = ", ".join(asked.name for asked in call.answer.calls)
                hint = f"→ {calls}" if calls else f"“{call.answer.text[:120]}”" if call.answer.text else ""
            elif call is not None or step.call.kind == "http":
                hint = ""
            else:
                hint = ", ".join(compact(value)[:80] for value in step.args.values())
            self._hints[number] = one_line(hint, 120)
        return self._hints[number]

    def _figures(self, step: StepFacts, width: int) -> str:
        if width < _ROOMY:
            return ""
        tokens = step.get("tokens")
        took = seconds(step.call.duration) if step.call.duration else ""
        return set_cell_size(f"{count(tokens) if tokens else '':>7} {took:>8} ", 17)
