"""The views of the line mode: the program's position, and the recorded data there."""

from __future__ import annotations

import sys

from rich.text import Text

from reenact.analysis.views.difference import recorded_and_actual
from reenact.analysis.views.terminal import Terminal
from reenact.analysis.views.text import WIDE, many, numbers, one_line, visible
from reenact.analysis.views.values import pretty
from reenact.analysis.views.verdict import brief
from reenact.cli import present
from reenact.cli.shown_state import tell_state
from reenact.cli.transcript import TextPage, heading, tell_message
from reenact.cli.verdict import divergence_parts
from reenact.core.messages.spelling import arguments, literal
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts, StepFacts, lookup
from reenact.core.query.filter import Filter
from reenact.errors import Mismatch, UsageError
from reenact.run.debugger import answer, debugger_views
from reenact.run.debugger.commands import COMMANDS, command_of
from reenact.run.debugger.machine import MachineState, Phase
from reenact.run.driver import Driver
from reenact.verbs.show import RANGE

_AROUND = 5


class Looking:
    """Shows data, and changes nothing. Each command takes the rest of its line.

    Args:
        driver: The session.
        facts: The recording.
    """

    def __init__(self, driver: Driver, facts: RecordingFacts) -> None:
        self._driver = driver
        self._facts = facts
        self._page = TextPage(present.out())
        self.commands = {
            "list": self.steps, "where": self.where, "print": self.values, "messages": self.messages,
            "state": self.state, "output": self.output, "verdict": self.verdict, "help": self.help,
        }  # fmt: skip

    @property
    def _state(self) -> MachineState:
        return self._driver.machine.state

    def here(self) -> StepFacts:
        """Return the step where the program is stopped. Raises UsageError before the first."""
        if not self._state.at.step:
            raise UsageError("the program is at its beginning: `step` goes to the first step")
        return self._facts.steps[self._state.at.step - 1]

    def stand(self) -> None:
        """Show the position of the program, and the reason of its stop."""
        state, line = self._state, self._page.line
        if state.phase is Phase.DEPARTED and state.divergence is not None:
            self.verdict("")
        elif state.phase in (Phase.ENDED, Phase.DIED):
            line(Text(one_line(state.why), "bold"))
            if state.verdict is not None:
                line(Text(brief(state.verdict)), 0, 5)
        elif state.at.extra and not state.actual.label:
            where = (f"after step {state.at.step}, between questions", "bold")
            line(Text.assemble(where, _why(state)))
        elif state.at.extra:
            label = f"  {one_line(state.actual.label)}"
            line(Text.assemble((f"  +{state.at.extra}", "bold yellow"), label, _why(state)))
            self._page.block("asked", arguments(state.actual.args), 5)
        elif state.at.step:
            step = self.here()
            line(heading(step) + _why(state), 0, 5)
            if step.turn is None and step.args:
                self._page.block("asked", arguments(step.args), 5)
        else:
            line(Text(state.why or "the program's beginning", "bold"))

    def breakpoints(self) -> None:
        """Show all breakpoints, and the steps that they match."""
        points, stops = self._state.breakpoints, tuple(sorted(self._driver.machine.stops()))
        for point in points:
            print(f"break {one_line(point.text)}")
        if not points:
            print("no breakpoints")
        elif stops:
            print(f"at step {numbers(stops)}")
        elif any(point.filter is not None for point in points):
            print("no recorded step matches")

    # -- commands --------------------------------------------------------------------------------------------

    def steps(self, rest: str) -> None:
        """Show steps, one on each line."""
        state, deep = self._state, debugger_views.depths(self._facts)
        stops = self._driver.machine.stops()
        chosen = self._chosen(rest)
        for step in chosen:
            number = step.step.number
            mark = Text.assemble(
                (">" if number == state.at.step else " ", "bold green"),
                ("*" if number in stops else " ", "bold red"),
                ("e" if number in state.edits else " ", "yellow"),
            )
            indent = Text("  " * min(deep[number - 1], 8))
            self._page.line(indent + heading(step), 0, 5, mark)
        if not chosen:
            print("no step matches")

    def _chosen(self, rest: str) -> list[StepFacts]:
        steps = self._facts.steps
        if not rest:
            start = max(self._state.at.step - 1 - _AROUND, 0)
            return steps[start : start + 2 * _AROUND + 1]
        match = RANGE.fullmatch(rest)
        if match is None:
            wanted = Filter(rest)
            return [step for step in steps if wanted.matches(step)]
        first = int(match[1])
        last = int(match[3]) if match[3] else len(steps) if match[2] else first
        if not 1 <= first <= min(last, len(steps)):
            raise UsageError(f"there is no step {rest}: they go from 1 to {len(steps)}")
        return steps[first - 1 : last]

    def where(self, rest: str) -> None:
        """Show the position, and the program's frames."""
        self.stand()
        state = self._state
        address = state.actual.address or (self.here().call.address if state.at.step else "")
        if address and not (state.at.extra and not state.actual.label):
            self._page.block("address", address, 5)
        for frame in state.actual.stack:
            self._page.line(Text(one_line(frame)), 5, 2)

    def values(self, rest: str) -> None:
        """Show arguments and answer, or one part."""
        state = self._state
        root, _, path = rest.partition(".")
        if root == "actual":
            if not state.actual.label:
                raise UsageError("the program is not stopped at a question: there are no actual values")
            args = dict(state.actual.args)
            self._value(rest, lookup(args, path) if path else args)
            return
        step = self.here()
        if rest:
            self._value(rest, step.get(rest))
            return
        for name, value in step.args.items():
            text = literal(value) if isinstance(value, str) else pretty(value)
            self._page.block("args", f"{name} = {text}", 0)
        edit = state.edits.get(step.step.number)
        if edit is not None:
            self._page.block("edited", answer.draft(edit).text, 0)
        if step.error:
            self._page.block("raised", step.error, 0, "red")
        elif step.call.outcome is not None:
            self._page.block("gave", pretty(step.output), 0)
        else:
            self._page.line(Text("no answer was recorded", "dim"))
        if state.phase in (Phase.STOPPED, Phase.DEPARTED) and not state.at.extra:
            self._compared(debugger_views.compared(step.step, state.actual))

    def _value(self, name: str, value: object) -> None:
        if value is None:
            there = ", ".join([*(f"args.{name}" for name in self.here().args), "output", "error", "actual"])
            raise UsageError(f"there is no {name} here (or it is null); try one of {there}")
        self._page.full = True
        self._page.line(Text(visible(pretty(value))))
        self._page.full = False

    def _compared(self, differing: list[Mismatch]) -> None:
        for mismatch in differing:
            old, new = recorded_and_actual(mismatch)
            self._page.line(Text(f"differs   {mismatch.path}", "yellow"))
            self._page.line(Text.assemble(("recorded  ", "dim"), old), 2, 10)
            self._page.line(Text.assemble(("actual    ", "dim"), new), 2, 10)

    def messages(self, rest: str) -> None:
        """Show the messages to the model."""
        if rest not in ("", "all"):
            raise UsageError(f"`messages` shows what is new, `messages all` all of them; not '{rest}'")
        here = self.here().step.number
        number = debugger_views.seen(self._facts, here)
        turn = self._facts.turn(number) if number is not None else None
        if number is None or turn is None:
            raise UsageError("no model call up to here")
        if number != here:
            print(f"as of step {number}, the model call before this step")
        if turn.dropped:
            gone = many(turn.dropped, "earlier message")
            print(f"the history was rewritten: {gone} left out or changed")
        known = len(turn.call.messages) - len(turn.new)
        if rest:
            for message in turn.call.messages[:known]:
                tell_message(self._page, message, 0)
        elif known:
            print(f"{many(known, 'message')} known already")
        for message in turn.new:
            tell_message(self._page, message, 0)

    def state(self, rest: str) -> None:
        """Show the tracked state."""
        now = self._state.actual.state
        for name, tree in now.items():
            self._page.block(one_line(name), pretty(plain(tree)), 0)
        if not now:
            recording = self._facts.recording
            tell_state(self._page, recording, recording.state(self.here().step.number))

    def output(self, rest: str) -> None:
        """Show the program's output."""
        sys.stdout.write(self._driver.output)

    def verdict(self, rest: str) -> None:
        """Show the point where the program left its recording."""
        state = self._state
        if state.divergence is None:
            print(brief(state.verdict) if state.verdict is not None else "it follows its recording so far")
            return
        console = Terminal(width=None if sys.stdout.isatty() else WIDE, highlight=False)
        for part in divergence_parts(state.divergence):
            with console.capture() as capture:
                console.print(part)
            sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))

    def help(self, rest: str) -> None:
        """Show the commands."""
        for command in (command_of(rest)[0],) if rest else COMMANDS:
            words = f"{', '.join((command.name, *command.short))} {command.argument}".strip()
            self._page.line(Text.assemble((f"{words:<34}  ", "bold"), command.help), 0, 36)
        if not rest:
            print("FILTER is the language of docs/filters.md: tool:cancel_order and error, tokens > 4000 …")


def _why(state: MachineState) -> Text:
    return Text(f"  ({one_line(state.why)})" if state.why else "", "bold magenta")
