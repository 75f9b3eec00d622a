"""A recording as spans: the run, agents, model calls (`chat`), tools (`execute_tool`) ….

Ids come from the recording's own, so that the same recording is the same trace however often it is sent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from reenact.analysis.interchange.exporters.otel import message
from reenact.analysis.interchange.importers.otel.span import Span, SpanEvent, nanoseconds
from reenact.core.messages import ModelCall
from reenact.core.messages.message_text import content
from reenact.core.model.plain import compact
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.web_address import split_address

_INTERNAL, _CLIENT = 1, 3
_PROVIDERS = {
    "google": "gcp.gen_ai", "google-gla": "gcp.gemini", "google-vertex": "gcp.vertex_ai", "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai", "mistral": "mistral_ai", "cohere": "cohere", "xai": "x_ai",
}  # fmt: skip
_MODELS = (
    ("claude", "anthropic"), ("gemini", "gcp.gen_ai"), ("gpt", "openai"), ("o1", "openai"), ("o3", "openai"),
    ("o4", "openai"), ("mistral", "mistral_ai"), ("deepseek", "deepseek"), ("grok", "x_ai"), ("command", "cohere"),
)  # fmt: skip
_NUMBERS = {
    "temperature": float, "top_p": float, "top_k": float, "frequency_penalty": float, "presence_penalty": float,
    "max_tokens": int, "seed": int,
}  # fmt: skip
_OPERATIONS = {"embedding": "embeddings", "retrieval": "retrieval"}
_IMPORTED = (
    "reenact.analysis.interchange.importers.run.ImportedError: ",
    "reenact.importers.run.ImportedError: ",
    "ImportedError: ",
)
_CHILD = re.compile(r".+\.\d+")


def spans_of(recording: RecordedRun) -> list[Span]:
    """Return a recording as the spans of one trace, the run's own first.

    Secrets are replaced as in the recording. Attributes and names are those of the GenAI conventions; further ones
    begin with `reenact.`.
    """
    return list(_TraceBuilder(recording).spans())


class _TraceBuilder:
    def __init__(self, recording: RecordedRun) -> None:
        self._recording = recording
        self._facts = RecordingFacts(recording)
        self._key = f"{recording.id} {recording.started}"
        self._trace = hashlib.sha256(f"reenact trace {self._key}".encode()).hexdigest()[:32]
        self._began = nanoseconds(datetime.fromisoformat(recording.started)) if recording.started else 0
        self._imported = recording.header.get("entry") == "imported"
        self._root = self._id("run")
        self._resource = {"service.name": _service(recording), "telemetry.sdk.name": "reenact"}
        self._scopes: dict[str, tuple[str, str, int, int]] = {}
        self._provider = "_OTHER"

    def _id(self, *parts: object) -> str:
        text = " ".join(map(str, ("reenact span", self._key, *parts)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def spans(self) -> Iterator[Span]:
        steps = [span for facts in self._facts.steps if (span := self._step(facts)) is not None]
        yield self._run()
        for path, (name, parent, began, ended) in self._scopes.items():
            yield self._scope_span(path, name, parent, began, ended)
        yield from steps

    # -- the run and its agents ------------------------------------------------------------------------------

    def _run(self) -> Span:
        recording = self._recording
        name = recording.name or "run"
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": name,
            "reenact.recording.id": recording.id,
            "reenact.recording.name": recording.name,
        }
        if recording.tags:
            attributes["reenact.recording.tags"] = list(recording.tags)
        if (conversation := _conversation(recording)) is not None:
            attributes["gen_ai.conversation.id"] = conversation
        sealed = recording.logs[0].sealed or {}
        if "output" in sealed:
            text = self._output(recording)
            said = [
                {"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}
            ]
            attributes["gen_ai.output.messages"] = compact(said)
        error = _error_text(sealed.get("error")) if sealed.get("error") else None
        if recording.status == "error":
            error = error or "the run failed"
        return self._made(
            f"invoke_workflow {name}", self._root, "", (0.0, recording.duration), attributes, error=error
        )

    def _output(self, recording: RecordedRun) -> str:
        try:
            found = recording.output
        except Exception:
            # Its type is not loaded here.
            found = recording.logs[0].sealed["output"] if recording.logs[0].sealed else None
        return found if isinstance(found, str) else compact(found)

    def _scope_span(self, path: str, name: str, parent: str, began: int, ended: int) -> Span:
        agent = self._imported or name.startswith("agent:")
        short = re.sub(r"~\d+$", "", name.removeprefix("agent:"))
        attributes = {"reenact.scope": path}
        if agent:
            attributes |= {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": short,
                "gen_ai.provider.name": self._provider,
            }
        return Span(
            self._trace, self._id("scope", path), f"invoke_agent {short}" if agent else short, parent, began, ended,
            attributes, resource=self._resource, library="reenact", kind=_INTERNAL,
        )  # fmt: skip

    def _around(self, facts: StepFacts, began: int, ended: int) -> str:
        """Return the id of the span around a step; make spans of the named scopes in its path."""
        call, log = facts.call, facts.step.log
        outer = log.calls.get(call.within) if call.within is not None else None
        if outer is None:
            parent = self._root
            base = str(log.opened.get("process") or "main")
        else:
            parent = self._id("call", log.opened.get("process"), outer.number)
            base = outer.address
        rest = call.scope.removeprefix(base).strip("/") if call.scope.startswith(base) else ""
        path = base
        for name in rest.split("/") if rest else ():
            path = f"{path}/{name}"
            if name.startswith(("call:", "thread:", "task.")) or _CHILD.fullmatch(name):
                continue
            _, known, first, last = self._scopes.get(path, (name, parent, began, ended))
            self._scopes[path] = (name, known, min(first, began), max(last, ended))
            parent = self._id("scope", path)
        return parent

    # -- steps -----------------------------------------------------------------------------------------------

    def _step(self, facts: StepFacts) -> Span | None:
        call, log = facts.call, facts.step.log
        offset = float(log.opened.get("offset") or 0.0)
        began = offset + call.began
        ended = began + call.duration if call.duration is not None else max(began, self._recording.duration)
        parent = self._around(facts, self._at(began), self._at(ended))
        asked = facts.model_call
        if asked is not None:
            name, attributes, kind = *_model(facts, asked), _CLIENT
            if self._provider == "_OTHER":
                self._provider = attributes["gen_ai.provider.name"]
        elif call.kind == "tool":
            name, attributes, kind = *_tool(facts), _INTERNAL
        elif call.kind == "http":
            name, attributes, kind = *_http(facts), _CLIENT
        else:
            name, attributes, kind = *_other(facts), _INTERNAL
        attributes["reenact.step"] = facts.step.number
        error = facts.error or (asked.problem if asked is not None else "") or None
        if error is None and call.status != "ok":
            error = "cancelled" if call.status == "cancelled" else "never answered: the run was cut off here"
            attributes["error.type"] = "cancelled" if call.status == "cancelled" else "_OTHER"
        id = self._id("call", log.opened.get("process"), call.number)
        return self._made(name, id, parent, (began, ended), attributes, error=error, kind=kind)

    def _at(self, seconds: float) -> int:
        return self._began + round(seconds * 1e9)

    def _made(
        self, name: str, id: str, parent: str, times: tuple[float, float], attributes: dict[str, Any],
        *, error: str | None, kind: int = _INTERNAL,
    ) -> Span:  # fmt: skip
        events: tuple[SpanEvent, ...] = ()
        if error is not None:
            raised, text = _taken_apart(error)
            attributes.setdefault("error.type", raised or "_OTHER")
            told = (
                {"exception.type": raised, "exception.message": text}
                if raised
                else {"exception.message": text}
            )
            events = (SpanEvent("exception", told, self._at(times[1])),)
            error = text
        return Span(
            self._trace, id, name, parent, self._at(times[0]), self._at(times[1]), attributes, events, error,
            self._resource, "reenact", kind,
        )  # fmt: skip


def _service(recording: RecordedRun) -> str:
    known = next((tag[8:] for tag in recording.tags if tag.startswith("service:")), "")
    return known or recording.name or "reenact"


def _conversation(recording: RecordedRun) -> str | None:
    return next((tag[13:] for tag in recording.tags if tag.startswith("conversation:")), None)


def _error_text(tree: Any) -> str:
    return (
        f"{tree.get('type', '').rpartition(':')[2]}: {tree.get('text', '')}"
        if isinstance(tree, Mapping)
        else str(tree)
    )


def _taken_apart(error: str) -> tuple[str, str]:
    """Return an error's type and text. An imported error has only the text."""
    for prefix in _IMPORTED:
        error = error.removeprefix(prefix)
    name, colon, text = error.partition(": ")
    return (name, text) if colon and re.fullmatch(r"[\w.]+", name) else ("", error)


