"""`reenact debug --plain`: the debugger as lines, for scripts and for people who like pdb."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress

from rich.console import Console
from rich.text import Text

from reenact.cli import present
from reenact.cli.transcript import Page, heading, tell_message
from reenact.cli.verdict import departure
from reenact.debugger import answer, view
from reenact.debugger.commands import (
    COMMANDS,
    Command,
    arguments,
    command_of,
    edit_words,
    raise_words,
    step_number,
)
from reenact.debugger.machine import Phase
from reenact.driver import Driver
from reenact.editor import answer_in_editor
from reenact.errors import ReenactError, UsageError
from reenact.model.divergence import Mismatch
from reenact.model.facts import RecordingFacts, StepFacts, lookup
from reenact.model.filter import Filter
from reenact.model.plain import plain
from reenact.prose.difference import difference, written
from reenact.prose.values import arguments as as_written
from reenact.prose.values import literal, pretty
from reenact.replay.watch import Edit

PROMPT = "(reenact) "
FOLLOWED, DIVERGED, MISTAKEN = 0, 1, 2

_AROUND = 5
_TICK = 0.05
_RANGE = re.compile(r"(\d+)(?:(-)(\d+)?)?")


class Lines:
    """One session: reads commands, one a line, and writes what they give.

    Args:
        driver: The program, or only its recording.
        facts: The recording.
        typed: A person types: there is a prompt, an empty line repeats the last command, and what fails costs a line.
            In a script lines that begin with `#` are remarks.
    """

    def __init__(self, driver: Driver, facts: RecordingFacts, *, typed: bool) -> None:
        self._driver = driver
        self._facts = facts
        self._typed = typed
        self._page = Page(present.out())
        self._printed = 0
        self._within_line = False
        self._last = ""
        self._mistakes = 0
        self._over = False
        self._shown: dict[str, Callable[[str], None]] = {
            name.removeprefix("_do_"): getattr(self, name) for name in dir(self) if name.startswith("_do_")
        }

    def run(self) -> int:
        """Take commands until there are no more. Returns the exit status: 0; 1 where the program left its recording;
        2 where a command of a script could not be carried out.
        """
        self._carry_out("restart", ())
        for number, line in self._lines():
            with _interruptible():
                try:
                    self._take(line)
                except ReenactError as error:
                    self._mistakes += 1
                    present.say(f"reenact: {error}" if self._typed else f"reenact: line {number}: {error}")
            if self._over:
                break
        if self._typed:
            return FOLLOWED
        if self._mistakes:
            return MISTAKEN
        return DIVERGED if self._driver.machine.state.divergence is not None else FOLLOWED

    def _lines(self) -> Iterator[tuple[int, str]]:
        if not self._typed:
            for number, line in enumerate(sys.stdin, 1):
                if line.strip() and not line.lstrip().startswith("#"):
                    yield number, line.strip()
            return
        with suppress(ImportError):
            import readline  # noqa: F401, PLC0415 - its import gives `input` a history
        while True:
            try:
                line = input(PROMPT).strip() or self._last
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print()
                continue
            self._last = line
            if line:
                yield 0, line

    def _take(self, line: str) -> None:
        command, rest = command_of(line)
        if command.name == "break" and not rest:
            self._breakpoints()
        elif command.order:
            self._carry_out(command.name, arguments(command, rest), command.order)
        else:
            if not command.argument:
                arguments(command, rest)
            self._shown[command.name](rest)

    # -- the program -----------------------------------------------------------------------------------------

    def _carry_out(self, name: str, args: tuple[object, ...], order: str = "start") -> None:
        """An order of the user's, to its end."""
        before = self._driver.machine.state
        if name == "restart":
            self._printed = 0
        self._driver.tell(order, *args)
        self._until_it_stands()
        after = self._driver.machine.state
        if name in ("break", "clear"):
            self._breakpoints()
        elif after is not before:
            self._stand()

    def _until_it_stands(self) -> None:
        while True:
            try:
                over = self._driver.wait(_TICK)
                self._write_on()
            except KeyboardInterrupt:
                self._driver.tell("interrupt")
                continue
            if over:
                break
        # Back: what is behind this place has not been written yet.
        self._printed = min(self._printed, len(self._driver.output))
        if self._driver.wants_shell and self._typed:
            self._do_pdb("")

    def _write_on(self) -> None:
        written_so_far = self._driver.output
        if len(written_so_far) > self._printed:
            sys.stdout.write(written_so_far[self._printed :])
            sys.stdout.flush()
            self._printed = len(written_so_far)
            self._within_line = not written_so_far.endswith("\n")

    def _stand(self) -> None:
        """Where the program stands now, and why."""
        if self._within_line:
            print()
            self._within_line = False
        state, line = self._driver.machine.state, self._page.line
        if state.phase is Phase.DEPARTED and state.divergence is not None:
            self._do_verdict("")
        elif state.phase in (Phase.ENDED, Phase.DIED):
            line(Text(present.one_line(state.why), "bold"))
            if state.verdict is not None:
                line(Text(present.one_line(str(state.verdict))), 0, 5)
        elif state.at.extra and not state.actual.label:
            line(Text.assemble((f"after step {state.at.step}, between questions", "bold"), _why(state.why)))
        elif state.at.extra:
            line(
                Text.assemble(
                    (f"  +{state.at.extra}", "bold yellow"), f"  {state.actual.label}", _why(state.why)
                )
            )
            self._page.block("asked", as_written(dict(state.actual.args)), 5)
        elif (step := self._at()) is not None:
            line(heading(step, step.turn) + _why(state.why), 0, 5)
            if step.turn is None and step.args:
                self._page.block("asked", as_written(step.args), 5)
        else:
            line(Text(state.why or "the program's beginning", "bold"))

    def _at(self) -> StepFacts | None:
        number = self._driver.machine.state.at.step
        return self._facts.steps[number - 1] if number else None

    def _here(self) -> StepFacts:
        step = self._at()
        if step is None:
            raise UsageError("the program is at its beginning: `step` goes to the first step")
        return step

    def _step(self, text: str | None, command: str) -> int:
        """The step that is meant: the one named, or the one where the program stands."""
        if not text:
            return self._here().step.number
        return step_number(text, command_of(command)[0])

    # -- changing answers ------------------------------------------------------------------------------------

    def _do_edit(self, rest: str) -> None:
        named, text = edit_words(rest)
        number = named or self._here().step.number
        machine = self._driver.machine
        machine.editable(number)
        before = machine.state.edits.get(number) or answer.recorded(self._facts.steps[number - 1].step)
        if text is not None:
            self._edit(number, answer.giving(text, before))
            return
        found = answer_in_editor(answer.draft(before), f"step-{number}", ask=self._typed)
        if found is None:
            print(f"step {number}: not changed")
        else:
            self._edit(number, found)

    def _do_raise(self, rest: str) -> None:
        named, text = raise_words(rest)
        number = named or self._here().step.number
        self._driver.machine.editable(number)
        self._edit(number, answer.raising(text))

    def _do_undo(self, rest: str) -> None:
        number = self._step(rest, "undo")
        if number not in self._driver.machine.state.edits:
            raise UsageError(f"the answer of step {number} has not been edited")
        self._edit(number, None)

    def _edit(self, number: int, edit: Edit | None) -> None:
        before = self._driver.machine.state.at
        self._driver.tell("edit", number, edit)
        self._until_it_stands()
        print(f"step {number}: {'its recorded answer again' if edit is None else 'its answer is edited'}")
        if self._driver.machine.state.at != before:
            self._stand()

    # -- looking ---------------------------------------------------------------------------------------------

    def _breakpoints(self) -> None:
        machine = self._driver.machine
        stops = present.numbers(tuple(sorted(machine.stops())))
        for point in machine.state.breakpoints:
            print(f"break {present.one_line(point.text)}")
        print(
            f"at step {stops}"
            if stops
            else "no step is meant"
            if machine.state.breakpoints
            else "no breakpoints"
        )

    def _do_list(self, rest: str) -> None:
        steps, here = self._facts.steps, self._driver.machine.state.at.step
        chosen: list[StepFacts]
        if (match := _RANGE.fullmatch(rest)) is not None:
            first = int(match[1])
            chosen = steps[first - 1 : int(match[3] or (len(steps) if match[2] else first))] if first else []
            if not chosen:
                raise UsageError(f"there is no step {rest}: they go from 1 to {len(steps)}")
        elif rest:
            wanted = Filter(rest)
            chosen = [step for step in steps if wanted.matches(step)]
            if not chosen:
                print("no step is meant")
        else:
            start = max(here - 1 - _AROUND, 0)
            chosen = steps[start : start + 2 * _AROUND + 1]
        state, stops, deep = (
            self._driver.machine.state,
            self._driver.machine.stops(),
            view.depths(self._facts),
        )
        for step in chosen:
            number = step.step.number
            mark = Text(">" if number == here else " ", "bold green")
            mark.append("*" if number in stops else " ", "bold red").append(
                "e" if number in state.edits else " ", "yellow"
            )
            self._page.line(Text(" " * 2 * min(deep[number - 1], 8)) + heading(step, step.turn), 0, 5, mark)

    def _do_where(self, rest: str) -> None:
        self._stand()
        step, state = self._at(), self._driver.machine.state
        if step is not None:
            self._page.block("address", state.actual.address or step.call.address, 5)
        for frame in state.actual.stack:
            self._page.line(Text(present.one_line(frame)), 5, 2)

    def _do_print(self, rest: str) -> None:
        state = self._driver.machine.state
        root, _, path = rest.partition(".")
        if root == "actual":
            if not state.actual.label:
                raise UsageError("the program stands at no question: there is nothing actual")
            self._value(rest, lookup(dict(state.actual.args), path) if path else dict(state.actual.args))
            return
        step = self._here()
        if rest:
            self._value(rest, step.get(rest))
            return
        for name, value in step.args.items():
            self._page.block(
                "args", f"{name} = {literal(value) if isinstance(value, str) else pretty(value)}", 0
            )
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
            self._compared(view.compared(step.step, state.actual))

    def _value(self, name: str, value: object) -> None:
        if value is None:
            there = ", ".join([*(f"args.{name}" for name in self._here().args), "output", "error", "actual"])
            raise UsageError(f"there is no {name} here (or it is null); try one of {there}")
        self._page.full = True
        self._page.line(Text(present.visible(pretty(value))))
        self._page.full = False

    def _compared(self, differing: list[Mismatch]) -> None:
        for mismatch in differing:
            old, new = difference(written(mismatch.recorded), written(mismatch.actual))
            self._page.line(Text(f"differs   {mismatch.path}", "yellow"))
            self._page.line(Text("recorded  ", "dim") + old, 2, 10)
            self._page.line(Text("actual    ", "dim") + new, 2, 10)

    def _do_messages(self, rest: str) -> None:
        if rest not in ("", "all"):
            raise UsageError(f"`messages` shows what is new, `messages all` all of them; not '{rest}'")
        number = view.seen(self._facts, self._here().step.number)
        turn = self._facts.turn(number) if number is not None else None
        if number is None or turn is None:
            raise UsageError("no model has been asked up to here")
        if number != self._here().step.number:
            print(f"as of step {number}, the model call before this step")
        if turn.dropped:
            print(
                f"the history was rewritten: {present.many(turn.dropped, 'earlier message')} left out or changed"
            )
        known = len(turn.call.messages) - len(turn.new)
        if rest:
            for message in turn.call.messages[:known]:
                tell_message(self._page, message, 0)
        elif known:
            print(f"{present.many(known, 'message')} known already")
        for message in turn.new:
            tell_message(self._page, message, 0)

    def _do_state(self, rest: str) -> None:
        state = self._driver.machine.state.actual.state
        for name, tree in state.items():
            self._page.block(name, pretty(plain(tree)), 0)
        if not state:
            print("no state is tracked here")

    def _do_output(self, rest: str) -> None:
        sys.stdout.write(self._driver.output)

    def _do_verdict(self, rest: str) -> None:
        state = self._driver.machine.state
        if state.divergence is None:
            print(
                present.one_line(str(state.verdict))
                if state.verdict is not None
                else "it follows its recording so far"
            )
            return
        console = Console(width=None if sys.stdout.isatty() else present.WIDE, highlight=False)
        for part in departure(state.divergence):
            with console.capture() as capture:
                console.print(part)
            sys.stdout.write("\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n")

    # -- the rest --------------------------------------------------------------------------------------------

    def _do_pdb(self, rest: str) -> None:
        if not sys.stdin.isatty():
            raise UsageError("pdb needs a terminal: standard input is none")
        self._driver.shell(os.ttyname(sys.stdin.fileno()))

    def _do_fork(self, rest: str) -> None:
        number = self._step(rest, "fork")
        print(shlex.join(["reenact", "fork", self._facts.recording.id, "--at", str(number)]))

    def _do_help(self, rest: str) -> None:
        meant: tuple[Command, ...] = (command_of(rest)[0],) if rest else COMMANDS
        for command in meant:
            words = f"{', '.join((command.name, *command.short))} {command.argument}".strip()
            self._page.line(Text(f"{words:<34}  ", "bold") + Text(command.help), 0, 36)
        if not rest:
            print("FILTER is the language of docs/filters.md: tool:cancel_order and error, tokens > 4000 …")

    def _do_quit(self, rest: str) -> None:
        self._over = True


class _interruptible:  # noqa: N801 - used as a word
    """Ctrl-C ends what a command is showing, not the session."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is KeyboardInterrupt:
            print()
            return True
        return False


def _why(why: str) -> Text:
    return Text(f"  ({present.one_line(why)})" if why else "", "bold magenta")
