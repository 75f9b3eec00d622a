"""Google's generateContent, of Gemini's API and of Vertex."""

from __future__ import annotations

from typing import Any

from reenact.core.messages.call import Message, ModelCall, ToolCall, Usage
from reenact.core.messages.message_text import number, schemas
from reenact.core.messages.openai import problem
from reenact.core.model.plain import compact


def read(
    model: str, request: dict[str, Any], replies: list[dict[str, Any]], *, streamed: bool = False
) -> ModelCall:
    """Return a call of generateContent (one reply) or streamGenerateContent (several)."""
    system = request.get("systemInstruction") or request.get("system_instruction")
    instructions = _messages(system) if isinstance(system, dict) and system.get("parts") else []
    contents = request.get("contents") or ()
    given = [one for item in contents if isinstance(item, dict) for one in _messages(item)]
    candidates = [candidate for reply in replies for candidate in (reply.get("candidates") or ())[:1]]
    pieces = [one for candidate in candidates for one in _messages(candidate.get("content") or {})]
    counts = next((reply["usageMetadata"] for reply in reversed(replies) if reply.get("usageMetadata")), None)
    answer = Message(
        "assistant",
        "".join(piece.text for piece in pieces),
        tuple(call for piece in pieces for call in piece.calls),
        thinking="".join(piece.thinking for piece in pieces),
    )
    return ModelCall(
        model=next((str(reply["modelVersion"]) for reply in replies if reply.get("modelVersion")), model),
        messages=(*(Message("system", one.text) for one in instructions), *given),
        answer=answer if pieces else None,
        usage=_usage(counts) if counts else None,
        provider="google",
        tools=_offered(request.get("tools")),
        streamed=streamed,
        problem=next((text for reply in replies if (text := problem(reply) or _blocked(reply))), ""),
        finish=next(
            (str(one["finishReason"]) for one in reversed(candidates) if one.get("finishReason")), ""
        ),
        schemas=schemas(request.get("tools")),
    )


def _offered(tools: Any) -> tuple[str, ...]:
    """Return the names of functions, and of Google's own tools (`googleSearch`)."""
    found: list[str] = []
    for tool in tools if isinstance(tools, list) else []:
        declared = tool.get("functionDeclarations") or tool.get("function_declarations")
        found += [str(one.get("name") or "") for one in declared] if declared else list(tool)
    return tuple(found)


def _blocked(reply: dict[str, Any]) -> str:
    """Return the reason that the prompt was blocked, or empty."""
    feedback = reply.get("promptFeedback") or {}
    reason = feedback.get("blockReason")
    return f"blocked: {feedback.get('blockReasonMessage') or reason}" if reason else ""


def _messages(item: dict[str, Any]) -> list[Message]:
    """Return the messages of one content: each result of a tool in it is one."""
    said: list[str] = []
    thought: list[str] = []
    calls: list[ToolCall] = []
    found: list[Message] = []
    for part in item.get("parts") or ():
        call = part.get("functionCall") or part.get("function_call")
        result = part.get("functionResponse") or part.get("function_response")
        if call:
            calls.append(ToolCall(str(call.get("name")), call.get("args"), str(call.get("id") or "")))
        elif result:
            name, id = str(result.get("name") or ""), str(result.get("id") or "")
            found.append(Message("tool", _given(result.get("response")), name=name, id=id))
        else:
            (thought if part.get("thought") else said).append(_said(part))
    if said or calls or thought or not found:
        role = str(item.get("role") or "user").replace("model", "assistant")
        found.append(Message(role, "".join(said), tuple(calls), thinking="".join(thought)))
    return found


def _said(part: dict[str, Any]) -> str:
    if any(part.get(key) for key in ("inlineData", "inline_data", "fileData", "file_data")):
        return "[file]"
    code, ran = part.get("executableCode"), part.get("codeExecutionResult")
    if isinstance(code, dict):
        return str(code.get("code") or "")
    return str((ran.get("output") if isinstance(ran, dict) else part.get("text")) or "")


def _given(response: Any) -> str:
    if isinstance(response, dict):
        response = response.get("result", response.get("return_value", response))
    return compact(response)


def _usage(counts: dict[str, Any]) -> Usage:
    made = number(counts.get("candidatesTokenCount")) + number(counts.get("thoughtsTokenCount"))
    given = number(counts.get("promptTokenCount")) + number(counts.get("toolUsePromptTokenCount"))
    return Usage(given, made, number(counts.get("cachedContentTokenCount")))
