"""Input at the screen's prompt: commands of the line mode, and searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reenact.core.query.filter import Filter
from reenact.errors import UsageError
from reenact.run.debugger.amending import amended, step_meant
from reenact.run.debugger.commands import arguments, command_of, edit_words

if TYPE_CHECKING:
    from reenact.tui.app import Debugger

_PANES = {
    "print": "call", "messages": "messages", "state": "state", "output": "output", "where": "stack",
    "verdict": "actual",
}  # fmt: skip


def look_for(app: Debugger, text: str) -> None:
    """Move the cursor to a step by its number, or to the next match of a filter.

    Raises FilterError or UsageError.
    """
    last = len(app.board.facts.steps)
    if not text.isdecimal():
        app.looked_for = Filter(text)
        app.action_find(1)
    elif 1 <= int(text) <= last:
        app.board.timeline.go_to(int(text))
    else:
        raise UsageError(f"there is no step {text}: they go from 1 to {last}")


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
