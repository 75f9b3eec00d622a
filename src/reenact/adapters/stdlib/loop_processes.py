"""Commands that an event loop starts: `asyncio.create_subprocess_exec` and `_shell`.

The program gets a transport of ours. What the real one brings (output, the end of a pipe, the exit) is recorded and
reaches the program's protocol in its turn. In a replay there is no real one.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import sys
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import descriptors, file_uses, popen
from reenact.adapters.stdlib.command import Acts, ProgramStart
from reenact.adapters.stdlib.redirection import Redirection
from reenact.core.boundary import Call, aperform

_PIPES = {1: "output", 2: "errors"}


def install() -> None:
    """Hook the start of commands by event loops."""
    # On Windows only the other loop starts commands.
    loop: Any = getattr(asyncio, "ProactorEventLoop", asyncio.SelectorEventLoop)
    wrap(loop, "_make_subprocess_transport", _make)
    for name in ("add_reader", "add_writer"):
        wrap(asyncio.SelectorEventLoop, name, _watch)


class LoopProcess(asyncio.SubprocessTransport):
    """The program's transport of a command: what it brings is recorded or answered.

    Args:
        loop: The program's event loop.
        protocol: The program's protocol.
        acts: The command's acts.
        redirection: The files that it writes into.
    """

    def __init__(
        self,
        loop: AbstractEventLoop,
        protocol: Any,
        acts: Acts,
        redirection: Redirection,
    ) -> None:
        super().__init__()
        self.real: Any = None
        self.number = 0
        self._loop = loop
        self._protocol = protocol
        self.acts = acts
        self.redirection = redirection
        self._code: int | None = None
        self._waiters: list[asyncio.Future[int | None]] = []
        self._pipes: dict[int, Any] = {}
        self._open: set[int] = set()
        self._calls: dict[int | str, Call] = {}
        self._closing = False
        self._early: list[Callable[[], None]] = []

    # -- the transport that the program sees -------------------------------------------------------------------

    def get_pid(self) -> int:
        return self.number

    def get_returncode(self) -> int | None:
        return self._code

    def get_pipe_transport(self, fd: int) -> Any:
        return self._pipes.get(fd)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.real.get_extra_info(name, default) if self.real is not None else default

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True
        for pipe in self._pipes.values():
            pipe.close()
        if self.real is not None:
            self.real.close()

    def send_signal(self, signal: int) -> None:
        number = int(signal)
        self.acts.perform("signal", lambda: self.real.send_signal(number), signal=number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        if sys.platform == "win32":
            self.send_signal(signal.SIGTERM)
        else:
            self.send_signal(signal.SIGKILL)

    async def _wait(self) -> int | None:
        if self._code is not None:
            return self._code
        waiter: asyncio.Future[int | None] = self._loop.create_future()
        self._waiters.append(waiter)
        return await waiter

    # -- what comes from the command ---------------------------------------------------------------------------

    def begin(self, pipes: list[int]) -> None:
        """Ask for all that will come from it, and show it to the program's protocol."""
        for fd in pipes:
            self._open.add(fd)
            self._pipes[fd] = _Input(self) if fd == 0 else _Output()
        for fd in pipes:
            self._ask(fd, _PIPES.get(fd, "input closed"), stream=fd != 0)
        self._ask("exit", "exit", stream=False)
        self._protocol.connection_made(self)
        for event in self._early:
            event()
        self._early.clear()

    def _ask(self, key: int | str, part: str, *, stream: bool) -> None:
        call = self.acts.begin(part)
        if call is None:
            return
        self._calls[key] = call
        if call.answer is not None:
            if stream:
                call.recorded.serve()
                call.recorded.fetch(
                    self._loop, lambda data: self._data(int(key), data), lambda: self._lost(int(key), None)
                )
            elif key == "exit":
                call.recorded.fetch_returned(self._loop, self._exited)
            else:
                call.recorded.fetch_returned(self._loop, lambda found: self._lost(0, _broken(found)))
        elif stream:
            call.returned(None, stream=True)

    def came(self, fd: int, data: bytes) -> None:
        """Take output of the real command."""

        def deliver() -> None:
            self._data(fd, data)
            file_uses.command_printed(self._calls[fd])

        self._live(lambda: self._calls[fd].post(self._loop, data, deliver))

    def lost(self, fd: int, error: BaseException | None) -> None:
        """Take the end of a pipe of the real command."""
        if fd == 0:
            found = {"broken": error is not None}
            self._live(
                lambda: self._calls[0].post_returned(self._loop, found, lambda: self._lost(0, _broken(found)))
            )
        else:
            self._live(lambda: self._calls[fd].post_over(self._loop, lambda: self._lost(fd, None)))

    def exited(self) -> None:
        """Take the exit of the real command."""

        def tell() -> None:
            file_uses.command_ended(self._calls["exit"], self.redirection.paths)
            outcome: dict[str, Any] = {"exit": self.real.get_returncode()}
            if written := self.redirection.written():
                outcome["files"] = written
            self._calls["exit"].post_returned(self._loop, outcome, lambda: self._exited(outcome))

        self._live(tell)

    def _live(self, event: Callable[[], None]) -> None:
        if self._calls:
            event()
        else:
            self._early.append(event)

    def _data(self, fd: int, data: bytes) -> None:
        self._protocol.pipe_data_received(fd, data)

    def _lost(self, fd: int, error: BaseException | None) -> None:
        self._open.discard(fd)
        self._protocol.pipe_connection_lost(fd, error)
        self._finish()

    def _exited(self, outcome: dict[str, Any]) -> None:
        self._code = outcome["exit"]
        if self.real is None:
            self.redirection.write(outcome.get("files", {}))
        self.redirection.close()
        self._protocol.process_exited()
        for waiter in self._waiters:
            if not waiter.cancelled():
                waiter.set_result(self._code)
        self._waiters.clear()
        self._finish()

    def _finish(self) -> None:
        if self._code is not None and not self._open:
            self._loop.call_soon(self._protocol.connection_lost, None)


