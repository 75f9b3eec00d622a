"""Commands that `subprocess` starts, and `os.system` and `os.popen`.

Each act is an effect: the start, what is written to it, each of its outputs, a signal, its exit. In a replay no program
is started. `subprocess.run` is one effect, with the whole output and the exit status.
"""

from __future__ import annotations

import inspect
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.stdlib.command import Acts, ProgramStart, answered, asks_the_machine, hidden
from reenact.adapters.stdlib.redirection import Redirection
from reenact.core.boundary import Call, Scope, current, draw, entered, perform


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
    wrap(os, "kill", _kill)
    if hasattr(os, "killpg"):
        wrap(os, "killpg", _kill)
        wrap(os, "getpgid", _group)


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

    numbers: dict[int, Started] = {}  # noqa: RUF012
    """The commands by their process numbers."""

    def __init__(self, popen: Any, given: inspect.BoundArguments, scope: Scope) -> None:
        self.acts = Acts(ProgramStart.of(given.arguments), scope)
        self.popen = popen
        self.bufsize = given.arguments.get("bufsize", -1)
        self.redirection = Redirection(given.arguments)

    def start(self, spawn: Callable[[], None], close: Callable[[], None]) -> None:
        """Start it, or take the recorded start."""

        def live() -> dict[str, int]:
            spawn()
            self.acts.real = True
            return {"pid": self.popen.pid}

        self.popen.pid = perform(self.acts.command.effect(), live)["pid"]
        if not self.acts.real:
            self.popen._child_created = True
            close()
        Started.numbers[self.popen.pid] = self

    def fill_pipes(self) -> None:
        """Put pipes in the place of its streams whose reads and writes are recorded."""
        popen = self.popen
        if popen.stdout is not None:
            popen.stdout = _again(popen.stdout, lambda raw: _Outlet(raw, self.acts, "output"), self.bufsize)
        if popen.stderr is not None:
            popen.stderr = _again(popen.stderr, lambda raw: _Outlet(raw, self.acts, "errors"), self.bufsize)
        if popen.stdin is not None:
            popen.stdin = _again(popen.stdin, lambda raw: _Inlet(raw, self.acts), self.bufsize)

    def outcome(self) -> dict[str, Any]:
        """Return what is known of its end, for the recording."""
        code = self.popen.returncode
        if code is None:
            return {"exit": None}
        written = self.redirection.written()
        self.redirection.close()
        return {"exit": code, "files": written} if written else {"exit": code}

    def ended(self, outcome: Mapping[str, Any]) -> None:
        """Take the recorded end."""
        if outcome.get("exit") is None:
            return
        self.popen.returncode = outcome["exit"]
        if not self.acts.real:
            self.redirection.write(outcome.get("files", {}))
            self.redirection.close()
        Started.numbers.pop(self.popen.pid, None)


# -- the streams of a started command ------------------------------------------------------------------------------


class _Outlet(io.RawIOBase):
    """The raw stream of a command's output: each piece that is read is recorded."""

    def __init__(self, raw: Any, acts: Acts, part: str) -> None:
        self._raw = raw
        self._acts = acts
        self._part = part
        self._call: Call | None = None
        self._recorded: Iterator[bytes] | None = None
        self._left = b""
        self._over = False
        self.reenact_pipe = acts.command.title

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        _refuse_number(self._acts, f"its {self._part}")
        return int(self._raw.fileno())

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not self._left and not self._over:
            self._left = self._next(len(view))
        data, self._left = self._left[: len(view)], self._left[len(view) :]
        view[: len(data)] = data
        return len(data)

    def _next(self, most: int) -> bytes:
        if self._call is None:
            self._call = self._acts.begin(self._part)
            if self._call is None:
                # Within another effect, which is answered whole.
                return os.read(self._raw.fileno(), most)
            if self._call.answer is not None:
                self._recorded = _pieces(self._call)
            else:
                self._call.returned(None, stream=True)
        if self._recorded is not None:
            data = next(self._recorded, b"")
        else:
            with entered(self._call.inner):
                data = os.read(self._raw.fileno(), most)
            if data:
                self._call.chunk(data)
            else:
                self._call.over()
        self._over = not data
        return data

    def close(self) -> None:
        if not self.closed:
            if self._call is not None and self._call.answer is None and not self._over:
                self._call.close()
            self._raw.close()
        super().close()


