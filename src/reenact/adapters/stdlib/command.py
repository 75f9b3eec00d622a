"""Commands: programs that the program starts, as effects.

The effect has the command, its changed environment variables, and its input. A recorded answer is given without a
start. A Python program that can join the run and record itself is no command (`processes.py`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from inspect import BoundArguments
from pathlib import Path
from types import FrameType
from typing import Any

from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import descriptors, environ, file_uses, interpreters, start_options
from reenact.adapters.stdlib.redirection import content_of, is_file
from reenact.adapters.stdlib.scripts import Script
from reenact.adapters.stdlib.seal import _TOOLS, TELEMETRY
from reenact.core.boundary import Call, Run, Scope, begin, current, draw, entered, perform
from reenact.core.dataclass import dataclass
from reenact.core.model.event import COMMANDS, OPTIONS, Effect
from reenact.core.patterns import lazy
from reenact.core.record.program import option_takes_value, takes_part

PROCESS = "process"
"""The kind of these effects."""

_EARLIER = "was started before the first step that runs for real: fork at an earlier step, before its start"
_GIVEN = ("input", "communicate")
"""The acts that give a command input."""
_PYTHON = lazy(r"(python|pypy)[\d.]*(\.exe)?")


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """A started command.

    Attributes:
        title: A short name: that of the program.
        question: All values on which its answer may depend.
        script: The script that it runs.
    """

    title: str
    question: Mapping[str, Any] = field(default_factory=dict)
    script: Script = field(default_factory=Script)

    @classmethod
    def of(cls, given: Mapping[str, Any], *, streams: bool = True) -> ProgramStart:
        """Return the command of these arguments of `Popen`.

        Without `streams` it is one that always has those of the program.
        """
        command, shell = words(given["args"]), bool(given.get("shell"))
        question: dict[str, Any] = {"command": command[0] if shell and len(command) == 1 else command}
        if given.get("executable") is not None:
            question["executable"] = os.fsdecode(given["executable"])
        if given.get("cwd") is not None:
            question["cwd"] = _short(os.fsdecode(given["cwd"]))
        if given.get("env") is not None and (changed := changed_environment(given["env"])):
            question["env"] = changed
        if (origin := piped_from(given.get("stdin"))) is not None:
            question["stdin"] = f"the output of {origin}"
        elif (digest := content_of(given.get("stdin"))) is not None:
            question["stdin"] = digest
        question |= _inherited({**given, "stdin": None} if "stdin" in question else given, streams=streams)
        line = _shell_words(command[0]) if shell and command else command
        script = Script.of(line, given.get("cwd")) if current() is not None else Script()
        return cls(plain(Path(line[0]).name) if line else "?", question, script)

    def effect(self, part: str = "", *, limit: float | None = None, **more: Any) -> Effect:
        """Return the effect of its start, or of a part of its work: `output`, `input`, `exit`.

        `limit` is the time limit of the wait in seconds.
        """
        name = f"{self.title} {part}" if part else self.title
        args = more if part else {**self.question, **more}
        return Effect(PROCESS, name, args, leaf=True, limits={"timeout": limit})

    def answer(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return the recorded answer to its start."""
        return {**found, **self.script.member()}

    def answered(self, answer: Mapping[str, Any]) -> None:
        """Name a script that has changed since this answer was recorded."""
        self.script.compare(answer, self.title)


class Acts:
    """The acts of one started command, each an effect inside of its start.

    An address does not count the threads and tasks that read its output or write its input.

    Args:
        command: The command.
        scope: The scope in which it is started.
    """

    def __init__(self, command: ProgramStart, scope: Scope) -> None:
        label = command.effect().label
        self.command = command
        self.real = False
        """True if it was started for real."""
        self._inside = scope.inside(
            f"{scope.path}/{label}#{scope.peek(label)}", call=scope.call, hidden=False, tool=scope.tool
        )

    def perform(self, part: str, live: Callable[[], Any], **more: Any) -> Any:
        """Perform an act of the program on the command, or a part of the command's work."""

        def checked() -> Any:
            self.check()
            return live()

        if listening() is None:
            return checked()
        with entered(self._inside):
            begun = file_uses.command_asked if part in _GIVEN else None
            return perform(self.command.effect(part, **more), checked, begun=begun)

    def draw(self, part: str, now: Callable[[], Any]) -> Any:
        """Ask if output has come or the command has ended; a replay gives the recorded answer."""

        def checked() -> Any:
            self.check()
            return now()

        return now() if listening() is None else draw(f"process:{self.command.title}:{part}", checked)

    def begin(self, part: str) -> Call | None:
        """Begin a part that comes in chunks or later.

        Return None within an effect that is answered whole.
        """
        if listening() is None:
            return None
        with entered(self._inside):
            call = begin(self.command.effect(part))
        if call is not None and call.answer is None:
            self.check()
        return call

    def belongs_to(self, run: Run) -> bool:
        """Return True if the command was started in that run."""
        return self._inside.run is run

    def check(self) -> None:
        """Refuse to go on for real after a recorded start."""
        if not self.real:
            at = self._inside
            raise at.run.handler.refuse(at.path, f"this command {_EARLIER}")