class _Input(asyncio.WriteTransport):
    """The program's end of a command's standard input."""

    def __init__(self, process: LoopProcess) -> None:
        super().__init__()
        self._process = process
        self._closing = False

    def _pipe(self) -> Any:
        return self._process.real.get_pipe_transport(0)

    def write(self, data: Any) -> None:
        piece = bytes(data)
        if piece:
            self._process.acts.perform("input", lambda: self._pipe().write(piece), data=piece)

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.close()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            if self._process.real is not None:
                self._pipe().close()

    def abort(self) -> None:
        self.close()

    def is_closing(self) -> bool:
        return self._closing

    def get_write_buffer_size(self) -> int:
        return 0

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return 0, 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """All that is written is taken at once."""


class _Output(asyncio.ReadTransport):
    """The program's end of a command's output. All that comes is handed on at once."""

    def __init__(self) -> None:
        super().__init__()
        self._closing = False

    def is_reading(self) -> bool:
        return not self._closing

    def pause_reading(self) -> None:
        """Do nothing: the reader keeps what comes."""

    def resume_reading(self) -> None:
        """Do nothing: nothing was held back."""

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True


class _Real(asyncio.SubprocessProtocol):
    """The protocol of the real transport."""

    def __init__(self, process: LoopProcess) -> None:
        self._process = process

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._process.came(fd, data)

    def pipe_connection_lost(self, fd: int, exc: BaseException | None) -> None:
        self._process.lost(fd, exc)

    def process_exited(self) -> None:
        self._process.exited()

    def pause_writing(self) -> None:
        """The program is not held up: how fast the command reads is not recorded."""

    def resume_writing(self) -> None:
        """See `pause_writing`."""


def _broken(found: dict[str, Any]) -> BaseException | None:
    return BrokenPipeError() if found["broken"] else None


async def _make(
    wrapped: Callable[..., Awaitable[Any]], loop: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if (scope := listening()) is None:
        return await wrapped(*args, **kwargs)
    asked = inspect.signature(wrapped).bind(*args, **kwargs)
    protocol, more = asked.arguments["protocol"], asked.arguments.get("kwargs", {})
    names = ("shell", "stdin", "stdout", "stderr")
    given = popen.bound(
        (asked.arguments["args"],), {**{name: asked.arguments[name] for name in names}, **more}
    )
    terminal = any(descriptors.terminal_of(asked.arguments[name]) is not None for name in names[1:])
    if given is None or terminal or not popen.records(given, sys._getframe()):
        return await wrapped(*args, **kwargs)
    process = LoopProcess(
        loop, protocol, Acts(ProgramStart.of(given.arguments), scope), Redirection(given.arguments)
    )
    asked.arguments["protocol"] = _Real(process)
    process.number = (await _start(process, wrapped, asked))["pid"]
    handles = (asked.arguments["stdin"], asked.arguments["stdout"], asked.arguments["stderr"])
    process.begin([fd for fd, handle in enumerate(handles) if handle == asyncio.subprocess.PIPE])
    return process


async def _start(
    process: LoopProcess, wrapped: Callable[..., Awaitable[Any]], asked: inspect.BoundArguments
) -> dict[str, Any]:
    command = process.acts.command

    async def live() -> dict[str, Any]:
        file_uses.command_begins(process.redirection.paths)
        process.real = await wrapped(*asked.args, **asked.kwargs)
        process.acts.real = True
        return command.answer({"pid": process.real.get_pid()})

    try:
        answer = await aperform(command.effect(), live, begun=file_uses.command_asked)
        if not process.acts.real:
            command.answered(answer)
        return answer
    except BaseException:
        process.redirection.close()
        raise


def _watch(wrapped: Callable[..., Any], loop: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    end = descriptors.end_of(args[0]) if args else None
    if end is not None:
        end.watched()
    return wrapped(*args, **kwargs)
