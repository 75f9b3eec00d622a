"""The output of `reenact label`."""

from __future__ import annotations

from reenact.analysis.views.text import marks
from reenact.cli.context import TerminalContext
from reenact.cli.printing import say
from reenact.verbs import label


def show(result: label.Result, options: object, context: TerminalContext) -> None:
    """Report the labels and the note on standard error."""
    said = marks(result.labels.words, result.labels.note)
    say(f"{result.id}  {said or 'no labels and no note'}")
