"""Runs in the forms of Who&When, SWE-agent, Claude Code, Pydantic AI and the lesson."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.chat import effects_of, is_chat, is_message, last_answer, moment
from reenact.analysis.interchange.importers.file_acts import of_claude_code
from reenact.analysis.interchange.importers.run import Happened, ImportedRun, Seen, Workspace
from reenact.core.messages import pydantic_ai
from reenact.core.messages.message_text import content

_TERMINALS = {"computerterminal", "computer_terminal"}


# -- Who&When: one failed run of several agents a file -------------------------------------------------------


def is_who_and_when(document: Any) -> bool:
    """Return True for a failed run with the agent and the step that annotators blamed."""
    return isinstance(document, dict) and is_chat(document.get("history")) and "mistake_step" in document


def who_and_when(document: Any, path: Path) -> ImportedRun:
    """Read each message after the task as an agent's answer to all messages before it."""
    about = {key: value for key, value in document.items() if key != "history"}
    effects = list(_speakers(document["history"]))
    agent, step = str(about.get("mistake_agent") or ""), str(about.get("mistake_step") or "")
    return ImportedRun(
        name=f"{path.parent.name} {path.stem}".strip(),
        effects=effects,
        tags=tuple(
            f"{key}:{value}" for key, value in (("mistake", agent), ("level", about.get("level"))) if value
        ),
        status="error",
        problem=f"{agent} at message {step}: {about.get('mistake_reason') or 'the answer was wrong'}",
        output=last_answer(effects),
        source={"format": "who-and-when", "file": str(path), **about},
    )


def _speakers(history: list[dict[str, Any]]) -> Iterator[Happened]:
    seen: list[dict[str, Any]] = []
    for message in history:
        # "Orchestrator (-> WebSurfer)" is the orchestrator, talking to the other.
        speaker = str(message.get("name") or _bare(str(message["role"])) or "agent")
        if seen and speaker != "human":
            if speaker.lower() in _TERMINALS:
                yield Happened(
                    "tool",
                    speaker,
                    {"message": seen[-1].get("content")},
                    message.get("content"),
                    agent=speaker,
                )
            else:
                said = {"role": "assistant", "name": speaker, "content": message.get("content")}
                yield Happened("model", speaker, {"messages": Seen(seen)}, said, agent=speaker)
        seen.append({"role": "user", "name": speaker, "content": message.get("content")})


# -- SWE-agent -----------------------------------------------------------------------------------------------


def is_swe_agent(document: Any) -> bool:
    """Return True for SWE-agent's .traj: a history of messages, with thought and action."""
    return (
        isinstance(document, dict)
        and is_chat(document.get("history"))
        and ("trajectory" in document or any("action" in message for message in document["history"]))
    )


def swe_agent(document: Any, path: Path) -> ImportedRun:
    """Read a history, which has all that the model saw, and the run's exit status."""
    info = document.get("info") if isinstance(document.get("info"), dict) else {}
    status = str(info.get("exit_status") or "")
    effects = list(effects_of(document["history"], model=_swe_model(document)))
    good = not status or status == "submitted"
    return ImportedRun(
        name=path.name.removesuffix(".json").removesuffix(".traj")[:60],
        effects=effects,
        tags=(f"exit:{status}",) if status else (),
        status="ok" if good else "error",
        problem="" if good else f"the agent left with {status}",
        output=info.get("submission") or last_answer(effects),
        source={
            "format": "swe-agent",
            "file": str(path),
            "environment": document.get("environment"),
            "info": info,
        },
    )


def _swe_model(document: Any) -> str:
    replay = document.get("replay_config")
    found = re.search(r'"(?:model_name|name)":\s*"([^"]+)"', str(replay)) if replay else None
    return found[1] if found else ""


# -- Claude Code ---------------------------------------------------------------------------------------------


def is_claude_code(document: Any) -> bool:
    """Return True for a session's JSON lines: messages of Anthropic's form in an envelope each."""
    return (
        isinstance(document, list)
        and any(isinstance(line, dict) and "sessionId" in line for line in document)
        and any(isinstance(line, dict) and is_message(line.get("message")) for line in document)
    )


def claude_code(document: Any, path: Path) -> ImportedRun:
    """Read a session's messages. Each subagent's side chain is a conversation of its own."""
    lines = [line for line in document if isinstance(line, dict) and is_message(line.get("message"))]
    chats: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        agent = str(line.get("agentId") or "sidechain") if line.get("isSidechain") else ""
        _add(chats.setdefault(agent, []), line, agent)
    results = dict(_results(lines))
    effects = [
        replace(effect, acts=of_claude_code(results[effect.id])) if effect.id in results else effect
        for chat in chats.values()
        for effect in effects_of(chat)
    ]
    if len(chats) > 1:
        effects.sort(key=lambda effect: effect.began.timestamp() if effect.began else 0.0)
    known = {
        key: lines[0].get(key) for key in ("sessionId", "cwd", "version", "gitBranch") if lines[0].get(key)
    }
    return ImportedRun(
        name=path.stem,
        effects=effects,
        output=last_answer(effect for effect in effects if not effect.agent),
        source={"format": "claude-code", "file": str(path), **known},
        workspace=Workspace(str(known.get("cwd") or ""), branch=str(known.get("gitBranch") or "")),
    )


