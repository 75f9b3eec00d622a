"""A text in the user's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from reenact.core.replay.watch import Edit
from reenact.errors import UsageError
from reenact.run.debugger.answer import EditedAnswer, edited

_KNOWN = ("vi", "nano", "notepad")


def answer_in_editor(draft: EditedAnswer, name: str, *, ask: bool) -> Edit | None:
    """Edit an answer in an editor; return it, or None if unchanged.

    With `ask`, an invalid answer is reported in a line, and the editor may be opened again; otherwise UsageError is
    raised.
    """
    text = draft.text
    while True:
        text = in_editor(text, suffix=draft.suffix, name=name)
        try:
            return edited(draft, text)
        except UsageError as error:
            if not ask:
                raise
            print(f"reenact: {error}")
            if input("edit it again? [Y/n] ").strip().lower() in ("n", "no"):
                return None


def in_editor(text: str, *, suffix: str = ".txt", name: str = "answer") -> str:
    """Edit a text in $VISUAL or $EDITOR (or vi, nano), which takes the terminal.

    Return the result.

    Raises UsageError if there is no editor, or it ends with an error: then the text is ignored.
    """
    words = _editor()
    with tempfile.TemporaryDirectory(prefix="reenact-") as folder:
        path = Path(folder, f"{name}{suffix}")
        path.write_text(text, encoding="utf-8", newline="", errors="surrogateescape")
        try:
            done = subprocess.run(  # noqa: S603 - the user's editor
                [*words, str(path)], check=False, stdin=None if sys.stdin.isatty() else subprocess.DEVNULL
            )
        except OSError as error:
            raise UsageError(
                f"the editor `{words[0]}` cannot be run: {error.strerror}; set $EDITOR"
            ) from None
        if done.returncode:
            raise UsageError(
                f"the editor `{words[0]}` ended with status {done.returncode}: nothing is changed"
            )
        return path.read_bytes().decode("utf-8", "surrogateescape")


def _editor() -> list[str]:
    for variable in ("VISUAL", "EDITOR"):
        words = shlex.split(os.environ.get(variable, ""))
        if words:
            return words
    found = next((editor for editor in _KNOWN if shutil.which(editor)), None)
    if found is None:
        raise UsageError("no editor was found; set $EDITOR to yours")
    return [found]
