"""`reenact debug --plain`: the debugger line by line, for scripts and for users of pdb."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress

from reenact.cli.looking import Looking
from reenact.cli.printing import say
from reenact.core import system
from reenact.core.query.facts import RecordingFacts
from reenact.core.replay.watch import Edit
from reenact.errors import ReenactError, UsageError
from reenact.run.debugger import answer
from reenact.run.debugger.amending import amended, answer_of, step_meant
from reenact.run.debugger.commands import arguments, command_of, edit_words
from reenact.run.debugger.editor import answer_in_editor
from reenact.run.driver import Driver

PROMPT = "(reenact) "
FOLLOWED, DIVERGED, MISTAKEN = 0, 1, 2

_TICK = 0.05


class PlainSession:
    """One session: reads commands, one on each line, and writes their results.

    Args:
        driver: The debugger of the program, or only of its recording.
        facts: The recording.
        typed: True if a person types: then there is a prompt, an empty line repeats the last command, and an error does
            not end the session. In a script, lines that begin with `#` are comments.
    """

    def __init__(self, driver: Driver, facts: RecordingFacts, *, typed: bool) -> None:
        self._driver = driver
        self._facts = facts
        self._typed = typed
        self._looking = Looking(driver, facts)
        self._printed = 0
        self._within_line = False
        self._last = ""
        self._mistakes = 0
        self._over = False
        self._commands = self._looking.commands | {
            "edit": self._do_edit, "raise": self._do_raise, "undo": self._do_undo, "pdb": self._do_pdb,
            "fork": self._do_fork, "quit": self._do_quit,
        }  # fmt: skip

    def run(self) -> int:
        """Run commands until the input ends; return the exit status.

        It is 0, or 1 if the program diverged, or 2 if a command of a script failed.
        """
        self._carry_out("restart", ())
        for number, line in self._lines():
            try:
                self._take(line)
            except ReenactError as error:
                self._mistakes += 1
                say(f"reenact: {error}" if self._typed else f"reenact: line {number}: {error}")
            except KeyboardInterrupt:
                # Ctrl-C ends the output of a command, not the session.
                print()
            if self._over:
                break
        if self._typed:
            return FOLLOWED
        if self._mistakes:
            return MISTAKEN
        state = self._driver.machine.state
        left = state.divergence is not None or (state.verdict is not None and bool(state.verdict.divergences))
        return DIVERGED if left else FOLLOWED

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
            self._looking.breakpoints()
        elif command.order:
            self._carry_out(command.name, arguments(command, rest), command.order)
        else:
            arguments(command, rest)
            self._commands[command.name](rest)

    # -- the program -----------------------------------------------------------------------------------------

    def _carry_out(self, name: str, args: tuple[object, ...], order: str = "start") -> None:
        """Give an order, and wait until the program stops."""
        before = self._driver.machine.state
        if name == "restart":
            self._printed = 0
        self._driver.tell(order, *args)
        self._until_it_stands()
        if name in ("break", "clear"):
            self._looking.breakpoints()
        elif self._driver.machine.state is not before:
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
        # After a step back, later output has not been written yet.
        self._printed = min(self._printed, len(self._driver.output))
        if self._driver.wants_shell and self._typed:
            self._do_pdb("")

    def _write_on(self) -> None:
        so_far = self._driver.output
        if len(so_far) > self._printed:
            sys.stdout.write(so_far[self._printed :])
            sys.stdout.flush()
            self._printed = len(so_far)
            self._within_line = not so_far.endswith("\n")

    def _stand(self) -> None:
        if self._within_line:
            print()
            self._within_line = False
        self._looking.stand()

    # -- changing answers ------------------------------------------------------------------------------------

    def _do_edit(self, rest: str) -> None:
        number = step_meant("edit", rest, self._here())
        if edit_words(rest)[1] is not None:
            self._amend("edit", rest)
            return
        machine = self._driver.machine
        machine.editable(number)
        draft = answer.draft(answer_of(machine, self._facts, number))
        found = answer_in_editor(draft, f"step-{number}", ask=self._typed)
        if found is None:
            print(f"step {number}: not changed")
        else:
            self._edit(number, found)

    def _do_raise(self, rest: str) -> None:
        self._amend("raise", rest)

    def _do_undo(self, rest: str) -> None:
        self._amend("undo", rest)

    def _amend(self, word: str, rest: str) -> None:
        here = self._here()
        edit = amended(self._driver.machine, self._facts, word, rest, here)
        self._edit(step_meant(word, rest, here), edit)

    def _here(self) -> int:
        """Return the step where the program is stopped, or 0 before the first."""
        return self._driver.machine.state.at.step

    def _edit(self, number: int, edit: Edit | None) -> None:
        before = self._driver.machine.state.at
        self._driver.tell("edit", number, edit)
        self._until_it_stands()
        print(f"step {number}: {'its recorded answer again' if edit is None else 'its answer is edited'}")
        if self._driver.machine.state.at != before:
            self._stand()

    # -- the rest --------------------------------------------------------------------------------------------

    def _do_pdb(self, rest: str) -> None:
        if not sys.stdin.isatty():
            raise UsageError("pdb needs a terminal: standard input is none")
        self._driver.shell(system.terminal_of(sys.stdin.fileno()))

    def _do_fork(self, rest: str) -> None:
        number = edit_words(rest)[0] or self._looking.here().step.number
        edit = self._driver.machine.state.edits.get(number)
        print(shlex.join(answer.forking(self._facts.recording.id, number, edit)))

    def _do_quit(self, rest: str) -> None:
        self._over = True
