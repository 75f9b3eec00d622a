"""The debugger's commands: one table for all interfaces and for help."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from reenact.errors import UsageError


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: Its full name.
        short: Its abbreviations.
        argument: Its argument, for help; `[…]` if optional.
        help: Its effect, in a line.
        order: The machine's command, or empty for one that only shows something.
    """

    name: str
    short: tuple[str, ...]
    argument: str
    help: str
    order: str = ""


COMMANDS = (
    Command("step", ("s",), "", "on to the next question, inside an opened call too", "step"),
    Command("over", ("n", "next"), "", "on to the next question that is not inside this one", "over"),
    Command("into", ("i",), "", "run this call for real, and stop at the first question inside it", "into"),
    Command("out", ("o", "up"), "", "on to the next question outside of the call that this one is in", "out"),
    Command("continue", ("c", "cont"), "", "on to the next breakpoint, departure, or the end", "go"),
    Command("until", ("u", "to"), "STEP", "on, or back, to a step", "run_to"),
    Command("back", ("k", "rs"), "", "back to the question before this one", "back"),
    Command("reverse", ("r", "rc"), "", "back to the breakpoint before this place, or to the first step", "reverse"),
    Command("restart", ("start", "run"), "", "run the program again, to its first question", "start"),
    Command("break", ("b",), "[STEP | FILTER | divergence | state[:NAME]]",
            "stop there; alone, list the breakpoints", "break_at"),
    Command("clear", ("cl",), "[BREAKPOINT]", "take one away, or all of them", "clear"),
    Command("edit", ("e",), "[STEP] [= JSON or TEXT]", "give a step another answer: in $EDITOR, or what stands here"),
    Command("raise", (), "[STEP] ERROR: TEXT", "let a step fail: raise TimeoutError: too slow"),
    Command("undo", (), "[STEP]", "give a step its recorded answer again"),
    Command("pdb", (), "", "Python's own debugger, in the program's frame; `c` leaves it"),
    Command("fork", (), "[STEP]", "the command that goes on live from here"),
    Command("list", ("l",), "[FIRST[-LAST] | FILTER]", "the steps around this one, or those that a filter means"),
    Command("where", ("w",), "", "where the program stands: the step, and its own frames"),
    Command("print", ("p",), "[FIELD]", "arguments and answer, or a part: p args.order_id, p output, p actual"),
    Command("messages", ("m",), "[all]", "what the model saw: what is new in it, or all"),
    Command("state", (), "", "the tracked state"),
    Command("output", (), "", "what the program has written so far"),
    Command("verdict", ("v",), "", "where the program left its recording, recorded against actual"),
    Command("help", ("h", "?"), "[COMMAND]", "this"),
    Command("quit", ("q", "exit"), "", "end the program and leave"),
)  # fmt: skip
"""All of them, in the order in which help shows them."""

_EDIT = re.compile(r"(?:(?P<step>\d+)\s*)?(?:=\s*(?P<text>.*))?", re.DOTALL)
_RAISE = re.compile(r"(?:(?P<step>\d+)\s+)?(?P<text>\S.*)", re.DOTALL)

_BY_WORD = {word: command for command in COMMANDS for word in (command.name, *command.short)}


def command_of(line: str) -> tuple[Command, str]:
    """Return the command of a line, and its arguments. Raises UsageError for an unknown command."""
    word, _, rest = line.strip().partition(" ")
    found = _BY_WORD.get(word)
    if found is None:
        near = get_close_matches(word, [command.name for command in COMMANDS], 1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise UsageError(f"there is no command '{word}'; {hint}`help` lists them")
    return found, rest.strip()


def arguments(command: Command, rest: str) -> tuple[str | int, ...]:
    """Return the arguments of the machine's command. Raises UsageError for invalid ones."""
    if not command.argument:
        if rest:
            raise UsageError(f"`{command.name}` takes nothing behind it, not '{rest}'")
        return ()
    if command.order == "run_to":
        return (step_number(rest, command),)
    return (rest,) if rest else ()


def step_number(text: str, command: Command) -> int:
    """Parse a step's number. Raises UsageError."""
    if not text.isdecimal():
        raise UsageError(f"`{command.name}` wants a step's number, not '{text}'")
    return int(text)


def edit_words(rest: str) -> tuple[int | None, str | None]:
    """Return the step and the answer of an `edit`, if given: `7`, `7 = "no"`, `= "no"`."""
    match = _EDIT.fullmatch(rest)
    if match is None:
        raise UsageError(f"`edit` takes a step's number, `= ANSWER`, both or neither; not '{rest}'")
    return int(match["step"]) if match["step"] else None, match["text"]


def raise_words(rest: str) -> tuple[int | None, str]:
    """The step, if it is there, and the error behind `raise`."""
    match = _RAISE.fullmatch(rest)
    if match is None:
        raise UsageError("`raise` wants an error: raise TimeoutError: too slow")
    return int(match["step"]) if match["step"] else None, match["text"]