def _model(facts: StepFacts, call: ModelCall) -> tuple[str, dict[str, Any]]:
    args = facts.args if facts.call.kind == "model" else _body(facts)
    asked = str(args.get("model") or call.model or "")
    found: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider(call, asked, args),
        "gen_ai.input.messages": compact(message.asked(call)),
    }
    if asked:
        found["gen_ai.request.model"] = asked
    if call.answer is not None:
        found["gen_ai.output.messages"] = compact(message.answered(call))
        found["gen_ai.response.model"] = call.model
    if call.finish:
        found["gen_ai.response.finish_reasons"] = [call.finish]
    if tools := message.offered(call):
        found["gen_ai.tool.definitions"] = compact(tools)
    if call.streamed:
        found["gen_ai.request.stream"] = True
        if facts.call.pieces:
            found["gen_ai.response.time_to_first_chunk"] = round(
                facts.call.pieces[0][1] - facts.call.began, 6
            )
    if call.usage is not None:
        found["gen_ai.usage.input_tokens"] = call.usage.input
        found["gen_ai.usage.output_tokens"] = call.usage.output
        if call.usage.cached:
            found["gen_ai.usage.cache_read.input_tokens"] = call.usage.cached
        if call.usage.written:
            found["gen_ai.usage.cache_creation.input_tokens"] = call.usage.written
    settings = args.get("settings") if isinstance(args.get("settings"), dict) else args
    for name, made in _NUMBERS.items():
        value = (settings or {}).get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found[f"gen_ai.request.{name}"] = made(value)
    if isinstance(id := _reply_id(facts), str):
        found["gen_ai.response.id"] = id
    return f"chat {asked}".strip(), found


