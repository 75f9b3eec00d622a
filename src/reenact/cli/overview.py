"""Print `reenact --help`: all commands by group, read from their source without an import.

Importing all commands takes more than a second. The texts are the docstrings that each command's own help shows.
"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

from reenact.cli.helping import HelpPage
from reenact.cli.interfaces import GROUPS, INTERFACES, OPTIONS
from reenact.cli.panels import PANELS, panel_of
from reenact.core.extras import EXTRAS
from reenact.verbs.registry import VERBS, Verb

SUMMARY = "Record an LLM agent's run, replay it exactly, find where it goes wrong."
EXAMPLES = (
    ("reenact record -- python agent.py", "record a run"),
    ("reenact list", "the newest recordings"),
    ("reenact browse", "search them, and open one"),
    ("reenact show last", "the run as a conversation"),
    ("reenact diagnose last", "suspect steps, with evidence"),
    ("reenact replay last", "run it again, offline and exactly"),
    ("reenact debug last", "run it step by step, back too"),
    ("reenact fork last --at 7", "again up to step 7, and live from there"),
    ("reenact diff A B", "the differences of two runs"),
    ("reenact watch last", "a browser session, played"),
    ("reenact console", "all of it in the browser"),
)
_DOCSTRING = re.compile(r'^class Options\([^)]*\):\n\s+"""(.*?)(?:\n\s*\n|""")', re.MULTILINE | re.DOTALL)


def show() -> None:
    """Print the list of all commands."""
    page = HelpPage()
    page.usage("reenact [OPTIONS] COMMAND [ARGS]...")
    page.paragraphs(SUMMARY)
    page.examples(EXAMPLES)
    commands = summaries()
    longest = max(len(name) for name in commands)
    for title in (*PANELS, None):
        rows = [(name, text) for name, text in commands.items() if panel_of(name) == title]
        page.section(title or "Other commands", rows, longest)
    page.section("Options", OPTIONS)
    page.show()


def summaries() -> dict[str, str]:
    """Return the beginning of each command's help, with the extra that it lacks."""
    found = {verb.name: f"{_summary(verb)} {_lacks(verb)}".strip() for verb in (*VERBS, *INTERFACES)}
    return found | {name: text for name, (_, text) in GROUPS.items()}


def _lacks(verb: Verb) -> str:
    if all(find_spec(package) is not None for package in EXTRAS.get(verb.extra, ())):
        return ""
    return f"(pip install 'reenact[{verb.extra}]')"


def _summary(verb: Verb) -> str:
    """Return the first paragraph of the docstring of a command's `Options`."""
    top, *below = verb.path.split(".")
    place = Path(*sys.modules["reenact"].__path__[:1], *below)
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if top == "reenact" and path.is_file() and (found := _DOCSTRING.search(path.read_text("utf-8"))):
        return " ".join(found[1].split())
    if _lacks(verb):
        return ""
    # A verb of another package, or an installation without source files.
    return " ".join((verb.module.Options.__doc__ or "").partition("\n\n")[0].split())
