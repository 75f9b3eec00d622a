"""Commands of coding agents' shells, with exit codes as far as the transcript tells them."""

from __future__ import annotations

import pytest

from reenact.core.messages import anthropic, openai
from reenact.core.messages.shell import ShellCommand, command_of, commands_of

CODEX = "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nfailed"
UNIFIED = (
    "Chunk ID: 5\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\nx"
)


@pytest.mark.parametrize(
    ("name", "args", "command"),
    [
        ("Bash", {"command": "ls", "description": "List"}, "ls"),
        ("bash", {"command": "ls"}, "ls"),
        ("shell", {"command": ["bash", "-lc", "make test"], "workdir": "/w"}, "make test"),
        ("shell", {"command": ["git", "status"]}, "git status"),
        ("local_shell", {"action": {"type": "exec", "command": ["sh", "-c", "ls"]}}, "ls"),
        ("local_shell", {"type": "exec", "command": ["ls", "-l"]}, "ls -l"),
        ("exec_command", {"cmd": "ls", "yield_time_ms": 100}, "ls"),
        ("shell_command", {"command": "ls"}, "ls"),
    ],
)
def test_the_shells_of_known_agents_are_recognised(name, args, command):
    assert command_of(name, args, "", failed=False) == ShellCommand(command, None)


@pytest.mark.parametrize(
    ("name", "args"),
    [("Read", {"command": "ls"}), ("Bash", {}), ("Bash", None), ("Bash", {"command": 7}), ("shell", {"command": [7]}),
     ("Bash", "ls"), ("bash", {"command": ""}), ("local_shell", {"action": {}})],
)  # fmt: skip
def test_other_tools_and_other_arguments_are_no_commands(name, args):
    assert command_of(name, args, "", failed=False) is None


@pytest.mark.parametrize(
    ("output", "failed", "code"),
    [
        ("Exit code 1\n1 failed", True, 1),
        ("Error: Exit code 127", True, 127),
        (CODEX, False, 2),
        (UNIFIED, False, 0),
        ('{"output": "x", "metadata": {"exit_code": 3, "duration_seconds": 1}}', False, 3),
        ({"output": "x", "exit_code": 0}, False, 0),
        ({"output": "x", "metadata": {"exit": 4}}, False, 4),
    ],
)
def test_an_exit_code_is_read_where_an_agent_writes_it(output, failed, code):
    assert command_of("Bash", {"command": "x"}, output, failed=failed).exit == code


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Exit code 1\nthe program printed this", False),
        ("Exit code: 5\nOutput:\n", False),
        ("Wall time: 1\nOutput:\nProcess exited with code 9\nOutput:\n", False),
        ("Process exited with code 9", False),
        ("Exit code 99999999999999\n", True),
        ("refused by the user", True),
        ('{"exit_code": "0"}', False),
        ('{"exit_code": true}', False),
        ("{broken", False),
        (None, False),
        ([1], False),
    ],
)
def test_what_a_command_prints_is_no_exit_code(output, failed):
    assert command_of("Bash", {"command": "x"}, output, failed=failed).exit is None


def test_results_are_joined_with_their_calls_by_id():
    use = [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}} for id in ("a", "b")]
    results = [
        {"type": "tool_result", "tool_use_id": "b", "content": "Exit code 3", "is_error": True},
        {"type": "tool_result", "tool_use_id": "a", "content": "fine"},
    ]
    messages = [{"role": "assistant", "content": use}, {"role": "user", "content": results}]
    call = anthropic.read({"messages": messages}, {}, [])
    assert {message.id: ran for message, ran in commands_of(call, call.messages)} == {
        "a": ShellCommand("a", None),
        "b": ShellCommand("b", 3),
    }


def test_codex_s_items_are_joined_with_their_calls():
    items = [
        {"type": "local_shell_call", "call_id": "a", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "call_id": "a", "output": CODEX},
        {"type": "function_call", "call_id": "b", "name": "exec_command", "arguments": '{"cmd": "pwd"}'},
        {"type": "function_call_output", "call_id": "b", "output": UNIFIED},
    ]
    call = openai.read_responses({"input": items}, {}, [])
    assert [ran for _, ran in commands_of(call, call.messages)] == [
        ShellCommand("ls", 2),
        ShellCommand("pwd", 0),
    ]