def _results(lines: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the `toolUseResult` of lines with one tool's result, by the id of its call."""
    for line in lines:
        blocks = [block for block in _blocks(line["message"].get("content")) if isinstance(block, dict)]
        ids = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        failed = any(block.get("is_error") for block in blocks)
        if len(ids) == 1 and not failed and line.get("toolUseResult"):
            yield ids[0], line["toolUseResult"]


def _add(chat: list[dict[str, Any]], line: dict[str, Any], agent: str) -> None:
    """Add a line to its conversation. The blocks of an answer are lines with the same id."""
    message = {**line["message"], "timestamp": line.get("timestamp"), "agent": agent}
    usage = message.get("usage")
    if isinstance(usage, dict):
        message["usage"] = _counted(usage)
    last = chat[-1] if chat else {}
    if message["role"] == "assistant" and message.get("id") and message["id"] == last.get("id"):
        message["content"] = [*_blocks(last.get("content")), *_blocks(message.get("content"))]
        chat[-1] = message
    else:
        chat.append(message)


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []


def _counted(usage: dict[str, Any]) -> dict[str, Any]:
    """Add cached tokens to the input's: Anthropic counts them apart, a recording does not."""
    cached, written = (usage.get(f"cache_{verb}_input_tokens") or 0 for verb in ("read", "creation"))
    given = (usage.get("input_tokens") or 0) + cached + written
    return {**usage, "input_tokens": given, "cache_read_tokens": cached, "cache_write_tokens": written}


# -- Pydantic AI ---------------------------------------------------------------------------------------------


def is_pydantic_ai(document: Any) -> bool:
    """Return True for the JSON of `ModelMessagesTypeAdapter`."""
    return pydantic_ai.speaks(document)


def pydantic_ai_run(document: Any, path: Path) -> ImportedRun:
    """Make a model call of each response, with all messages before it, and tool calls of parts."""
    effects = list(_requests(document))
    answer = pydantic_ai.response(document[-1]).text if document[-1].get("kind") == "response" else None
    source = {"format": "pydantic-ai", "file": str(path), "run_id": document[0].get("run_id")}
    return ImportedRun(name=path.stem, effects=effects, output=answer, source=source)


def _requests(document: list[dict[str, Any]]) -> Iterator[Happened]:
    asked: list[Any] = []
    before = None
    for place, message in enumerate(document):
        now = moment(message.get("timestamp"))
        if message.get("kind") == "response":
            name = str(message.get("model_name") or "model")
            args = {"messages": Seen(document, place)}
            yield Happened("model", name, args, message, began=before or now, ended=now)
            asked = list(pydantic_ai.response(message).calls)
        else:
            for part in message.get("parts") or ():
                now = moment(part.get("timestamp")) or now
                kind = part.get("part_kind")
                if kind == "tool-return" or (kind == "retry-prompt" and part.get("tool_name")):
                    yield _returned(part, asked, before, now)
                elif kind == "user-prompt" and place == len(document) - 1:
                    yield Happened("user", "message", {}, content(part.get("content")), began=now, ended=now)
        before = now or before


def _returned(part: dict[str, Any], asked: list[Any], before: Any, now: Any) -> Happened:
    named = [call for call in asked if call.id == part.get("tool_call_id")] or asked
    call = named[0] if named else None
    if call is not None:
        asked.remove(call)
    given = call.args if call is not None else {}
    args = given if isinstance(given, dict) else {} if given is None else {"arguments": given}
    name = str(part.get("tool_name") or "tool")
    failed = part.get("part_kind") == "retry-prompt" or part.get("outcome") in ("failed", "retried", "denied")
    error = content(part.get("content")) if failed else None
    return Happened("tool", name, args, part.get("content"), error, began=before or now, ended=now)


# -- sessions of `reenact.lesson` ----------------------------------------------------------------------------

_LESSON = {"ModelRequest": "request", "ModelResponse": "response"}


def is_lesson(document: Any) -> bool:
    """Return True for the JSON of a `SessionRecord`."""
    messages = document.get("messages") if isinstance(document, dict) and "session_id" in document else None
    return (
        isinstance(messages, list)
        and bool(messages)
        and all(isinstance(each, dict) and each.get("type") in _LESSON for each in messages)
    )


def lesson(document: dict[str, Any], path: Path) -> ImportedRun:
    """Read a session's messages as Pydantic AI's own."""
    provider, _, model = str(document.get("model") or "").rpartition(":")
    messages: list[dict[str, Any]] = [
        {
            "kind": _LESSON[message["type"]],
            "parts": [{**part, "part_kind": part.get("kind")} for part in message["parts"]],
            "model_name": model,
            "provider_name": provider,
        }
        for message in document["messages"]
    ]
    messages[0] |= {"timestamp": document.get("timestamp"), "instructions": document.get("instructions")}
    run = pydantic_ai_run(messages, path)
    about = {key: value for key, value in document.items() if key not in ("messages", "tool_calls")}
    output = document.get("final_output")
    return replace(
        run,
        output=run.output if output in (None, "") else output,
        tags=(f"session:{document['session_id']}",),
        source={"format": "lesson", "file": str(path), **about},
    )


def _bare(role: str) -> str:
    """Return a role without brackets at its end."""
    return role.partition("(")[0].rstrip() if role.endswith(")") and "\n" not in role else role
