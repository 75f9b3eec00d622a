"""The messages, answer, tools and tokens of a model call's span, by any instrumentation.

Sources are tried in this order: the provider's own request and answer, kept verbatim (OpenInference, Google's ADK); the
present GenAI conventions; OpenInference's and OpenLLMetry's numbered attributes; the conventions' earlier events;
others, as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from reenact.analysis.interchange.importers.otel import span_answer as answers
from reenact.analysis.interchange.importers.otel.span import Span, nested, said
from reenact.analysis.interchange.importers.otel.span_answer import TracedAnswer
from reenact.analysis.interchange.importers.otel.span_message import Chat, chat, messages
from reenact.core.dataclass import dataclass
from reenact.core.messages.message_text import content, counted

_SETTINGS = (
    "temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty", "stop_sequences",
    "choice.count", "reasoning.level",
)  # fmt: skip
_LISTS = ("messages", "contents", "input")


@dataclass(slots=True)
class Read:
    """The content of a model call's span; None for missing parts."""

    messages: Chat | None = None
    choices: list[TracedAnswer] | None = None
    tools: list[Any] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    request: dict[str, Any] | None = None
    reply: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    asked: str = ""
    answered: str = ""
    rough: bool = False

    @property
    def name(self) -> str:
        """The requested model, or the one that answered."""
        return self.asked or self.answered or "model"

    def args(self) -> dict[str, Any]:
        """Return the question in a recording's form."""
        if self.request is not None:
            return {"model": self.name, **self.request}
        found: dict[str, Any] = {"model": self.name, "messages": self.messages or [], **self.settings}
        return {**found, "tools": self.tools} if self.tools else found

    def value(self) -> dict[str, Any] | None:
        """Return the answer in a recording's form, a chat completion; None without an answer."""
        if self.reply is not None:
            return (
                self.reply
                if self.reply.get("usage") or not self.usage
                else {**self.reply, "usage": self.usage}
            )
        if self.choices is None and self.usage is None:
            return None
        found: dict[str, Any] = {
            "object": "chat.completion",
            "model": self.answered or self.name,
            "choices": [
                {"index": place, "message": one.message, "finish_reason": one.finish or None}
                for place, one in enumerate(self.choices or ())
            ],
        }
        return {**found, "usage": self.usage} if self.usage else found

    def filled(self, other: Read) -> Read:
        """Add the parts that only another instrumentation of the same call has."""
        return Read(
            self.messages
            if self.messages is not None and not self.rough
            else other.messages or self.messages,
            self.choices if self.choices is not None else other.choices,
            self.tools or other.tools,
            self.settings or other.settings,
            self.request or other.request,
            self.reply or other.reply,
            self.usage or other.usage,
            self.asked or other.asked,
            self.answered or other.answered,
            self.rough and other.rough,
        )


def read(span: Span) -> Read:
    """Read the content of a model call's span."""
    found = Read(
        asked=span.text("gen_ai.request.model", "ai.model.id", "llm.request.model"),
        answered=span.text("gen_ai.response.model", "llm.model_name", "embedding.model_name", "model"),
        usage=answers.usage(span),
        tools=_tools(span),
        settings=_settings(span),
    )
    _take_request(span, found)
    _take_answer(span, found)
    finishes = said(
        span.get(
            "gen_ai.response.finish_reasons", "ai.response.finishReason", "gen_ai.response.finish_reason"
        )
    )
    finishes = finishes if isinstance(finishes, list) else [finishes] if finishes else []
    for place, one in enumerate(found.choices or ()):
        if place < len(finishes):
            # The attribute has the provider's finish reason, the message that of the conventions.
            one.finish = answers.finish(finishes[place])
    return found


