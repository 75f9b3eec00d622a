"""Commands that `subprocess` starts, and `os.system` and `os.popen`.

Each act is an effect: the start, what is written to it, each of its outputs, a signal, its exit. In a replay no program
is started. `subprocess.run` is one effect, with the whole output and the exit status.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import descriptors, file_uses, process_numbers, start_options
from reenact.adapters.stdlib.command import Acts, ProgramStart, answered, asks_the_machine
from reenact.adapters.stdlib.pipes import CommandInput, CommandOutput, TerminalEnd, again
from reenact.adapters.stdlib.redirection import Redirection
from reenact.core.boundary import Scope, current, perform


def install() -> None:
    """Hook what a started command does. The start itself is hooked in `processes.py`."""
    wrap(subprocess, "run", _run)
    for name, hook in (
        ("_execute_child", _execute),
        ("_wait", _wait),
        ("_internal_poll", _poll),
        ("communicate", _communicate),
        ("send_signal", _signal),
    ):
        wrap(subprocess.Popen, name, hook)
    wrap(os, "system", _system)
    process_numbers.install()
    start_options.install()


_SIGNATURE = inspect.signature(subprocess.Popen.__init__)
_EXECUTE = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]


def bound(arguments: tuple[Any, ...], options: Mapping[str, Any]) -> inspect.BoundArguments | None:
    """Return the arguments of a start by their names, or None if they do not fit."""
    try:
        return _SIGNATURE.bind(None, *arguments, **options)
    except TypeError:
        return None


class Started:
    """A command that the program has started, for real or in the recording.

    Args:
        popen: The program's object for it.
        given: The arguments with which that was made.
        scope: The scope of the start.
    """

    def __init__(self, popen: Any, given: inspect.BoundArguments, scope: Scope) -> None:
        self.acts = Acts(ProgramStart.of(given.arguments), scope)
        self.popen = popen
        self.bufsize = given.arguments.get("bufsize", -1)
        self.redirection = Redirection(given.arguments)
        handles = (given.arguments.get(name) for name in ("stdin", "stdout", "stderr"))
        self.terminals = {
            number for handle in handles if (number := descriptors.terminal_of(handle)) is not None
        }
        """The program's numbers of the terminals that the command gets."""

    def start(self, spawn: Callable[[], None], close: Callable[[], None]) -> None:
        """Start it, or take the recorded start."""
        command = self.acts.command

        def live() -> dict[str, Any]:
            file_uses.command_begins(self.redirection.paths)
            spawn()
            self.acts.real = True
            return command.answer({"pid": self.popen.pid})

        answer = perform(command.effect(), live, begun=file_uses.command_asked)
        self.popen.pid = answer["pid"]
        if not self.acts.real:
            command.answered(answer)
            self.popen._child_created = True
            close()
        process_numbers.add(self.popen.pid, self.acts)

    def fill_pipes(self) -> None:
        """Put pipes in the place of its streams whose reads and writes are recorded."""
        popen = self.popen
        if popen.stdout is not None:
            popen.stdout = again(
                popen.stdout, lambda raw: CommandOutput(raw, self.acts, "output"), self.bufsize
            )
        if popen.stderr is not None:
            popen.stderr = again(
                popen.stderr, lambda raw: CommandOutput(raw, self.acts, "errors"), self.bufsize
            )
        if popen.stdin is not None:
            popen.stdin = again(popen.stdin, lambda raw: CommandInput(raw, self.acts), self.bufsize)
        for number in self.terminals:
            descriptors.register(number, TerminalEnd(number, self.acts))

    def outcome(self) -> dict[str, Any]:
        """Return what is known of its end, for the recording."""
        code = self.popen.returncode
        if code is None:
            return {"exit": None}
        written = self.redirection.written()
        self.redirection.close()
        file_uses.command_ended(wrote=self.redirection.paths)
        return {"exit": code, "files": written} if written else {"exit": code}

    def ended(self, outcome: Mapping[str, Any]) -> None:
        """Take the recorded end."""
        if outcome.get("exit") is None:
            return
        self.popen.returncode = outcome["exit"]
        if not self.acts.real:
            self.redirection.write(outcome.get("files", {}))
            self.redirection.close()
        process_numbers.remove(self.popen.pid)


# -- hooks ---------------------------------------------------------------------------------------------------------


def start(wrapped: Callable[..., None], popen: Any, given: inspect.BoundArguments, scope: Scope) -> None:
    """Make a `Popen` whose acts are effects."""
    started = Started(popen, given, scope)
    popen._reenact = started
    try:
        wrapped(*given.args[1:], **given.kwargs)
    except BaseException:
        started.redirection.close()
        raise
    started.fill_pipes()


