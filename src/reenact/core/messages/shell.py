"""Commands of coding agents' shells, with the exit codes in the transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.messages.call import Message, ModelCall
from reenact.core.model.plain import parsed
from reenact.core.patterns import lazy

TOOLS = frozenset(
    ("Bash", "bash", "shell", "local_shell", "shell_command", "exec_command", "run_shell_command")
)
"""The shells of Claude Code, opencode, Codex and Gemini CLI."""

_HEAD = 2000
"""The number of characters in which the words before a command's output end."""

_FAILED = lazy(r"\A(?:Error: )?Exit code (-?[0-9]{1,10})(?:\n|\Z)")
_TIMED = lazy(r"^Wall time: ")
_CODE = lazy(r"^(?:Exit code: |Process exited with code )(-?[0-9]{1,10})$")


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command of a tool.

    Attributes:
        command: The command line.
        exit: Its exit code; None if it is not in the transcript.
    """

    command: str
    exit: int | None


def command_of(name: str, args: Any, output: Any, *, failed: bool) -> ShellCommand | None:
    """Return the command that a tool call has run; None for a tool that is no shell.

    Args:
        name: The tool's name.
        args: Its arguments.
        output: Its result.
        failed: The result is marked as an error.
    """
    line = _line(args) if name in TOOLS and isinstance(args, Mapping) else ""
    return ShellCommand(line, _exit(output, failed=failed)) if line else None


def commands_of(call: ModelCall, new: tuple[Message, ...]) -> Iterator[tuple[Message, ShellCommand]]:
    """Yield the results of shells among the new messages of a model call, each with its command."""
    results = {message.id: message for message in new if message.role == "tool" and message.id}
    if not results:
        return
    for message in call.messages:
        for asked in message.calls:
            result = results.get(asked.id)
            if result is not None:
                found = command_of(asked.name, asked.args, result.text, failed=result.failed)
                if found is not None:
                    yield result, found


def _line(args: Mapping[str, Any]) -> str:
    action = args.get("action")
    given = args if not isinstance(action, Mapping) else action
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        # `bash -lc LINE` is the form in which Codex runs a line.
        wrapped = len(command) == 3 and command[1] in ("-c", "-lc")
        return command[2] if wrapped else " ".join(command)
    return command if isinstance(command, str) else ""


def _exit(output: Any, *, failed: bool) -> int | None:
    """Return an exit code; the output of the command itself is not searched for one."""
    if isinstance(output, str):
        if failed and (known := _FAILED.match(output)):
            return int(known[1])
        if output[:1] != "{":
            return _in_head(output[:_HEAD])
        output = parsed(output)
    if not isinstance(output, Mapping):
        return None
    about = output.get("metadata")
    for place in (output, about if isinstance(about, Mapping) else {}):
        for name in ("exit_code", "exitCode", "exit"):
            if type(code := place.get(name)) is int:
                return code
    return None


def _in_head(text: str) -> int | None:
    """Return the exit code in the lines that Codex writes before the output."""
    code, timed = None, False
    for line in text.split("\n"):
        if line == "Output:":
            return code if timed else None
        timed = timed or _TIMED.match(line) is not None
        known = _CODE.match(line)
        code = int(known[1]) if known else code
    return None
