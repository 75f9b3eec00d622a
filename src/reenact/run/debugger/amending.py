"""Parse commands that change answers: `edit 7 = "no"`, `raise TimeoutError`, `undo 7`."""

from __future__ import annotations

from reenact.core.query.facts import RecordingFacts
from reenact.core.replay.watch import Edit
from reenact.errors import UsageError
from reenact.run.debugger import answer
from reenact.run.debugger.commands import edit_words, raise_words
from reenact.run.debugger.machine import Machine


def answer_of(machine: Machine, facts: RecordingFacts, step: int) -> Edit:
    """Return a step's edited answer, or the recorded one."""
    known = machine.state.edits.get(step)
    return known if known is not None else answer.recorded(facts.steps[step - 1].step)


def step_meant(word: str, rest: str, here: int) -> int:
    """Return the step of an answer command: the given one, or the current one."""
    named, _ = raise_words(rest) if word == "raise" else edit_words(rest)
    return named or here


def amended(machine: Machine, facts: RecordingFacts, word: str, rest: str, here: int) -> Edit | None:
    """Return the answer of an `edit`, `raise` or `undo`; None for the recorded one again.

    Raises UsageError, in one line, if it cannot be given now or is not a value, and for an `edit` without an answer,
    which needs an editor.
    """
    step = step_meant(word, rest, here)
    if word == "undo":
        if step not in machine.state.edits:
            raise UsageError(f"the answer of step {step} has not been edited")
        return None
    machine.editable(step)
    if word == "raise":
        return answer.raising(raise_words(rest)[1])
    _, text = edit_words(rest)
    if text is None:
        raise UsageError('`edit` needs an answer here: edit 7 = "no", or edit 7 = {"ok": false}')
    return answer.giving(text, answer_of(machine, facts, step))
