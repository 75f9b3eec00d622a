"""Read the OpenAI Agents SDK's requests, as recorded: as items of the Responses API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reenact.core.messages import openai
from reenact.core.messages.call import EffectView, ModelCall
from reenact.core.messages.growing import Memory


def speaks(args: Any) -> bool:
    """Return True for the arguments of such a request."""
    return "handoffs" in args and "input" in args


def reader(asked: EffectView) -> ModelCall | None:
    """Read a model call that the adapter recorded; None for any other effect."""
    if asked.kind != "model" or not speaks(asked.args):
        return None
    return read(asked.name, asked.args, asked.value, asked.chunks, asked.memory)


def read(
    name: str, args: dict[str, Any], value: Any, chunks: list[Any], memory: Memory | None = None
) -> ModelCall:
    """Return a recorded model call. The model is offered a handoff as a tool."""
    tools = [tool for tool in (*args.get("tools", ()), *args["handoffs"]) if isinstance(tool, dict)]
    request = {
        "model": name,
        "input": args["input"],
        "instructions": args.get("instructions"),
        "tools": tools,
    }
    call = openai.read_responses(request, value, [event(chunk) for chunk in chunks], memory)
    return replace(call, streamed=bool(args.get("stream")))


def event(chunk: Any) -> Any:
    """Return a stream's event, without the SDK's wrapper."""
    return chunk["event"] if isinstance(chunk, dict) and "event" in chunk else chunk


def output(value: Any, chunks: list[Any]) -> list[Any]:
    """Return an answer's items, whole or streamed, in the form of later requests."""
    if chunks:
        for chunk in reversed(chunks):
            response = event(chunk).get("response")
            if isinstance(response, dict) and response.get("output"):
                return list(response["output"])
        return [
            found["item"] for found in map(event, chunks) if found.get("type") == "response.output_item.done"
        ]
    return list(value["output"]) if isinstance(value, dict) and "output" in value else []
