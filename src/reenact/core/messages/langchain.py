"""LangChain's chat models, as the adapter records them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from reenact.core.messages.call import EffectView, Message, ModelCall, StreamedAnswer, ToolCall, Usage
from reenact.core.messages.growing import Memory
from reenact.core.messages.message_text import arguments, assembled, content, number, schemas

_Chat: TypeAlias = tuple[tuple[Message, ...], dict[str, str]]
_THOUGHT = ("thinking", "reasoning")
_CALLED = ("tool_use", "tool_call", "function_call", "input_json_delta", "tool_call_chunk")


def speaks(args: Mapping[str, Any]) -> bool:
    """Return True for the arguments of a request that the adapter recorded."""
    return "class" in args and "api" in args and isinstance(args.get("messages"), list)


def reader(asked: EffectView) -> ModelCall | None:
    """Read a model call that the adapter recorded; None for any other effect."""
    if asked.kind != "model" or not speaks(asked.args):
        return None
    return read(asked.name, asked.args, asked.value, asked.chunks, asked.memory)


def read(name: str, args: dict[str, Any], reply: Any, chunks: list[Any], memory: Memory) -> ModelCall:
    """Return a call of a chat model, whole or streamed."""
    answer, last = (_streamed(chunks) if chunks else _whole(reply)) or (None, {})
    about = last.get("response_metadata") or {}
    tools = [tool for tool in args.get("tools") or () if isinstance(tool, dict)]
    return ModelCall(
        model=str(about.get("model_name") or about.get("model") or name),
        messages=memory.follow("langchain", args["messages"], lambda: ((), {}), _more)[0],
        answer=answer,
        usage=_usage(last.get("usage_metadata")),
        provider=str(args.get("api") or ""),
        tools=tuple(
            str((tool.get("function") or tool).get("name") or tool.get("type") or "") for tool in tools
        ),
        streamed=bool(chunks),
        finish=str(about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason") or ""),
        schemas=schemas(tools),
    )


def _more(before: _Chat, items: list[Any]) -> _Chat:
    names = dict(before[1])
    found = [*before[0]]
    for item in items:
        id = str(item.get("tool_call_id") or "")
        name = str(item.get("name") or names.get(id, ""))
        calls = _calls(item)
        names |= {call.id: call.name for call in calls}
        said, thought = _apart(item.get("content"))
        found.append(Message(str(item.get("role")), content(said), calls, name, id, thought))
    return tuple(found), names


def _apart(given: Any) -> tuple[Any, str]:
    """Return the text of a content, and the reasoning in it; tool calls are elsewhere."""
    if not isinstance(given, list):
        return given, ""
    blocks = [block for block in given if not (isinstance(block, dict) and block.get("type") in _CALLED)]
    thought = [block for block in blocks if isinstance(block, dict) and block.get("type") in _THOUGHT]
    said = [block for block in blocks if block not in thought]
    return said, "\n".join(
        str(block.get("thinking") or block.get("reasoning") or block.get("text") or "") for block in thought
    ).strip()


def _calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    good = [
        ToolCall(str(call.get("name")), call.get("args"), str(call.get("id") or ""))
        for call in message.get("tool_calls") or ()
    ]
    bad = [
        ToolCall(str(call.get("name")), arguments(call.get("args")), str(call.get("id") or ""))
        for call in message.get("invalid_tool_calls") or ()
    ]
    return (*good, *bad)


def _whole(reply: Any) -> tuple[Message, dict[str, Any]] | None:
    generations = reply.get("generations") if isinstance(reply, dict) else None
    if not generations:
        return None
    message = dict(generations[0]["message"])
    message["response_metadata"] = {
        **(reply.get("llm_output") or {}),
        **(generations[0].get("generation_info") or {}),
        **(message.get("response_metadata") or {}),
    }
    said, thought = _apart(message.get("content"))
    return Message("assistant", content(said), _calls(message), thinking=thought), message


def _streamed(chunks: list[Any]) -> tuple[Message, dict[str, Any]]:
    draft = StreamedAnswer()
    last: dict[str, Any] = {"response_metadata": {}, "usage_metadata": {}}
    for chunk in chunks:
        message = chunk.get("message") or {}
        said, thought = _apart(message.get("content"))
        draft.text.append(content(said))
        draft.thinking.append(thought)
        for call in message.get("tool_call_chunks") or ():
            key = call.get("index") if call.get("index") is not None else call.get("id")
            draft.call(
                key, str(call.get("name") or ""), str(call.get("args") or ""), str(call.get("id") or "")
            )
        last["response_metadata"] |= {
            **(chunk.get("generation_info") or {}),
            **(message.get("response_metadata") or {}),
        }
        for name, count in (message.get("usage_metadata") or {}).items():
            # Some providers spread the counts over several chunks, which add up.
            known = last["usage_metadata"].get(name)
            last["usage_metadata"][name] = count if not isinstance(known, int) else known + count
    return assembled(draft), last


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict) or not (usage.get("input_tokens") or usage.get("output_tokens")):
        return None
    given = usage.get("input_token_details") or {}
    return Usage(
        number(usage.get("input_tokens")),
        number(usage.get("output_tokens")),
        number(given.get("cache_read")),
        number(given.get("cache_creation")),
    )
