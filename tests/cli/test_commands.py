"""One module a command is imported, and it is the right one."""

import subprocess
import sys

import click
import pytest

from reenact.cli import main, overview
from reenact.cli.application import application
from reenact.cli.interfaces import GROUPS, INTERFACES
from reenact.verbs.registry import VERBS

ALL = [*(verb.name for verb in (*VERBS, *INTERFACES)), *GROUPS]


def names(words):
    """The commands of the application."""
    return list(application(words).commands)


def test_the_help_lists_every_command(capsys):
    assert names([]) == names(["--help"]) == ALL
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"  {command} " in told for command in ALL)


def test_the_help_shows_the_texts_of_the_commands_own_help():
    for name, command in application([]).commands.items():
        assert overview.summaries()[name] == command.help.partition("\n\n")[0]


def test_the_help_names_every_option_of_the_application(capsys):
    assert main(["-h"]) == 0
    told = capsys.readouterr().out
    for option in application([]).get_params(click.Context(click.Command("reenact"))):
        assert all(name in told for name in option.opts)


def test_the_help_names_the_extra_that_a_command_needs(monkeypatch):
    monkeypatch.setattr(overview, "find_spec", lambda package: None if package == "textual" else package)
    told = overview.summaries()
    assert told["browse"] == (
        "Browse the recordings in the terminal: search, open, replay and debug them. (pip install 'reenact[tui]')"
    )
    assert "pip install" not in told["serve"]


@pytest.mark.parametrize("width", ["30", "57", "200"])
@pytest.mark.parametrize("command", ["fork", "list", "team"])
def test_every_line_of_the_help_of_a_command_fits_the_terminal(command, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    assert main([command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= max(int(width), 40)
    assert len(lines) > 8


def test_the_help_has_no_boxes_and_no_colours_in_a_pipe(capsys):
    for words in (["--help"], ["list", "--help"], ["keys"]):
        main(words)
        told = capsys.readouterr().out
        assert told.startswith("Usage: reenact")
        assert not set("╭│╰─\x1b") & set(told)


def test_the_help_has_colours_where_they_are_wanted(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    overview.show()
    assert "\x1b[1;36mrecord\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    overview.show()
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ALL)
def test_a_command_line_has_its_own_command_alone(command):
    assert names([command, "last"]) == [command]


def test_a_command_that_is_asked_for_costs_no_other_ones_module():
    others = "[name for name in sys.modules if name.startswith(('reenact.run.launch', 'reenact.tui', 'reenact.verbs.verify'))]"
    code = (
        f"import sys; from reenact.cli.application import application; application(['list']); print({others})"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "[]"


def test_a_word_that_is_no_command_is_named(capsys):
    assert main(["recrod"]) == 2
    assert "recrod" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["fork", "last"], "missing option '--at'; `reenact fork --help` shows how it is used"),
        (["list", "--nonsense"], "no such option"),
        (["list", "--limit", "x"], "invalid value for '--limit' / '-n'"),
        (["lst"], "no such command 'lst'. Did you mean 'list'? `reenact --help` shows how it is used\n"),
        (["nonsense"], "no such command 'nonsense'; `reenact --help` shows how it is used"),
    ],
)
def test_a_wrong_command_line_is_one_line(words, line, capsys):
    assert main(words) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith(f"reenact: {line}"), written.err
    assert written.err.count("\n") == 1


def test_an_empty_command_line_shows_the_help(capsys):
    assert main([]) == 2
    assert "reenact record" in "".join(capsys.readouterr())
