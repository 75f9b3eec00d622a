"""The kind of a span: a model call, a tool, an agent, another effect of an agent, or none."""

from __future__ import annotations

import re

from reenact.analysis.interchange.importers.otel.span import Span, said

MODEL, TOOL, AGENT, NOTHING = "model", "tool", "agent", ""

_OPERATIONS = {
    "chat": MODEL, "text_completion": MODEL, "generate_content": MODEL, "completion": MODEL, "responses": MODEL,
    "execute_tool": TOOL, "invoke_agent": AGENT, "create_agent": AGENT, "invoke_workflow": AGENT, "plan": AGENT,
    "chain": AGENT, "embeddings": "embedding", "retrieval": "retrieval", "search_memory": "retrieval",
}  # fmt: skip
_OPENINFERENCE = {
    "LLM": MODEL, "TOOL": TOOL, "AGENT": AGENT, "CHAIN": AGENT, "EMBEDDING": "embedding", "RETRIEVER": "retrieval",
    "RERANKER": "retrieval", "GUARDRAIL": "guardrail", "EVALUATOR": "evaluation",
}  # fmt: skip
_OBSERVATIONS = {
    "GENERATION": MODEL, "TOOL": TOOL, "AGENT": AGENT, "CHAIN": AGENT, "EMBEDDING": "embedding",
    "RETRIEVER": "retrieval", "GUARDRAIL": "guardrail", "EVALUATOR": "evaluation",
}  # fmt: skip
_LOOPS = {"tool": TOOL, "agent": AGENT, "workflow": AGENT, "task": AGENT, "llm": MODEL, "chain": AGENT}
_ASKED = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.prompt.0.role",
    "llm.input_messages.0.message.role",
)


def kind(span: Span) -> str:
    """Return the kind: `model`, `tool`, `agent`, `embedding` …; an empty text for no kind."""
    if span.get("reenact.recording.id") is not None:
        # An exported recording of Reenact: the span of the run, which is no agent.
        return NOTHING
    if span.get("reenact.scope") is not None:
        return AGENT
    if (known := _vercel(span)) is not None:
        return known
    asked = str(span.get("gen_ai.operation.name") or "")
    if asked in _OPERATIONS:
        return _OPERATIONS[asked]
    if asked.startswith(("chat.", "text.")):
        # Semantic Kernel's `chat.completions` and the like.
        return MODEL
    if (word := span.text("openinference.span.kind").upper()) in _OPENINFERENCE:
        return _OPENINFERENCE[word]
    if span.get("traceloop.span.kind", "langsmith.span.kind") is not None:
        return _LOOPS.get(span.text("traceloop.span.kind", "langsmith.span.kind"), NOTHING)
    if _is_tool(span):
        return TOOL
    if span.get("llm.request.type") in ("chat", "completion") or any(
        name in span.attributes for name in _ASKED
    ):
        return MODEL
    if (word := span.text("langfuse.type").upper()) in _OBSERVATIONS:
        return _OBSERVATIONS[word]
    return AGENT if span.get("gen_ai.agent.name", "agent_name") is not None else NOTHING


def _vercel(span: Span) -> str | None:
    """Vercel's AI SDK: `ai.generateText` is the agent's loop, `….doGenerate` each call in it."""
    operation = span.text("ai.operationId")
    if not operation:
        return None
    if operation.endswith((".doGenerate", ".doStream")):
        return MODEL
    return TOOL if operation == "ai.toolCall" else "embedding" if operation.endswith(".doEmbed") else AGENT


def _is_tool(span: Span) -> bool:
    if span.get("gen_ai.tool.name", "tool.name") is not None:
        return True
    if span.get("langfuse.type") is None:
        return False
    # LangChain's callback for Langfuse calls a tool a span; its result is a message of a tool.
    given = said(span.get("langfuse.output"))
    if not isinstance(given, dict):
        return span.name.startswith("tool.")
    written = given.get("id")
    return given.get("type") == "tool" or (isinstance(written, list) and written[-1:] == ["ToolMessage"])


def agent_name(span: Span) -> str:
    """Return an agent's name. A scope of Reenact keeps its own (`agent:support`)."""
    if scope := span.text("reenact.scope"):
        return re.sub(r"~\d+$", "", scope.rpartition("/")[2])
    named = span.text(
        "gen_ai.agent.name", "agent_name", "agent.name", "gen_ai.workflow.name", "traceloop.entity.name"
    )
    if named:
        return named
    name = span.name
    for before in (
        "invoke_agent ",
        "create_agent ",
        "invoke_workflow ",
        "agent run ",
        "agent_run ",
        "invocation ",
    ):
        name = name.removeprefix(before)
    bare = name[1:-1] if name[:1] == "[" and name[-1:] == "]" else name
    return bare.removesuffix(" run").strip() or "agent"


def tool_name(span: Span) -> str:
    """Return a tool's name."""
    named = span.text("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
    if named:
        return named
    name = span.name
    for before in ("execute_tool ", "running tool: ", "tools/call ", "tool."):
        name = name.removeprefix(before)
    return name.removesuffix(".tool") or "tool"
