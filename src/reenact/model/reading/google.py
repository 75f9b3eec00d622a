"""Google's generateContent, of Gemini's API and of Vertex."""

from __future__ import annotations

from typing import Any

from reenact.model.plain import compact
from reenact.model.reading.call import Message, ModelCall, ToolCall, Usage
from reenact.model.reading.openai import problem
from reenact.model.reading.text import number, schemas


def read(model: str, request: dict[str, Any], replies: list[dict[str, Any]]) -> ModelCall:
    """A call of generateContent (one reply) or streamGenerateContent (several)."""
    system = request.get("systemInstruction") or request.get("system_instruction")
    given = [_message(item) for item in request.get("contents") or () if isinstance(item, dict)]
    candidates = [candidate for reply in replies for candidate in (reply.get("candidates") or ())[:1]]
    pieces = [_message(candidate.get("content") or {}) for candidate in candidates]
    counts = next((reply["usageMetadata"] for reply in reversed(replies) if reply.get("usageMetadata")), None)
    answer = Message(
        "assistant",
        "".join(piece.text for piece in pieces),
        tuple(call for piece in pieces for call in piece.calls),
        thinking="".join(piece.thinking for piece in pieces),
    )
    return ModelCall(
        model=next((str(reply["modelVersion"]) for reply in replies if reply.get("modelVersion")), model),
        messages=(*([Message("system", _message(system).text)] if isinstance(system, dict) else []), *given),
        answer=answer if pieces else None,
        usage=_usage(counts) if counts else None,
        provider="google",
        streamed=len(replies) > 1,
        problem=next((text for reply in replies if (text := problem(reply))), ""),
        finish=next(
            (str(one["finishReason"]) for one in reversed(candidates) if one.get("finishReason")), ""
        ),
        schemas=schemas(request.get("tools")),
    )


def _message(item: dict[str, Any]) -> Message:
    said: list[str] = []
    thought: list[str] = []
    calls: list[ToolCall] = []
    role, name = str(item.get("role") or "user").replace("model", "assistant"), ""
    for part in item.get("parts") or ():
        call = part.get("functionCall") or part.get("function_call")
        result = part.get("functionResponse") or part.get("function_response")
        if call:
            calls.append(ToolCall(str(call.get("name")), call.get("args"), str(call.get("id") or "")))
        elif result:
            role, name = "tool", str(result.get("name") or "")
            said.append(_given(result.get("response")))
        elif part.get("inlineData") or part.get("inline_data"):
            said.append("[file]")
        else:
            (thought if part.get("thought") else said).append(str(part.get("text") or ""))
    return Message(role, "".join(said), tuple(calls), name, thinking="".join(thought))


def _given(response: Any) -> str:
    if isinstance(response, dict):
        response = response.get("result", response.get("return_value", response))
    return compact(response)


def _usage(counts: dict[str, Any]) -> Usage:
    made = number(counts.get("candidatesTokenCount")) + number(counts.get("thoughtsTokenCount"))
    return Usage(number(counts.get("promptTokenCount")), made, number(counts.get("cachedContentTokenCount")))