class _Inlet(io.RawIOBase):
    """The raw stream of a command's input: each piece that is written is an effect."""

    def __init__(self, raw: Any, acts: Acts) -> None:
        self._raw = raw
        self._acts = acts

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        _refuse_number(self._acts, "its input")
        return int(self._raw.fileno())

    def write(self, data: Any) -> int:
        piece = bytes(data)
        number = self._raw.fileno()
        written: int = self._acts.perform("input", lambda: os.write(number, piece), data=piece)
        return written

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def _pieces(call: Call) -> Iterator[bytes]:
    call.serve()
    yield from call.pieces()


def _again(stream: Any, raw: Callable[[Any], Any], bufsize: int) -> Any:
    """Return the same stream, text or binary, over another raw stream."""
    text = stream if isinstance(stream, io.TextIOWrapper) else None
    how = (text.encoding, text.errors, text.line_buffering, text.write_through) if text is not None else None
    binary = stream.detach() if text is not None else stream
    inner = raw(binary.detach() if isinstance(binary, (io.BufferedReader, io.BufferedWriter)) else binary)
    size = bufsize if bufsize > 1 else io.DEFAULT_BUFFER_SIZE
    if bufsize == 0 and how is None:
        return inner
    outer: Any = io.BufferedReader(inner, size) if inner.readable() else io.BufferedWriter(inner, size)
    if how is None:
        return outer
    return io.TextIOWrapper(outer, how[0], how[1], line_buffering=how[2], write_through=how[3])


def _refuse_number(acts: Acts, what: str) -> None:
    """A pipe's number is asked for: with it the program reads past the recording."""
    frame = sys._getframe(2)
    scope = current()
    if scope is None or scope.hidden or frame.f_globals.get("__name__") in ("subprocess", "io", __name__):
        return
    title = acts.command.title
    if scope.run.replaying and not acts.real:
        raise scope.run.handler.refuse(
            f"{scope.path}/process:{title}",
            f"the program uses {what} by the number of its pipe, which has no recorded answers ({title})",
            "read and write the streams themselves, or let it run: live=['process']",
        )
    if not scope.run.replaying:
        scope.run.handler.note(
            "unrecorded", f"the program uses a pipe of {title} by its number: a replay needs --live process"
        )


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
    if started is None or popen.returncode is not None or hidden():
        return wrapped(*args, **kwargs)

    def live() -> dict[str, Any]:
        try:
            wrapped(*args, **kwargs)
        except subprocess.TimeoutExpired:
            return {"exit": None}
        return started.outcome()

    outcome = started.acts.perform("exit", live)
    started.ended(outcome)
    if outcome["exit"] is None:
        raise subprocess.TimeoutExpired(popen.args, args[0] if args else kwargs.get("timeout") or 0)
    return popen.returncode