def _take_request(span: Span, found: Read) -> None:
    for value in _verbatim(span, "gcp.vertex.agent.llm_request", "input.value", "langfuse.input"):
        if not any(isinstance(value.get(key), list) for key in _LISTS):
            continue
        made = _of_request(value)
        if made is not None:
            found.messages = made
            found.tools = found.tools or _normal(_offered(value))
            found.asked = found.asked or str(value.get("model") or "")
            if _in_openai_form(value.get("messages")):
                found.request = value
            return
    for value in _requests(span):
        made = chat(value)
        if made:
            found.messages, found.tools = _without_tools(made, value, found.tools)
            break
    instructions = chat([{"role": "system", "parts": parts}]) if (parts := _instructions(span)) else None
    if instructions and (found.messages or [{}])[0].get("role") != "system":
        found.messages = [*instructions, *(found.messages or [])]
    if found.messages is None:
        given = said(
            span.get("input.value", "langfuse.input", "traceloop.entity.input", "ai.prompt", "gen_ai.prompt")
        )
        if given not in (None, "", [], {}):
            # Take the prompts out of the list of all arguments.
            words = nested(span.attributes, "llm.prompts") or given
            found.messages = [{"role": "user", "content": _words(words)}]
            found.rough = True


def _words(given: Any) -> str:
    if isinstance(given, dict) and isinstance(given.get("args"), list) and len(given["args"]) == 1:
        given = given["args"][0]
    if (
        isinstance(given, list)
        and given
        and all(isinstance(item, dict) and "prompt.text" in item for item in given)
    ):
        given = [item["prompt.text"] for item in given]
    return content(given)


def _instructions(span: Span) -> Any:
    given = said(span.get("gen_ai.system_instructions"))
    return [given] if isinstance(given, str) else given


def _of_request(value: dict[str, Any]) -> Chat | None:
    config = value.get("config") if isinstance(value.get("config"), dict) else {}
    assert isinstance(config, dict)
    system = next(
        (
            given
            for given in (
                value.get("system"), value.get("instructions"), value.get("system_instruction"),
                value.get("systemInstruction"), config.get("system_instruction"),
            )
            if given
        ),
        None,
    )  # fmt: skip
    made = chat(next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None))
    if made is None:
        return None
    if isinstance(system, dict):
        system = system.get("parts") or system.get("text")
    before = chat([{"role": "system", "content": system}]) if system else None
    return [*(before or []), *made]


def _in_openai_form(items: Any) -> bool:
    """Return whether messages need no conversion: no content is in parts of its own."""
    return isinstance(items, list) and all(
        isinstance(item, dict)
        and "role" in item
        and "parts" not in item
        and (
            not isinstance(item.get("content"), list)
            or all(
                isinstance(part, dict) and part.get("type") in ("text", "image_url", "input_audio", "file")
                for part in item["content"]
            )
        )
        for item in items
    )


def _verbatim(span: Span, *names: str) -> Iterator[dict[str, Any]]:
    for name in names:
        value = said(span.attributes.get(name))
        if isinstance(value, dict):
            yield value


def _requests(span: Span) -> Iterator[Any]:
    yield span.get("gen_ai.input.messages")
    if (details := span.event("gen_ai.client.inference.operation.details")) is not None:
        yield details.attributes.get("gen_ai.input.messages")
    yield _unprefixed(nested(span.attributes, "llm.input_messages"))
    yield nested(span.attributes, "gen_ai.prompt")
    yield _told(span, answer=False)
    for name in ("ai.prompt.messages", "langfuse.input", "input.value", "gen_ai.prompt"):
        value = said(span.attributes.get(name))
        yield value.get("messages", value) if isinstance(value, dict) else value
    if (event := span.event("gen_ai.content.prompt")) is not None:
        yield event.attributes.get("gen_ai.prompt")


def _take_answer(span: Span, found: Read) -> None:
    for value in _verbatim(span, "gcp.vertex.agent.llm_response", "output.value", "langfuse.output"):
        if isinstance(value.get("choices"), list) and value["choices"] and found.request is not None:
            found.reply = value
        made = answers.choices(value)
        if made:
            found.choices = made
            if counted(value.get("usage")) is not None:
                # The provider's own count; an attribute may include the counts of other spans.
                found.usage = value["usage"]
            return
    for value in _answers(span):
        made = answers.choices(value)
        if made:
            found.choices = made
            return


def _answers(span: Span) -> Iterator[Any]:
    yield span.get("gen_ai.output.messages")
    if (details := span.event("gen_ai.client.inference.operation.details")) is not None:
        yield details.attributes.get("gen_ai.output.messages")
    yield _unprefixed(nested(span.attributes, "llm.output_messages"))
    yield nested(span.attributes, "gen_ai.completion")
    yield _told(span, answer=True)
    spoken, asked = span.get("ai.response.text"), said(span.get("ai.response.toolCalls"))
    if spoken or asked:
        yield {"role": "assistant", "content": spoken, "tool_calls": asked or []}
    if (event := span.event("gen_ai.content.completion")) is not None:
        yield event.attributes.get("gen_ai.completion")
    yield span.get(
        "langfuse.output",
        "output.value",
        "gen_ai.completion",
        "ai.response.object",
        "traceloop.entity.output",
    )