def _execute(wrapped: Callable[..., None], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    started: Started | None = popen.__dict__.get("_reenact")
    if started is None:
        wrapped(*args, **kwargs)
        return
    pipes = _EXECUTE.bind(popen, *args, **kwargs).arguments
    names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
    started.start(
        lambda: wrapped(*args, **kwargs), lambda: popen._close_pipe_fds(*(pipes[name] for name in names))
    )


def _wait(wrapped: Callable[..., int], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    started: Started | None = popen.__dict__.get("_reenact")
    if started is None or popen.returncode is not None or listening() is None:
        return wrapped(*args, **kwargs)

    limit = args[0] if args else kwargs.get("timeout")

    def live() -> dict[str, Any]:
        try:
            wrapped(*args, **kwargs)
        except subprocess.TimeoutExpired:
            return {"exit": None, "limit": limit}
        return started.outcome()

    outcome = started.acts.perform("exit", live, limit=limit)
    started.ended(outcome)
    if outcome["exit"] is None:
        raise subprocess.TimeoutExpired(popen.args, limit or 0)
    return popen.returncode


def _poll(wrapped: Callable[..., Any], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    started: Started | None = popen.__dict__.get("_reenact")
    if (
        started is None
        or popen.returncode is not None
        or ((args or kwargs or listening() is None) and started.acts.real)
    ):
        return wrapped(*args, **kwargs)
    if args or kwargs:
        # It is forgotten by the program; there is no process to look for.
        popen.returncode = 0
        return 0

    if not started.acts.draw("done", lambda: wrapped() is not None):
        return None
    started.ended(started.acts.perform("exit", started.outcome))
    return popen.returncode


def _communicate(
    wrapped: Callable[..., Any], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    started: Started | None = popen.__dict__.get("_reenact")
    if started is None or listening() is None:
        return wrapped(*args, **kwargs)

    limit = args[1] if len(args) > 1 else kwargs.get("timeout")

    def live() -> dict[str, Any]:
        try:
            out, err = wrapped(*args, **kwargs)
        except subprocess.TimeoutExpired as error:
            return {"exit": None, "output": error.output, "errors": error.stderr, "limit": limit}
        return {**started.outcome(), "output": out, "errors": err}

    given = args[0] if args else kwargs.get("input")
    asked = {} if given is None else {"input": given}
    outcome = started.acts.perform("communicate", live, limit=limit, **asked)
    started.ended(outcome)
    if outcome["exit"] is None:
        raise subprocess.TimeoutExpired(popen.args, limit or 0, outcome["output"], outcome["errors"])
    for stream in (popen.stdin, popen.stdout, popen.stderr):
        if stream is not None and not started.acts.real:
            stream.close()
    return outcome["output"], outcome["errors"]


def _signal(wrapped: Callable[..., None], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    started: Started | None = popen.__dict__.get("_reenact")
    if started is None or popen.returncode is not None or listening() is None:
        wrapped(*args, **kwargs)
        return

    def live() -> dict[str, Any]:
        wrapped(*args, **kwargs)
        return started.outcome()

    started.ended(started.acts.perform("signal", live, signal=int(args[0] if args else kwargs["sig"])))


def _run(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    own: dict[str, Any] = {
        name: kwargs[name] for name in ("input", "capture_output", "timeout", "check") if name in kwargs
    }
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} if own.get("capture_output") else {}
    given = bound(args, {**piped, **{name: value for name, value in kwargs.items() if name not in own}})
    scope = current()
    if scope is None or scope.hidden or given is None or not records(given, sys._getframe(2)):
        return wrapped(*args, **kwargs)
    limit = own.get("timeout")

    def run() -> dict[str, Any]:
        try:
            done = wrapped(*args, **{**kwargs, "check": False})
        except subprocess.TimeoutExpired as error:
            return {"exit": None, "output": error.output, "errors": error.stderr, "limit": limit}
        return {"exit": done.returncode, "output": done.stdout, "errors": done.stderr}

    outcome = _to_its_end(given, run, ProgramStart.of(given.arguments), limit=limit, **_asked(own, given))
    command = given.arguments["args"]
    if outcome["exit"] is None:
        raise subprocess.TimeoutExpired(command, limit or 0, outcome["output"], outcome["errors"])
    finished = subprocess.CompletedProcess(command, outcome["exit"], outcome["output"], outcome["errors"])
    if own.get("check"):
        finished.check_returncode()
    return finished


def _asked(own: Mapping[str, Any], given: inspect.BoundArguments) -> dict[str, Any]:
    """Return what else the answer of `run` depends on."""
    names = ("text", "universal_newlines", "encoding", "errors")
    text = any(given.arguments.get(name) for name in names)
    return {**({"input": own["input"]} if own.get("input") is not None else {}), "text": text}


def _system(
    wrapped: Callable[[Any], int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int:
    given = bound(args or (kwargs.get("command"),), {"shell": True})
    scope = current()
    if scope is None or scope.hidden or given is None or not records(given, sys._getframe(2)):
        return wrapped(*args, **kwargs)
    return waited_for(given, lambda: wrapped(*args, **kwargs))


def waited_for(given: inspect.BoundArguments, run: Callable[[], int]) -> int:
    """Run a command to its end, or take the recorded end; return its exit status."""
    started = ProgramStart.of(given.arguments, streams=False)
    status: int = _to_its_end(given, lambda: {"exit": run()}, started)["exit"]
    return status


def _to_its_end(
    given: inspect.BoundArguments, run: Callable[[], dict[str, Any]], started: ProgramStart, **asked: Any
) -> dict[str, Any]:
    """Run a command to its end, or take the recorded end, with the files it writes into."""
    redirection, ran = Redirection(given.arguments, waited=True), False

    def live() -> dict[str, Any]:
        nonlocal ran
        ran = True
        file_uses.command_begins(redirection.paths)
        try:
            ended = run()
        finally:
            file_uses.command_ended(wrote=redirection.paths)
        written = redirection.written()
        return started.answer({**ended, "files": written} if written else ended)

    try:
        outcome: dict[str, Any] = perform(started.effect(**asked), live, begun=file_uses.command_asked)
        if not ran:
            started.answered(outcome)
            redirection.write(outcome.get("files", {}))
    finally:
        redirection.close()
    return outcome


def records(given: inspect.BoundArguments, frame: FrameType) -> bool:
    """Return True if this start comes into the recording, and is answered from it.

    What an event loop starts is hooked where the loop does it (`loop_processes.py`).
    """
    by_loop = frame.f_globals.get("__name__", "").startswith("asyncio.")
    return not by_loop and answered(given) and not asks_the_machine(frame)
