"""Share the pipe of a session's browser between Playwright and other programs.

The browser listens on no port. All messages between Playwright and the browser pass through here; another client gets
its own protocol session (`Target.attachToBrowserTarget`), and can use nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

Say = Callable[[str], None]
Check = Callable[["ProtocolClient", str, dict[str, Any]], Mapping[str, Any] | None]
"""Checks a client's command, by its method and parameters, which it may change.

None passes the command on; a mapping is its answer. Raises ValueError for a refused command.
"""

_FIRST = 1 << 30
"""The first number of our own commands; Playwright counts from 1."""
_LONGEST = 256 << 20
"""Most bytes of one message."""
_REFUSED = -32000


class ProtocolClient:
    """A program that uses the browser through the endpoint.

    Args:
        say: Called with each message for it.
        gone: Called when the browser has ended.

    Attributes:
        root: The id of its browser session.
        sessions: The ids of all its sessions.
        contexts: The browser contexts that it made.
    """

    def __init__(self, say: Say, gone: Callable[[], None]) -> None:
        self.say, self.gone = say, gone
        self.root = ""
        self.sessions: set[str] = set()
        self.contexts: set[str] = set()


class PipeProtocol:
    """The link between Playwright and a browser. Use it in one event loop.

    Args:
        descriptors: Four ends of pipes: to read Playwright's commands and write its answers, to write the browser's
            commands and read its answers.
        check: Checks each command of a client; None lets all pass.
    """

    def __init__(self, descriptors: list[int], check: Check | None = None) -> None:
        self._descriptors = descriptors
        self._check = check
        self._clients: list[ProtocolClient] = []
        self._waiting: dict[int, tuple[ProtocolClient | None, Any, Any]] = {}
        self._last = _FIRST
        self._tasks: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.BaseTransport] = []

    async def start(self) -> None:
        """Begin to pass messages on."""
        commands, answers, to_browser, from_browser = self._descriptors
        self._browser = await self._writer(to_browser)
        self._playwright = await self._writer(answers)
        for reader, passed in (
            (await self._reader(commands), self._commanded),
            (await self._reader(from_browser), self._answered),
        ):
            self._tasks.append(asyncio.create_task(self._pass(reader, passed)))

    async def stop(self) -> None:
        """Close the pipes, and disconnect the clients."""
        for client in self._clients:
            client.gone()
        self._clients.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for transport in self._transports:
            transport.close()
        for future in [one[1] for one in self._waiting.values() if one[0] is None]:
            future.cancel()

    # -- clients -----------------------------------------------------------------------------------------------

    async def attach(self, client: ProtocolClient) -> None:
        """Give a client its browser session."""
        answer = await self._ask("Target.attachToBrowserTarget", {})
        client.root = answer["sessionId"]
        client.sessions.add(client.root)
        self._clients.append(client)

    async def detach(self, client: ProtocolClient) -> None:
        """End a client's sessions, and the contexts that it made."""
        if client not in self._clients:
            return
        self._clients.remove(client)
        with suppress(asyncio.CancelledError, KeyError):
            for context in client.contexts:
                self._send("Target.disposeBrowserContext", {"browserContextId": context})
            self._send("Target.detachFromTarget", {"sessionId": client.root})

    def received(self, client: ProtocolClient, text: str) -> None:
        """Pass a client's command on; answer an invalid or refused one here."""
        try:
            command = json.loads(text)
            id, method, params = command["id"], command["method"], command.get("params") or {}
            session = command.get("sessionId")
            if not (isinstance(id, int) and isinstance(method, str) and isinstance(params, dict)):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            client.gone()
            return
        answer: dict[str, Any] = {"id": id} | ({} if session is None else {"sessionId": session})
        try:
            if session is not None and session not in client.sessions:
                raise ValueError("Session with given id not found.")
            done = None if self._check is None else self._check(client, method, params)
        except ValueError as error:
            client.say(json.dumps(answer | {"error": {"code": _REFUSED, "message": str(error)}}))
            return
        if done is not None:
            client.say(json.dumps(answer | {"result": dict(done)}))
            return
        self._send(method, params, session=session or client.root, to=(client, id, method))

    # -- within ------------------------------------------------------------------------------------------------

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._send(method, params, to=(None, future, method))
        return await future

    def _send(
        self,
        method: str,
        params: dict[str, Any],
        *,
        session: str | None = None,
        to: tuple[Any, Any, Any] | None = None,
    ) -> None:
        self._last += 1
        if to is not None:
            self._waiting[self._last] = to
        command = {"id": self._last, "method": method, "params": params}
        if session is not None:
            command["sessionId"] = session
        self._browser.write(json.dumps(command).encode() + b"\0")

    def _commanded(self, message: bytes) -> None:
        self._browser.write(message)

    def _answered(self, message: bytes) -> None:
        if self._last == _FIRST:  # no other client was ever attached
            self._playwright.write(message)
            return
        content = json.loads(message[:-1])
        id, session = content.get("id"), content.get("sessionId")
        if isinstance(id, int) and id > _FIRST:
            self._responded(content)
            return
        client = next((one for one in self._clients if session in one.sessions), None)
        if client is None:
            self._playwright.write(message)
            return
        if content.get("method") == "Target.attachedToTarget":
            client.sessions.add(content["params"]["sessionId"])
        elif content.get("method") == "Target.detachedFromTarget":
            client.sessions.discard(content["params"]["sessionId"])
        self._pass_to(client, content)

    def _responded(self, content: dict[str, Any]) -> None:
        client, id, method = self._waiting.pop(content["id"], (None, None, None))
        if client is None:
            if id is not None and not id.done():
                if "error" in content:
                    id.set_exception(RuntimeError(content["error"].get("message")))
                else:
                    id.set_result(content["result"])
            return
        if method == "Target.createBrowserContext" and "result" in content:
            client.contexts.add(content["result"]["browserContextId"])
        content["id"] = id
        self._pass_to(client, content)

    def _pass_to(self, client: ProtocolClient, content: dict[str, Any]) -> None:
        if content.get("sessionId") == client.root:
            del content["sessionId"]
        client.say(json.dumps(content))

    async def _pass(self, reader: asyncio.StreamReader, passed: Callable[[bytes], None]) -> None:
        buffer = bytearray()
        while piece := await reader.read(1 << 16):
            start = len(buffer)
            buffer += piece
            if len(buffer) > _LONGEST:
                break
            while (end := buffer.find(b"\0", start)) >= 0:
                passed(bytes(buffer[: end + 1]))
                del buffer[: end + 1]
                start = 0
            await self._browser.drain()
            await self._playwright.drain()
        # One side has ended, so the other must be closed.
        for transport in self._transports:
            transport.close()
        for client in self._clients:
            client.gone()

    async def _reader(self, descriptor: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
        )
        self._transports.append(transport)
        return reader

    async def _writer(self, descriptor: int) -> asyncio.StreamWriter:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(descriptor, "wb", 0)
        )
        self._transports.append(transport)
        return asyncio.StreamWriter(transport, protocol, None, loop)
