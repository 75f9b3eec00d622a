"""The debugger's commands: one table for all interfaces and for help."""

from __future__ import annotations

import re
from difflib import get_close_matches

from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy
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
    Command("step", ("s",), "", "step to the next question, also inside an opened call", "step"),
    Command("over", ("n", "next"), "", "step over this call to the next question", "over"),
    Command("into", ("i",), "", "run this call for real, and stop at the first question in it", "into"),
    Command("out", ("o", "up"), "", "step out of the enclosing call", "out"),
    Command("continue", ("c", "cont"), "", "continue to the next breakpoint, divergence or the end", "go"),
    Command("until", ("u", "to"), "STEP", "run, or go back, to a step", "run_to"),
    Command("back", ("k", "rs"), "", "step back to the previous question", "back"),
    Command("reverse", ("r", "rc"), "", "reverse to the previous breakpoint, or to the first step", "reverse"),
    Command("restart", ("start", "run"), "", "run the program again, to its first question", "start"),
    Command("break", ("b",), "[STEP | FILTER | divergence | state[:NAME]]",
            "set a breakpoint; without an argument list them", "break_at"),
    Command("clear", ("cl",), "[BREAKPOINT]", "remove a breakpoint, or all", "clear"),
    Command("edit", ("e",), "[STEP] [= JSON or TEXT]", "edit the answer of a step, in $EDITOR or here"),
    Command("raise", (), "[STEP] ERROR: TEXT", "let a step fail: raise TimeoutError: too slow"),
    Command("undo", (), "[STEP]", "restore the recorded answer of a step"),
    Command("pdb", (), "", "Python's own debugger, in the program's frame; `c` leaves it"),
    Command("fork", (), "[STEP]", "print the command that forks from here"),
    Command("list", ("l",), "[FIRST[-LAST] | FILTER]", "list steps around this one, or those that match a filter"),
    Command("where", ("w",), "", "show the current step and the program's frames"),
    Command("print", ("p",), "[FIELD]", "arguments and answer, or a part: p args.order_id, p output, p actual"),
    Command("messages", ("m",), "[all]", "show the model's messages: new ones, or all"),
    Command("state", (), "", "the tracked state"),
    Command("output", (), "", "show the program's output so far"),
    Command("verdict", ("v",), "", "show the divergence, recorded against actual"),
    Command("help", ("h", "?"), "[COMMAND]", "this"),
    Command("quit", ("q", "exit"), "", "end the program and leave"),
)  # fmt: skip
"""All of them, in the order in which help shows them."""

_EDIT = lazy(r"(?:(?P<step>\d+)\s*)?(?:=\s*(?P<text>.*))?", re.DOTALL)
_RAISE = lazy(r"(?:(?P<step>\d+)\s+)?(?P<text>\S.*)", re.DOTALL)

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
            raise UsageError(f"`{command.name}` takes no argument, not '{rest}'")
        return ()
    if command.order == "run_to":
        return (step_number(rest, command),)
    return (rest,) if rest else ()


def step_number(text: str, command: Command) -> int:
    """Parse a step's number. Raises UsageError."""
    if not text.isdecimal():
        raise UsageError(f"`{command.name}` needs a step's number, not '{text}'")
    return int(text)


def edit_words(rest: str) -> tuple[int | None, str | None]:
    """Return the step and the answer of an `edit`, if given: `7`, `7 = "no"`, `= "no"`."""
    match = _EDIT.fullmatch(rest)
    if match is None:
        raise UsageError(f"`edit` takes a step's number, `= ANSWER`, both or neither; not '{rest}'")
    return int(match["step"]) if match["step"] else None, match["text"]


def raise_words(rest: str) -> tuple[int | None, str]:
    """Return the step of a `raise`, if given, and its error."""
    match = _RAISE.fullmatch(rest)
    if match is None:
        raise UsageError("`raise` needs an error: raise TimeoutError: too slow")
    return int(match["step"]) if match["step"] else None, match["text"]
