"""The context of a command at a terminal."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest
from rich.console import Console

from reenact.cli import present
from reenact.cli.context import TerminalContext
from reenact.cli.derive import _show
from reenact.verbs.interface import Options, Result

ERASE = "\x1b[2K"


class Screen(io.StringIO):
    def isatty(self):
        return True


class Found(Result):
    def tree(self):
        return {"found": 1}


@pytest.fixture
def screen(monkeypatch):
    """A terminal to which the bar is drawn."""
    written = Screen()
    console = Console(file=written, force_terminal=True, width=80, _environ={"TERM": "xterm"})
    monkeypatch.setattr(present, "err", lambda: console)
    return written


def test_the_bar_is_gone_before_the_result_is_printed(screen):
    with redirect_stderr(screen), redirect_stdout(screen), TerminalContext(home=None) as context:
        context.progress("reading", 1, 2)
        _show(Found(), Options(), context)
    before, result, after = screen.getvalue().partition("{")
    assert "reading" in before
    assert before.endswith(ERASE)
    assert result
    assert "\x1b" not in after


def test_a_bar_begins_again_after_its_end(screen):
    with redirect_stderr(screen), TerminalContext(home=None) as context:
        context.progress("reading", 2, 2)
        context.end_progress()
        context.progress("writing", 1, 2)
    assert "writing" in screen.getvalue()
    assert screen.getvalue().endswith(ERASE)


def test_where_there_is_no_bar_its_end_writes_nothing(screen):
    with redirect_stderr(screen), TerminalContext(home=None) as context:
        context.end_progress()
    assert screen.getvalue() == ""
