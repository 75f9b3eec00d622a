"""The keys of the terminal debugger: one table for bindings, the bottom bar and help."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class KeyAction:
    """One action.

    Attributes:
        keys: Textual's names of the keys; the first one is shown.
        action: The action's name in Textual.
        shown: The keys in the help.
        help: Its description, in a line.
        word: One word for the bar at the bottom; empty for none.
    """

    keys: str
    action: str
    shown: str
    help: str
    word: str = ""


KEYS = (
    KeyAction("s", "order('step')", "s", "step to the next question, also inside an opened call", "step"),
    KeyAction("n,f10", "order('over')", "n  F10", "step over this call to the next question", "over"),
    KeyAction("i,f11", "into", "i  F11", "run this call for real, and stop at the first question in it", "into"),
    KeyAction("o,shift+f11", "order('out')", "o", "step out of the enclosing call", "out"),
    KeyAction("c,f5", "order('go')", "c  F5", "continue to the next breakpoint, divergence or the end", "cont"),
    KeyAction("u", "until", "u  Enter", "run, or go back, to the selected step"),
    KeyAction("p,backspace", "order('back')", "p", "step back to the previous question", "back"),
    KeyAction("r,shift+f5", "order('reverse')", "r", "reverse to the previous breakpoint", "rev"),
    KeyAction("R", "order('start')", "R", "run the program again, to its first question"),
    KeyAction("ctrl+c", "interrupt", "Ctrl-C", "interrupt the program"),
    KeyAction("b,f9", "break", "b  F9", "set or remove a breakpoint at the selected step", "brk"),
    KeyAction("B", "prompt(':', 'break ')", "B", "set a breakpoint: tool:cancel_order, error, divergence"),
    KeyAction("e", "edit", "e", "edit the answer of the selected step in $EDITOR", "edit"),
    KeyAction("E", "prompt(':', 'raise ')", "E", "replace the answer with an error: TimeoutError: too slow"),
    KeyAction("x", "undo", "x", "restore its recorded answer"),
    KeyAction("f", "fork", "f", "fork: continue live from the selected step", "fork"),
    KeyAction("exclamation_mark", "pdb", "!", "Python's own debugger, in the program's frame", "pdb"),
    KeyAction("g", "follow", "g", "select the step where the program is"),
    KeyAction("slash", "prompt('/')", "/", "find a step by a filter or its number"),
    KeyAction("right_square_bracket", "find(1)", "]", "the next one"),
    KeyAction("left_square_bracket", "find(-1)", "[", "the one before"),
    KeyAction("1", "tab('messages')", "1", "what the model saw"),
    KeyAction("2", "tab('call')", "2", "arguments and answer"),
    KeyAction("3", "tab('actual')", "3", "recorded against actual"),
    KeyAction("4", "tab('state')", "4", "the tracked state"),
    KeyAction("5", "tab('output')", "5", "what the program has written"),
    KeyAction("6", "tab('stack')", "6", "the program's frames"),
    KeyAction("l,right", "turn(1)", "l  →", "the pane to the right"),
    KeyAction("h,left", "turn(-1)", "h  ←", "the pane to the left"),
    KeyAction("plus,z", "unfold", "+  z", "long texts whole, or folded"),
    KeyAction("colon", "prompt(':')", ":", "a command, by the words of the line mode"),
    KeyAction("question_mark", "help", "?", "this", "help"),
    KeyAction("q", "quit", "q", "end the program and leave", "quit"),
)  # fmt: skip
"""All actions, in the order of the help. Tab changes between the timeline and the panes."""

# Keys that open the prompt have priority, so that text typed or pasted right after them goes to the prompt.
BINDINGS: list[BindingType] = [
    Binding(
        key.keys,
        key.action,
        key.help,
        show=False,
        priority=key.action.startswith(("interrupt", "prompt", "fork")),
    )
    for key in KEYS
]


def bar(width: int) -> str:
    """Return the keys with a word, in Textual's markup: on as many lines as they need."""
    lines: list[list[str]] = [[]]
    room = width
    for key in KEYS:
        if not key.word:
            continue
        shown = key.shown.split()[0]
        wide = len(f"{shown} {key.word}")
        if wide > room and lines[-1]:
            lines.append([])
            room = width
        lines[-1].append(f"[b $accent]{shown}[/][@click=app.{key.action}] {key.word}[/]")
        room -= wide + 1
    return "\n".join(" ".join(line) for line in lines)
