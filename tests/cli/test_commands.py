"""One module a command is imported, and it is the right one."""

import subprocess
import sys

import pytest

from reenact.cli import main
from reenact.cli.application import GROUPS, INTERFACES, application
from reenact.verbs.registry import VERBS

ALL = [*(verb.name for verb in (*VERBS, *INTERFACES)), *GROUPS]


def names(words):
    """The commands, and where they belong in the table those that have commands of their own."""
    app = application(words)
    found = [command.name or command.callback.__name__ for command in app.registered_commands]
    for group in app.registered_groups:
        name = group.name or group.typer_instance.info.name
        found.insert(sum(ALL.index(one) < ALL.index(name) for one in found), name)
    return found


def test_the_help_lists_every_command_in_the_order_of_the_table(capsys):
    assert names([]) == names(["--help"]) == ALL
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(f" {command} " in told for command in ALL)


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
