"""An OpenAI-compatible server in a process of its own, so cheap that it is not what is measured.

The model's name says what is wanted: `reply-10240` is one answer of that many characters, `stream-20-0.02` one of 20
chunks, 0.02 s apart. Each answer begins with its number, so that a replay that serves another call's answer, or goes
live, is seen. `GET /hits` says how many chat calls have come.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from benchmarks import material

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nx-request-id: req_%d\r\n"


def completion(content: str, model: str, number: int) -> dict[str, Any]:
    """A chat completion as OpenAI's."""
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_790_000_000 + number,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 2500,
            "completion_tokens": len(content) // 4,
            "total_tokens": 2500 + len(content) // 4,
        },
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


def reply(model: str, number: int) -> bytes:
    """The body that answers a call which asks for `reply-<size>`."""
    return json.dumps(completion(material.text(int(model.split("-")[1]), number), model, number)).encode()


class _Chat(asyncio.Protocol):
    hits = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""
        self._running: set[asyncio.Task[None]] = set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = next((int(h[15:]) for h in head.split(b"\r\n") if h[:15].lower() == b"content-length:"), 0)
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        if head.startswith(b"GET"):
            self._send(str(_Chat.hits).encode())
            return
        _Chat.hits += 1
        model = json.loads(rest[:length])["model"]
        if model.startswith("reply-"):
            self._send(reply(model, _Chat.hits))
        else:
            self._running.add(task := asyncio.ensure_future(self._stream(model, _Chat.hits)))
            task.add_done_callback(self._running.discard)

    def _send(self, body: bytes) -> None:
        head = _HEAD % (b"application/json", _Chat.hits)
        self._transport.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)

    async def _stream(self, model: str, number: int) -> None:
        _, count, delay = model.split("-")
        self._transport.write(_HEAD % (b"text/event-stream", number) + b"transfer-encoding: chunked\r\n\r\n")
        chunk = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": model,
        }
        for index in range(int(count)):
            await asyncio.sleep(float(delay))
            delta = {"role": "assistant", "content": f"word{number}.{index} "}
            self._event({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self._event({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self._chunk(b"data: [DONE]\n\n")
        self._transport.write(b"0\r\n\r\n")

    def _event(self, data: dict[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self._transport.write(b"%x\r\n" % len(data) + data + b"\r\n")


def _serve(pipe: Connection) -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(_Chat, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


@contextmanager
def running() -> Iterator[str]:
    """The server's address, while it runs."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        if not ours.poll(30):
            raise RuntimeError("the benchmark's server did not start")
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()
