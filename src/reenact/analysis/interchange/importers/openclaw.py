"""OpenClaw's telemetry: one line for each message, agent turn and tool call of all sessions.

An agent's turn has the session's messages at that time: the longest list of a session is its conversation. Tools of a
session without messages are imported alone, without their results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.chat import effects_of, last_answer, moment
from reenact.analysis.interchange.importers.otel.span_message import messages
from reenact.analysis.interchange.importers.run import Happened, ImportedRun, by_name
from reenact.core.model.plain import compact

_EVENTS = {"agent.start", "agent.end", "tool.start", "tool.end"}


def is_openclaw(document: Any) -> bool:
    """Return True for lines of its telemetry plugin."""
    return isinstance(document, list) and any(
        isinstance(line, dict) and str(line.get("type")) in _EVENTS and "sessionKey" in line
        for line in document
    )


def openclaw(document: Any, path: Path) -> ImportedRun:
    """Return all sessions of the file as one run; each but the longest is an agent of its own."""
    lines = [line for line in document if isinstance(line, dict) and line.get("sessionKey")]
    chats: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        told = line.get("messages")
        known = chats.setdefault(str(line["sessionKey"]), [])
        if isinstance(told, list) and len(told) > len(known):
            chats[str(line["sessionKey"])] = told
    main = max(chats, key=lambda key: len(chats[key]), default="")
    effects = [
        effect
        for key, chat in chats.items()
        for effect in effects_of(_chat(chat, "" if key == main else key))
    ]
    alone = list(_alone(lines, effects, main))
    effects = sorted((*effects, *alone), key=lambda effect: effect.began.timestamp() if effect.began else inf)
    note = f"{len(alone)} tool calls have no model call: the file does not contain their sessions' messages"
    return ImportedRun(
        name=path.stem,
        effects=effects,
        tags=tuple(
            f"agent:{agent}" for agent in dict.fromkeys(str(line.get("agentId") or "main") for line in lines)
        ),
        output=last_answer(effect for effect in effects if not effect.agent),
        source={"format": "openclaw", "file": str(path), "sessions": list(chats)},
        notes=(note,) if alone else (),
    )


def _chat(told: list[Any], agent: str) -> Iterator[dict[str, Any]]:
    for item in told:
        if not isinstance(item, dict):
            continue
        # A message from another session is a user's message.
        given = {**item, "role": "user"} if item.get("role") == "custom" else item
        for made in messages(given) or ():
            about: dict[str, Any] = {"timestamp": item.get("timestamp"), "agent": agent}
            if item.get("isError"):
                about["is_error"] = True
            if made["role"] == "assistant":
                about |= {"model": item.get("model"), "usage": _counted(item.get("usage"))}
            yield {**made, **{key: value for key, value in about.items() if value is not None}}


def _counted(usage: Any) -> dict[str, Any] | None:
    if not isinstance(usage, dict):
        return None
    cached, written = usage.get("cacheRead") or 0, usage.get("cacheWrite") or 0
    given = (usage.get("input") or 0) + cached + written
    return {
        "input_tokens": given,
        "output_tokens": usage.get("output") or 0,
        "cache_read_tokens": cached,
        "cache_write_tokens": written,
    }


def _alone(lines: list[dict[str, Any]], effects: list[Happened], main: str) -> Iterator[Happened]:
    """Yield the tool calls that are in no conversation."""
    told = Counter((effect.name, compact(effect.args)) for effect in effects if effect.kind == "tool")
    ends = [line for line in lines if line.get("type") == "tool.end"]
    for line in lines:
        if line.get("type") != "tool.start":
            continue
        name, args, key = str(line.get("toolName") or "tool"), by_name(line.get("params")), line["sessionKey"]
        end = next((one for one in ends if (one["sessionKey"], one.get("toolName")) == (key, name)), {})
        if end:
            ends.remove(end)
        if told[name, compact(args)]:
            told[name, compact(args)] -= 1
            continue
        began = moment(line.get("ts"))
        took = timedelta(milliseconds=end.get("durationMs") or 0)
        error = str(end.get("error") or "the tool failed") if end.get("success") is False else None
        agent = "" if key == main else str(key)
        yield Happened("tool", name, args, None, error, agent, began, began + took if began else None)