def _body(facts: StepFacts) -> dict[str, Any]:
    found = facts.parsed(facts.args.get("body"))
    return found if isinstance(found, dict) else {}


def _reply_id(facts: StepFacts) -> Any:
    output = facts.output
    if not isinstance(output, dict):
        return None
    told = [one for one in (output, output.get("body")) if isinstance(one, dict)]
    return next((one[key] for one in told for key in ("id", "provider_response_id") if one.get(key)), None)


def _provider(call: ModelCall, model: str, args: Mapping[str, Any]) -> str:
    """Return the model's provider as the conventions name it, by the model's name if need be."""
    known = call.provider or (args.get("provider") if isinstance(args.get("provider"), str) else "")
    if known:
        return _PROVIDERS.get(str(known), str(known))
    before, slash, _ = model.replace(":", "/", 1).partition("/")
    if slash:
        return _PROVIDERS.get(before, before)
    return next((provider for start, provider in _MODELS if model.lower().startswith(start)), "_OTHER")


def _tool(facts: StepFacts) -> tuple[str, dict[str, Any]]:
    call = facts.call
    found: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": compact(facts.args),
    }
    last = call.scope.rpartition("/")[2]
    if last.startswith("call:"):
        found["gen_ai.tool.call.id"] = last[5:]
    if call.status == "ok":
        given = message.spoken(facts.output)
        found["gen_ai.tool.call.result"] = given if isinstance(given, str) else compact(given)
    return f"execute_tool {call.name}", found


def _http(facts: StepFacts) -> tuple[str, dict[str, Any]]:
    args, output = facts.args, facts.output
    method = facts.call.name.partition(" ")[0]
    url = content(args.get("url"))
    parts = split_address(url)
    found: dict[str, Any] = {
        "http.request.method": method,
        "url.full": url,
        "server.address": parts.hostname or "",
    }
    port = {"https": 443, "http": 80}.get(parts.scheme)
    try:
        port = parts.port or port
    except ValueError:
        port = None
    if port:
        found["server.port"] = port
    if isinstance(output, dict) and isinstance(status := output.get("status"), int):
        found["http.response.status_code"] = status
    return method, found


def _other(facts: StepFacts) -> tuple[str, dict[str, Any]]:
    call = facts.call
    found: dict[str, Any] = {"reenact.kind": call.kind, "reenact.arguments": compact(facts.args)}
    if call.kind in _OPERATIONS:
        found["gen_ai.operation.name"] = _OPERATIONS[call.kind]
        found["gen_ai.provider.name"] = "_OTHER"
        found["input.value"] = compact(facts.args)
    return call.label, found
