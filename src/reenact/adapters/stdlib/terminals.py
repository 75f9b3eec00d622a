"""Terminals that the program makes for its commands, on Linux: `pty`, and libraries on it.

`os.forkpty` says nothing of the command that the child will become. So the child tells its parent by a named pipe when
it is about to become a program, and waits: the parent compares the command with the recorded one. In a replay the
child is ended then, and nothing is started.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import termios
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import descriptors, early, file_uses, process_numbers, witness
from reenact.adapters.stdlib.command import Acts, ProgramStart, changed_environment
from reenact.adapters.stdlib.pipes import TerminalEnd
from reenact.core import system
from reenact.core.boundary import Scope, draw, entered, perform
from reenact.core.boundary.current import current_scope

assert sys.platform == "linux"

_ASKING, _ANSWER = "asking", "answer"
_SLICE = 0.05
_MOST_SLICES = 200
"""Ten seconds, after which a child goes on as Python, is named, and is not recorded."""

_mode = termios.tcgetattr
_folder: Path | None = None
"""In a forked child: the folder of the pipes by which it asks its parent."""


def install() -> None:
    """Hook the making of terminals, once."""
    wrap(os, "openpty", _opened)
    wrap(os, "forkpty", _forked)
    early.replace(termios, "tcgetattr", _asked_mode)


def asks(path: Any, argv: Sequence[Any], environ: Any) -> None:
    """In the child of a terminal, which is about to become a program: ask the parent."""
    folder = _folder
    if folder is None or not os.access(path, os.X_OK):
        return
    told = {
        "command": [os.fsdecode(word) for word in argv],
        "executable": os.fsdecode(path),
        "cwd": str(Path.cwd()),
        "env": changed_environment(os.environ if environ is None else environ),
    }
    with suppress(OSError):
        (folder / _ASKING).write_text(json.dumps(told), encoding="utf-8")
        if not (folder / _ANSWER).read_bytes():
            os.kill(os.getpid(), signal.SIGKILL)


def _opened(
    wrapped: Callable[..., tuple[int, int]], instance: Any, args: Any, kwargs: Any
) -> tuple[int, int]:
    ours, theirs = wrapped(*args, **kwargs)
    descriptors.paired(ours, theirs)
    return ours, theirs


def _asked_mode(number: Any, /) -> Any:
    end = descriptors.end_of(number)
    if isinstance(end, TerminalEnd):
        return _mode_of(end.mode(lambda: _written_mode(number)))
    return _mode(number)


def _written_mode(number: Any) -> list[Any]:
    *flags, characters = _mode(number)
    return [*flags, [one.decode("latin-1") if isinstance(one, bytes) else one for one in characters]]


def _mode_of(found: list[Any]) -> list[Any]:
    *flags, characters = found
    return [*flags, [one.encode("latin-1") if isinstance(one, str) else one for one in characters]]


def _forked(
    wrapped: Callable[..., tuple[int, int]], instance: Any, args: Any, kwargs: Any
) -> tuple[int, int]:
    scope = listening()
    if scope is None:
        return wrapped(*args, **kwargs)
    witness.starts(scope)
    recorded = scope.run.replaying and not scope.run.handler.gone_live
    if recorded and not draw("process:terminal", bool):
        raise scope.run.handler.refuse(
            f"{scope.path}/process:terminal",
            "a fork of the program goes on in a terminal, which is not recorded",
            "start a program there, or record the fork's part as a run of its own",
        )
    with entered(None):
        child = _Child()
        number, ours = wrapped(*args, **kwargs)
        told = child.heard(number) if number else None
    if number == 0:
        _begin_child(child)
        return number, ours
    if not recorded:
        draw("process:terminal", lambda: told is not None)
    if told is not None:
        return _start(scope, child, told, number, ours), ours
    child.forget()
    scope.run.handler.note(
        "unrecorded", "a fork of the program goes on in a terminal: a replay will refuse it"
    )
    return number, ours


def _begin_child(child: _Child) -> None:
    """Go on in the child: outside of the run, which has its parent's side of the terminal."""
    global _folder
    _folder = child.folder
    current_scope.set(None)


def _start(scope: Scope, child: _Child, told: dict[str, Any], number: int, ours: int) -> int:
    """Let the child become its program, or end it in a replay; return its number."""
    given = {"args": told["command"], "cwd": told["cwd"]}
    command = ProgramStart.of(given)
    if told["env"]:
        command = ProgramStart(command.title, {**command.question, "env": told["env"]})
    acts = Acts(command, scope)

    def live() -> dict[str, int]:
        file_uses.command_begins()
        acts.real = True
        return {"pid": number}

    try:
        started: int = perform(command.effect(), live)["pid"]
    finally:
        with entered(None):
            child.answer(number, go=acts.real)
    process_numbers.add(started, acts)
    descriptors.register(ours, TerminalEnd(ours, acts))
    return started


class _Child:
    """A child at a terminal, as its parent sees it before it becomes a program."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="reenact-terminal-"))
        for name in (_ASKING, _ANSWER):
            os.mkfifo(self.folder / name)
        self._asking = os.open(self.folder / _ASKING, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def heard(self, number: int) -> dict[str, Any] | None:
        """Wait for what the child tells; None if it ends before, or goes on as Python."""
        poll = select.poll()
        poll.register(self._asking, select.POLLIN)
        for _ in range(_MOST_SLICES):
            if poll.poll(_SLICE * 1000):
                return self._read()
            if system.has_ended(number):
                return None
        return None

    def _read(self) -> dict[str, Any] | None:
        pieces = []
        os.set_blocking(self._asking, True)
        while piece := os.read(self._asking, 1 << 16):
            pieces.append(piece)
        try:
            told: dict[str, Any] = json.loads(b"".join(pieces))
        except ValueError:
            return None
        return told

    def answer(self, number: int, *, go: bool) -> None:
        """Let the child go on, or end it. Harmless where it has ended."""
        if not go:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
        else:
            self._let_go(number)
        self.forget()

    def forget(self) -> None:
        """Take the pipes away. A child that asks later goes on without an answer."""
        with entered(None):
            os.close(self._asking)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _let_go(self, number: int) -> None:
        while not system.has_ended(number):
            with suppress(OSError):
                # Without a reader it cannot be opened: the child has not come that far.
                answer = os.open(self.folder / _ANSWER, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                os.write(answer, b"go")
                os.close(answer)
                return
            select.select([], [], [], 0.001)
