"""Chats in OpenAI's form, and similar ones.

A list of messages is a run: each assistant message a model call that saw all messages before it, each tool message a
tool call. Tool results are paired with their calls by their place: real logs use an id for several calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from reenact.analysis.interchange.importers.run import Happened, ImportedRun, Seen
from reenact.core.messages.message_text import content
from reenact.core.model.plain import parsed

Message = dict[str, Any]

_LISTS = ("messages", "traj", "trajectory", "history", "conversation", "conversations")
_TITLES = ("name", "task_id", "instance_id", "question_ID", "id", "session_id")
ASSISTANTS = {"assistant", "ai", "model", "gpt"}
_TOOLS = {"tool", "function", "ipython"}


def is_message(item: Any) -> bool:
    """Return whether the value is one message of a chat."""
    return (
        isinstance(item, dict)
        and isinstance(item.get("role"), str)
        and ("content" in item or "tool_calls" in item)
    )


def is_chat(items: Any) -> bool:
    """Return whether the value is a list of messages."""
    return isinstance(items, list) and bool(items) and all(is_message(item) for item in items)


def messages_of(item: Any) -> list[Message] | None:
    """Return the messages of a run, bare or under one of the usual names, or None."""
    if is_chat(item):
        return list(item)
    if isinstance(item, dict):
        return next((list(item[key]) for key in _LISTS if is_chat(item.get(key))), None)
    return None


def run_of(item: Any, name: str, file: str) -> ImportedRun:
    """Return one run from a list of messages, or from an object that has one."""
    messages = messages_of(item) or []
    about = {key: value for key, value in item.items() if key not in _LISTS} if isinstance(item, dict) else {}
    effects = list(effects_of(messages, model=str(about.get("model") or "")))
    reward = about.get("reward")
    failed = isinstance(reward, (int, float)) and reward < 1
    return ImportedRun(
        name=name + _title(about),
        effects=effects,
        tags=_tags(about),
        status="error" if failed else "ok",
        problem=f"the run was given reward {reward:g}" if failed else "",
        output=last_answer(effects),
        source={"format": "chat", "file": file, **about},
    )


def _title(about: dict[str, Any]) -> str:
    title = next((f" {key.removesuffix('_id')} {about[key]}" for key in _TITLES if key in about), "")
    return title + (f" trial {about['trial']}" if "trial" in about else "")


def _tags(about: dict[str, Any]) -> tuple[str, ...]:
    found = [("task", about.get("task_id")), ("trial", about.get("trial")), ("reward", about.get("reward"))]
    return tuple(
        f"{key}:{value:g}" if isinstance(value, float) else f"{key}:{value}"
        for key, value in found
        if value is not None
    )


def last_answer(effects: Iterable[Happened]) -> Any:
    """Return the text of the last model call's answer, as the run's output."""
    answers = [
        effect.value for effect in effects if effect.kind == "model" and isinstance(effect.value, dict)
    ]
    return content(answers[-1].get("content")) or None if answers else None


def effects_of(messages: Iterable[Message], *, model: str = "") -> Iterator[Happened]:
    """Yield the model and tool calls in a list of messages."""
    history: list[Message] = []
    asked: list[Message] = []
    before: datetime | None = None
    after: list[Happened] = []
    for message in flat(messages):
        now = moment(message.get("timestamp") or message.get("created_at"))
        role = str(message["role"])
        if role in ASSISTANTS:
            # A person's messages are in the next call's; only those that no call got are effects of their own.
            after.clear()
            name = str(message.get("model") or model or "assistant")
            args = {"messages": Seen(history)}
            yield Happened(
                "model", name, args, message, agent=_agent(message), began=before or now, ended=now
            )
            asked = _calls(message)
        elif asked or role in _TOOLS:
            yield _tool(message, asked, before, now)
        elif history:
            after.append(
                Happened("user", "message", {}, content(message.get("content")), began=now, ended=now)
            )
        history.append(message)
        before = now or before
    yield from after


def _agent(message: Message) -> str:
    agent = str(message.get("agent") or "")
    return "" if agent in ("main", "primary") else agent


def _calls(message: Message) -> list[Message]:
    calls = [call for call in message.get("tool_calls") or () if isinstance(call, dict)]
    if not calls and message.get("function_call"):
        calls = [{"function": message["function_call"]}]
    if not calls and str(message.get("action") or "").strip():
        # SWE-agent's thought and action; the observation follows as the next message.
        calls = [
            {"function": {"name": "shell", "arguments": {"command": str(message["action"]).rstrip("\n")}}}
        ]
    return list(calls)


def _tool(message: Message, asked: list[Message], before: datetime | None, now: datetime | None) -> Happened:
    ids = message.get("tool_call_ids") or [message.get("tool_call_id")]
    known = next(
        (call for call in asked if call.get("id") is not None and call["id"] in ids),
        asked[0] if asked else {},
    )
    if known:
        asked.remove(known)
    function = known.get("function") or known
    name = str(function.get("name") or message.get("name") or "tool")
    args = parsed(function.get("arguments"))
    if not isinstance(args, dict):
        args = {} if args in (None, "") else {"arguments": args}
    error = content(message.get("content")) if message.get("is_error") else None
    id = str(known.get("id") or message.get("tool_call_id") or "")
    return Happened(
        "tool", name, args, message.get("content"), error, _agent(message), before or now, now, id=id
    )


def flat(messages: Iterable[Message]) -> Iterator[Message]:
    """Convert messages with tool blocks in their content (Anthropic's form) to OpenAI's form."""
    for message in messages:
        blocks = [block for block in message.get("content") or () if isinstance(block, dict)]
        kinds = {block.get("type") for block in blocks}
        if "tool_use" in kinds:
            calls = [
                {
                    "id": block.get("id"),
                    "type": "function",
                    "function": {"name": block.get("name"), "arguments": block.get("input")},
                }
                for block in blocks
                if block.get("type") == "tool_use"
            ]
            said = [block for block in blocks if block.get("type") != "tool_use"]
            yield {**message, "content": said or None, "tool_calls": calls}
        elif "tool_result" in kinds:
            for block in blocks:
                if block.get("type") == "tool_result":
                    yield {
                        "role": "tool",
                        "tool_call_id": block.get("tool_use_id"),
                        "content": content(block.get("content")),
                        **({"is_error": True} if block.get("is_error") else {}),
                        **{key: message[key] for key in ("timestamp", "agent") if key in message},
                    }
            if said := [block for block in blocks if block.get("type") != "tool_result"]:
                yield {**message, "content": said}
        else:
            yield message


def moment(value: Any) -> datetime | None:
    """Parse a time as logs write it: ISO 8601, or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
