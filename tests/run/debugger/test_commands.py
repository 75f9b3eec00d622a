"""The debugger's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import UsageError
from reenact.run.debugger.commands import COMMANDS, arguments, command_of
from reenact.run.debugger.machine import Machine

GUIDE = Path(__file__).parents[3] / "docs" / "debug.md"


def test_no_word_means_two_commands():
    words = [word for command in COMMANDS for word in (command.name, *command.short)]
    assert len(words) == len(set(words))


def test_every_order_is_one_of_the_machines_commands():
    assert [
        command.order for command in COMMANDS if command.order and not hasattr(Machine, command.order)
    ] == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_is_in_the_guide(command):
    assert f"`{command.name}" in GUIDE.read_text()


def test_a_line_is_a_word_and_what_stands_behind_it():
    command, rest = command_of("  b tool:cancel_order and error ")
    assert (command.name, arguments(command, rest)) == ("break", ("tool:cancel_order and error",))
    command, rest = command_of("until 12")
    assert arguments(command, rest) == (12,)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("brake 3", "did you mean `break`"),
        ("xyzzy", "`help` lists them"),
        ("step 3", "`step` takes no argument"),
        ("until seven", "`until` needs a step's number, not 'seven'"),
        ("until", "`until` needs a step's number"),
    ],
)
def test_what_cannot_be_meant_costs_one_line(line, says):
    with pytest.raises(UsageError, match=says):
        arguments(*command_of(line))
