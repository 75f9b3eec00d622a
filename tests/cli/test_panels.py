"""Help in groups, the newest recording as the default, and output for a pipe."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

import reenact
from reenact.cli.framing import Framed, paged, print_framed
from reenact.cli.interfaces import GROUPS, INTERFACES
from reenact.cli.panels import PANELS, panel_of
from reenact.cli.render import replay
from reenact.cli.verdict import panel
from reenact.core.model.divergence import Verdict
from reenact.verbs.registry import VERBS


def test_every_command_is_in_one_group_of_the_help():
    commands = [verb.name for verb in (*VERBS, *INTERFACES)] + list(GROUPS)
    listed = [name for names in PANELS.values() for name in names]
    assert sorted(listed) == sorted(commands)


def test_the_help_lists_commands_by_group(run):
    status, out, _ = run("--help")
    assert status == 0
    for title in PANELS:
        assert f"\n{title}:\n" in out


def test_an_unknown_command_has_no_group():
    assert panel_of("dance") is None


@pytest.fixture
def recorded(home):
    with reenact.record("support", home=home) as recording:
        reenact.tool(lambda order: f"order {order}", name="look")("A1")
    return recording.id


@pytest.mark.parametrize(
    "command", [("show",), ("export", "-o", "run.reenact"), ("report", "-o", "run.html")]
)
def test_a_command_without_a_recording_takes_the_newest(run, recorded, command):
    status, out, err = run(*command)
    assert status == 0, err
    assert command[0] != "show" or recorded in out


def test_a_command_without_a_recording_says_so_where_there_is_none(run, home):
    status, out, err = run("show")
    assert (status, out, len(err.splitlines())) == (2, "", 1)


def test_a_frame_that_is_forced_by_the_environment_in_a_pipe_cuts_no_words(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    print_framed(Framed(Text("diverged"), Text("there " * 40), "red"))
    assert capsys.readouterr().err.count("there") == 40


@pytest.mark.parametrize("terminal", [True, False])
def test_a_result_has_a_frame_on_a_terminal_alone(terminal):
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=terminal, color_system=None)
    console.print(Framed(Text("faithful"), Text("2 answers served"), "green"))
    assert ("╭" in file.getvalue()) is terminal
    assert "2 answers served" in file.getvalue()


def test_a_faithful_verdict_in_a_pipe_has_the_lines_that_rich_would_write(monkeypatch, capsys):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    verdict = Verdict(
        recording="a1b2",
        served=3,
        rules=("ignore the order of lines in stdout (threads)", "ignore args.headers.user-agent"),
        kinds={"model": 2, "tool": 1},
        again={"tool:look": 1},
        answered={"tool:buy": "a long reason " * 20, "tool:[red]sell": "writes the file ä"},
        compared=("calls", "standard output"),
        uncompared=("the result",),
        changed_since=("orders.csv",),
    )
    assert verdict.faithful
    replay.print_verdict(verdict, "support")
    plain = capsys.readouterr().err
    print_framed(panel(verdict, name="support"))
    assert plain == capsys.readouterr().err
    assert plain.count("\n") > 6


@pytest.mark.parametrize("environ", [{"PAGER": "cat"}, {"TERM": "dumb", "PAGER": "less"}])
def test_no_pager_is_started_where_it_cannot_work(monkeypatch, environ):
    for name, value in {"TERM": "xterm", **environ}.items():
        monkeypatch.setenv(name, value)
    console = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(console, "pager", lambda **_: pytest.fail("a pager was started"))
    with paged(console):
        console.print("text")


def test_long_output_is_paged_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PAGER", "less")
    monkeypatch.setenv("LESS", "")
    shown = []
    monkeypatch.setattr("rich.pager.SystemPager.show", lambda _, text: shown.append(text))
    console = Console(file=io.StringIO(), force_terminal=True)
    with paged(console):
        console.print("text")
    assert "text" in shown[0]
