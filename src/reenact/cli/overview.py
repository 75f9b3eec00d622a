"""Print `reenact --help`: all commands by group, read from their source without an import.

To import every command takes more than a second. The texts are the docstrings that each command's own help shows.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

from reenact.cli.interfaces import GROUPS, INTERFACES
from reenact.cli.panels import PANELS, panel_of
from reenact.core.extras import EXTRAS
from reenact.errors import MissingExtra
from reenact.verbs.registry import VERBS, Verb

SUMMARY = "Record an LLM agent's run, replay it exactly, find where it goes wrong."
EXAMPLES = (
    ("reenact record -- python agent.py", "record a run"),
    ("reenact list", "what there is"),
    ("reenact browse", "the same, to search and choose from"),
    ("reenact show last", "the run as a conversation"),
    ("reenact diagnose last", "what is odd about it, and where"),
    ("reenact replay last", "run it again, offline and exactly"),
    ("reenact debug last", "run it step by step, back too"),
    ("reenact fork last --at 7", "again up to step 7, and live from there"),
    ("reenact diff A B", "where two runs part"),
    ("reenact watch last", "a browser session, played"),
    ("reenact console", "all of it in the browser"),
)
_OPTIONS = (
    ("--version", "The version, and no more."),
    ("--install-completion", "Install completion for the current shell."),
    ("--show-completion", "Show completion for the current shell, to copy it or customize the installation."),
    ("--help, -h", "Show this message and exit."),
)
_DOCSTRING = re.compile(r'^class Options\([^)]*\):\n\s+"""(.*?)(?:\n\s*\n|""")', re.MULTILINE | re.DOTALL)
_STYLES = {"bold": "1", "dim": "2", "name": "1;36", "title": "33"}
_GAP = 2


def show() -> None:
    """Print the list of all commands."""
    width = max(shutil.get_terminal_size().columns, 40)
    shown = _Styled(_coloured())
    lines = ["", f" {shown('title', 'Usage:')} {shown('bold', 'reenact [OPTIONS] COMMAND [ARGS]...')}", ""]
    lines += [f" {line}" for line in textwrap.wrap(SUMMARY, width - 2)]
    lines.append("")
    longest = max(len(command) for command, _ in EXAMPLES)
    for command, text in EXAMPLES:
        lines.append(f" {shown('bold', command)}{' ' * (longest - len(command) + 3)}{shown('dim', text)}")
    lines.append("")
    lines += _panel("Options", _OPTIONS, width, shown)
    commands = summaries()
    longest = max(len(name) for name in commands)
    for title in (None, *PANELS):
        rows = [(name, text) for name, text in commands.items() if panel_of(name) == title]
        lines += _panel(title or "Commands", rows, width, shown, longest) if rows else []
    sys.stdout.write("\n".join(lines) + "\n\n")


def summaries() -> dict[str, str]:
    """Return the first sentence or two of each command's help, or the extra that it needs."""
    found = {verb.name: _lacks(verb) or _summary(verb) for verb in (*VERBS, *INTERFACES)}
    return found | {name: text for name, (_, text) in GROUPS.items()}


def _lacks(verb: Verb) -> str:
    if all(find_spec(package) is not None for package in EXTRAS.get(verb.extra, ())):
        return ""
    return str(MissingExtra(f"reenact {verb.name}", verb.extra))


def _summary(verb: Verb) -> str:
    """Return the first paragraph of the docstring of a command's `Options`."""
    top, *below = verb.path.split(".")
    place = Path(*sys.modules["reenact"].__path__[:1], *below)
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if top == "reenact" and path.is_file() and (found := _DOCSTRING.search(path.read_text("utf-8"))):
        return " ".join(found[1].split())
    # A verb of another package, or an installation without source files.
    return " ".join((verb.module.Options.__doc__ or "").partition("\n\n")[0].split())


class _Styled:
    def __init__(self, coloured: bool) -> None:
        self._coloured = coloured

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._coloured else text


def _coloured() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def _panel(
    title: str,
    rows: list[tuple[str, str]] | tuple[tuple[str, str], ...],
    width: int,
    shown: _Styled,
    names: int = 0,
) -> list[str]:
    names = names or max(len(name) for name, _ in rows)
    room = width - names - _GAP - 4
    top = f"╭─ {title} {'─' * (width - len(title) - 5)}╮"
    lines = [shown("dim", top)]
    for name, text in rows:
        for place, part in enumerate(textwrap.wrap(text, room) or [""]):
            first = name if place == 0 else ""
            gap = " " * (names - len(first) + _GAP)
            lines.append(f"{shown('dim', '│')} {shown('name', first)}{gap}{part:<{room}} {shown('dim', '│')}")
    return [*lines, shown("dim", f"╰{'─' * (width - 2)}╯")]