def _poll(wrapped: Callable[..., Any], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    started: Started | None = popen.__dict__.get("_reenact")
    if (
        started is None
        or popen.returncode is not None
        or ((args or kwargs or hidden()) and started.acts.real)
    ):
        return wrapped(*args, **kwargs)
    if args or kwargs:
        # It is forgotten by the program; there is no process to look for.
        popen.returncode = 0
        return 0

    def done() -> bool:
        started.acts.check()
        return wrapped() is not None

    if not draw(f"process:{started.acts.command.title}:done", done):
        return None
    started.ended(started.acts.perform("exit", started.outcome))
    return popen.returncode


def _communicate(
    wrapped: Callable[..., Any], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    started: Started | None = popen.__dict__.get("_reenact")
    if started is None or hidden():
        return wrapped(*args, **kwargs)

    def live() -> dict[str, Any]:
        try:
            out, err = wrapped(*args, **kwargs)
        except subprocess.TimeoutExpired as error:
            return {"exit": None, "output": error.output, "errors": error.stderr}
        return {**started.outcome(), "output": out, "errors": err}

    given = args[0] if args else kwargs.get("input")
    outcome = started.acts.perform("communicate", live, **({} if given is None else {"input": given}))
    started.ended(outcome)
    if outcome["exit"] is None:
        limit = args[1] if len(args) > 1 else kwargs.get("timeout")
        raise subprocess.TimeoutExpired(popen.args, limit or 0, outcome["output"], outcome["errors"])
    for stream in (popen.stdin, popen.stdout, popen.stderr):
        if stream is not None and not started.acts.real:
            stream.close()
    return outcome["output"], outcome["errors"]


def _signal(wrapped: Callable[..., None], popen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    started: Started | None = popen.__dict__.get("_reenact")
    if started is None or popen.returncode is not None or hidden():
        wrapped(*args, **kwargs)
        return

    def live() -> dict[str, Any]:
        wrapped(*args, **kwargs)
        return started.outcome()

    started.ended(started.acts.perform("signal", live, signal=int(args[0] if args else kwargs["sig"])))


def _kill(wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    started = Started.numbers.get(args[0]) if args else None
    if started is None or hidden():
        wrapped(*args, **kwargs)
        return
    started.acts.perform("signal", lambda: wrapped(*args, **kwargs), signal=int(args[1]), by=wrapped.__name__)


def _group(wrapped: Callable[..., int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    started = Started.numbers.get(args[0]) if args else None
    if started is None or started.acts.real:
        return wrapped(*args, **kwargs)
    return int(args[0])


def _run(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    own: dict[str, Any] = {
        name: kwargs[name] for name in ("input", "capture_output", "timeout", "check") if name in kwargs
    }
    given = bound(args, {name: value for name, value in kwargs.items() if name not in own})
    scope = current()
    if scope is None or scope.hidden or given is None or not records(given, sys._getframe(2)):
        return wrapped(*args, **kwargs)
    redirection = Redirection(given.arguments)
    ran = False

    def live() -> dict[str, Any]:
        nonlocal ran
        ran = True
        try:
            done = wrapped(*args, **{**kwargs, "check": False})
        except subprocess.TimeoutExpired as error:
            return {"exit": None, "output": error.output, "errors": error.stderr, **_files(redirection)}
        return {"exit": done.returncode, "output": done.stdout, "errors": done.stderr, **_files(redirection)}

    try:
        outcome = perform(ProgramStart.of(given.arguments).effect(**_asked(own, given)), live)
        if not ran:
            redirection.write(outcome.get("files", {}))
    finally:
        redirection.close()
    command = given.arguments["args"]
    if outcome["exit"] is None:
        raise subprocess.TimeoutExpired(
            command, own.get("timeout") or 0, outcome["output"], outcome["errors"]
        )
    finished = subprocess.CompletedProcess(command, outcome["exit"], outcome["output"], outcome["errors"])
    if own.get("check"):
        finished.check_returncode()
    return finished


def _asked(own: Mapping[str, Any], given: inspect.BoundArguments) -> dict[str, Any]:
    """Return what else the answer of `run` depends on."""
    names = ("text", "universal_newlines", "encoding", "errors")
    text = any(given.arguments.get(name) for name in names)
    return {**({"input": own["input"]} if own.get("input") is not None else {}), "text": text}


def _files(redirection: Redirection) -> dict[str, Any]:
    written = redirection.written()
    return {"files": written} if written else {}


def _system(
    wrapped: Callable[[Any], int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int:
    given = bound(args or (kwargs.get("command"),), {"shell": True})
    scope = current()
    if scope is None or scope.hidden or given is None or not records(given, sys._getframe(2)):
        return wrapped(*args, **kwargs)
    status: int = perform(
        ProgramStart.of(given.arguments).effect(), lambda: {"exit": wrapped(*args, **kwargs)}
    )["exit"]
    return status


def records(given: inspect.BoundArguments, frame: FrameType) -> bool:
    """Return True if this start comes into the recording, and is answered from it.

    What an event loop starts is hooked where the loop does it (`loop_processes.py`).
    """
    by_loop = frame.f_globals.get("__name__", "").startswith("asyncio.")
    return not by_loop and answered(given) and not asks_the_machine(frame)