def answered(given: BoundArguments) -> bool:
    """Return True if a command with these arguments of `Popen` can be answered without a start.

    Not if it is a Python that records itself, nor if it shares more with the program than pipes and files.
    """
    arguments = given.arguments
    command, shell = words(arguments["args"]), bool(arguments.get("shell"))
    if not command or arguments.get("pass_fds"):
        return False
    if is_python(command, shell=shell) and interpreters.joins(_interpreter(command, arguments, shell=shell)):
        return False
    scope = current()
    if scope is not None and start_options.leads_to_pipe(scope.run, arguments):
        return False
    return all(_known(arguments.get(name)) for name in ("stdin", "stdout", "stderr"))


def _interpreter(command: Sequence[str], arguments: Mapping[str, Any], *, shell: bool) -> str:
    if arguments.get("executable") is not None and not shell:
        return os.fsdecode(arguments["executable"])
    return _shell_words(command[0])[0] if shell else command[0]


def _known(handle: Any) -> bool:
    if handle is None or (isinstance(handle, int) and handle < 0):
        return True
    if piped_from(handle) is not None or is_file(handle) or _standard(handle):
        return True
    return descriptors.terminal_of(handle) is not None


def _standard(handle: Any) -> bool:
    """Return True for the program's own standard streams."""
    try:
        return (handle if isinstance(handle, int) else handle.fileno()) in (0, 1, 2)
    except (AttributeError, OSError, ValueError):
        return False


def piped_from(handle: Any) -> str | None:
    """Return the title of the command whose output this is, or None."""
    raw = getattr(getattr(handle, "buffer", handle), "raw", handle)
    return getattr(raw, "reenact_pipe", None) or None


def changed_environment(environ: Mapping[Any, Any]) -> dict[str, str]:
    """Return the variables of an environment that are not those of the program."""
    given = {os.fsdecode(name): os.fsdecode(value) for name, value in environ.items()}
    # Names that are left out depend on the machine, not on the question.
    return {name: value for name, value in sorted(given.items()) if os.environ.get(name) != value}


def _inherited(given: Mapping[str, Any], *, streams: bool) -> dict[str, Any]:
    """Return what a command is given, and what it inherits that the program has changed."""
    scope, env = current(), given.get("env")
    if scope is None or scope.run.rules < COMMANDS:
        return {}
    found: dict[str, Any] = {}
    if scope.run.rules >= OPTIONS:
        found |= start_options.options_of(given, scope.run)
        if streams and (unusual := start_options.streams_of(given)):
            found["streams"] = unusual
    if folder := environ.changed_folder(scope.run):
        found["folder"] = folder
    if variables := environ.set_by_program(scope.run, env):
        found["variables"] = variables
    return found


def _short(folder: str) -> str:
    """Return a folder in a form that does not depend on the program's location."""
    return os.path.relpath(folder) if Path(folder).is_relative_to(Path.cwd()) else folder


def is_python(command: Sequence[str], *, shell: bool = False) -> bool:
    """Return True if a command runs Python by its name, and that Python can join the run."""
    line = _shell_words(command[0]) if shell and command else list(command)
    return bool(line) and _PYTHON.fullmatch(Path(line[0]).name) is not None and takes_part(tuple(line[1:]))


def title(command: Sequence[str], *, shell: bool = False) -> str:
    """Return a command's title: a Python's script or module, otherwise the program."""
    line = _shell_words(command[0]) if shell and command else list(command)
    if not line:
        return "?"
    name = Path(line[0]).name
    if not is_python(line):
        return plain(name)
    rest = iter(line[1:])
    for word in rest:
        if option_takes_value(word):
            next(rest, None)
        elif word == "-m":
            return plain(next(rest, "?"))
        elif word in {"-c", "-"}:
            return word
        elif not word.startswith("-"):
            return plain(Path(word).name.removesuffix(".py"))
    return plain(name)


def _shell_words(line: str) -> list[str]:
    return [word for word in re.split(r"[\s;|&<>()]+", line) if word]


def plain(name: str) -> str:
    """Return a name without characters with a meaning in addresses."""
    return name.replace(".<locals>", "").replace("/", "|")[:80]


def words(command: Any) -> list[str]:
    """Return the words of a command, however it was given."""
    if isinstance(command, (str, bytes, os.PathLike)):
        return [os.fsdecode(command)]
    return [
        os.fsdecode(word) if isinstance(word, (str, bytes, os.PathLike)) else str(word) for word in command
    ]


def asks_the_machine(frame: FrameType | None) -> bool:
    """Return True if a library asks about the machine (`platform` runs `uname`)."""
    for _ in range(8):
        if frame is None:
            return False
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name in _TOOLS or name in TELEMETRY:
            return name != "multiprocessing"
        frame = frame.f_back
    return False