def _unprefixed(items: Any) -> Any:
    """Return OpenInference's messages, each of which is under the key `message`."""
    if not isinstance(items, list):
        return None
    return [
        item["message"] if isinstance(item, dict) and isinstance(item.get("message"), dict) else item
        for item in items
    ]


def _told(span: Span, *, answer: bool) -> list[Any] | None:
    """Return the messages in events: those of the question, or those of the answer.

    Conventions before 1.37 and Pydantic AI's `events` have messages there.
    """
    listed = said(span.get("events", "all_messages_events"))
    told = [dict(item) for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    told += [{"event.name": event.name, **event.attributes} for event in span.events]
    found: list[Any] = []
    for item in told:
        name = str(item.get("event.name") or "")
        if not name.startswith("gen_ai.") or not name.endswith((".message", ".choice")):
            continue
        last = name == "gen_ai.choice"
        if last != answer:
            continue
        role = name.split(".")[1]
        body = {
            key: said(value) if key in ("message", "tool_calls", "content") else value
            for key, value in item.items()
        }
        if "message" in body and not isinstance(body["message"], dict):
            body = {**body, "content": body.pop("message")}
        found.append(
            body if "role" in body or "message" in body else {**body, "role": "assistant" if last else role}
        )
    return found or None


def _without_tools(made: Chat, value: Any, tools: list[Any] | None) -> tuple[Chat, list[Any] | None]:
    """Remove the offered tools, which LangChain's callback puts among the messages."""
    listed = said(value)
    contents = (
        [item.get("content") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    )
    offered = [given for given in contents if isinstance(given, dict) and given.get("type") == "function"]
    if not offered:
        return made, tools
    kept = [
        one
        for item in listed
        if not (isinstance(item, dict) and item.get("content") in offered)
        for one in messages(said(item)) or ()
    ]
    return kept, tools or _normal(offered)


def _settings(span: Span) -> dict[str, Any]:
    found = {name: value for name in _SETTINGS if (value := span.get(f"gen_ai.request.{name}")) is not None}
    given = said(span.get("llm.invocation_parameters", "langfuse.parameters"))
    if isinstance(given, dict):
        left = ("model", "model_name", "messages", "tools", "input", "http_options", "system_instruction")
        found = {
            **{key: value for key, value in given.items() if key not in left and value is not None},
            **found,
        }
    return found


def _tools(span: Span) -> list[Any] | None:
    listed = said(span.get("gen_ai.tool.definitions"))
    if not isinstance(listed, list):
        listed = [
            said((item.get("tool") or item).get("json_schema") or item)
            for item in nested(span.attributes, "llm.tools") or ()
            if isinstance(item, dict)
        ] or nested(span.attributes, "llm.request.functions")
    if not listed and isinstance(offered := said(span.get("model_request_parameters")), dict):
        listed = [*(offered.get("function_tools") or ()), *(offered.get("output_tools") or ())]
    return _normal(listed or said(span.get("ai.prompt.tools")))


def _offered(request: dict[str, Any]) -> Any:
    config = request.get("config")
    return request.get("tools") or (config.get("tools") if isinstance(config, dict) else None)


def _normal(listed: Any) -> list[Any] | None:
    """Return tools in OpenAI's form, or None."""
    found = []
    for item in listed if isinstance(listed, list) else []:
        tool = said(item)
        if not isinstance(tool, dict):
            continue
        for one in tool.get("function_declarations") or tool.get("functionDeclarations") or [tool]:
            about = one["function"] if isinstance(one.get("function"), dict) else one
            schema = next((said(about[key]) for key in _SCHEMAS if about.get(key)), None)
            function = {
                key: about[key] for key in ("name", "description", "strict") if about.get(key) is not None
            }
            if schema is not None:
                function["parameters"] = schema
            if function.get("name"):
                found.append({"type": "function", "function": function})
    return found or None


_SCHEMAS = ("parameters", "parameters_json_schema", "input_schema", "inputSchema", "parametersJsonSchema")
