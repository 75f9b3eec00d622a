"""Every command that a page names is one that the command line has, with its options."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from reenact.cli.application import application
from tests.docs.walk import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAM = application(())
NAMED = re.compile(r"(?:^|[\s(])(?<!install )reenact (?=[a-z])")
ENDS = {"&&", "|", "||", "&", ";", "<", ">", "2>", "#"}
FENCED = re.compile(r"^```(?:sh|console|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
ANY_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def texts(page):
    """Return each line of the page's commands, and each text in backquotes outside of them."""
    for block in FENCED.findall(page):
        yield from (line.removeprefix("$ ") for line in block.replace("\\\n", " ").splitlines())
    yield from (" ".join(text.split()) for text in INLINE.findall(ANY_FENCED.sub("", page)))


def words(text):
    """Return the words of the first command in a text, up to a pipe or a comment."""
    parts = shlex.shlex(text, posix=True, punctuation_chars="|&;<>")
    parts.whitespace_split = True
    parts.commenters = "#"
    try:
        found = list(parts)
    except ValueError:
        found = text.split()
    return found[: next((n for n, word in enumerate(found) if word in ENDS or word == "--"), None)]


def problems(text):
    """Return what is wrong with each `reenact` command of a text."""
    for match in NAMED.finditer(text):
        command, context = PROGRAM, click.Context(PROGRAM, info_name="reenact")
        for word in words(text[match.end() :]):
            # Optional parts are in brackets: [--to N], [real|compact].
            bare = word.strip("[].,…()")
            if isinstance(command, click.Group) and not bare.startswith("-"):
                command = command.get_command(context, bare)
                if command is None:
                    yield f"{text}: there is no command {bare}"
                    break
                continue
            known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
            for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", bare if bare.startswith("-") else ""):
                if option not in known | {"--help", "-h"}:
                    yield f"{text}: there is no option {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_of_a_page_exists_with_its_options(page):
    assert [each for text in texts(page.read_text(encoding="utf-8")) for each in problems(text)] == []


def test_a_wrong_command_and_a_wrong_option_are_found():
    assert list(problems("reenact replaid last")) == ["reenact replaid last: there is no command replaid"]
    assert list(problems("reenact team hold add X --whi Y")) == [
        "reenact team hold add X --whi Y: there is no option --whi"
    ]
    assert list(problems("reenact keep last [--as FILE]... -- python a.py --other")) == []
