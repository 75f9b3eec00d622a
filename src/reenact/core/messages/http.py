"""Read the model APIs over HTTP: the end of the path decides the API's reader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from reenact.core.dataclass import dataclass
from reenact.core.messages import anthropic, bedrock, cohere, embedding, google, openai
from reenact.core.messages.call import CHATS, EffectView, ModelCall
from reenact.core.messages.growing import Memory
from reenact.core.messages.message_text import events
from reenact.core.model.plain import parsed
from reenact.core.patterns import lazy
from reenact.core.web_address import split_address

EMBEDDINGS = ("embeddings", "api/embed", "v1/embed", "v2/embed", "mbedContent", "mbedContents")
"""The path endings of embedding calls."""

_PROVIDERS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "openai.azure.com": "azure",
    "cognitiveservices.azure.com": "azure",
    "services.ai.azure.com": "azure",
    "openrouter.ai": "openrouter",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "api.x.ai": "x-ai",
    "api.together.xyz": "together",
    "api.fireworks.ai": "fireworks",
    "api.cerebras.ai": "cerebras",
    "api.perplexity.ai": "perplexity",
    "api.cohere.com": "cohere",
    "amazonaws.com": "aws",
    "googleapis.com": "google",
}
"""The provider by the end of the host's name, as in the price list."""

_MODEL_HOSTS = lazy(
    r"(?:api\.(?:openai|anthropic|groq|mistral|deepseek|x|fireworks|cerebras|perplexity|cohere)\.(?:com|ai)"
    r"|api\.together\.(?:xyz|ai)|openrouter\.ai|[\w-]+\.openai\.azure\.com|[\w-]+\.(?:cognitive|services\.ai)"
    r"(?:services)?\.azure\.com|bedrock-runtime[\w.-]*\.amazonaws\.com|generativelanguage\.googleapis\.com"
    r"|(?:[\w-]+-)?aiplatform\.googleapis\.com)"
)
"""The hosts of model providers, and of nothing else."""

_COMPUTES = (
    "count_tokens", "countTokens", "moderations", "images/generations", "audio/speech", "audio/transcriptions", "rerank"
)  # fmt: skip
"""Further path endings at a provider's host that only compute an answer."""

_CLIENTS = lazy(r"(?:Async)?(?:OpenAI|AzureOpenAI|Anthropic|AnthropicBedrock|AnthropicVertex|Groq|Mistral)/")
"""The beginning of the user agent of the providers' own libraries."""

_ASKS = ("messages", "prompt", "input", "contents", "conversation", "previous_response_id", "inputText")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an exchange for the reader of one API.

    Attributes:
        path: The path, without a slash at its end.
        request: The request's JSON.
        reply: The answer's JSON, or None if it is no JSON.
        pieces: The JSON objects of a streamed answer.
        memory: The memory of the log's earlier calls.
    """

    path: str
    request: dict[str, Any]
    reply: Any
    pieces: list[dict[str, Any]]
    memory: Memory

    @property
    def model(self) -> str:
        """Return the model in the path: `…/models/NAME:generateContent`, `…/model/NAME/converse`."""
        last = self.path.rpartition("/")[2]
        named = last.partition(":")[0] if ":" in last else self.path.split("/")[-2]
        return unquote(named)


def read(asked: EffectView) -> ModelCall | None:
    """Return the model call that an HTTP exchange carries, or None."""
    if asked.kind != "http" or not asked.name.startswith("POST "):
        return None
    path = asked.name.partition("/")[2].rstrip("/")
    embeds = path.endswith(EMBEDDINGS)
    if not embeds and not path.endswith(CHATS):
        return None
    request = asked.memory.request(asked.args.get("body"))
    if not isinstance(request, dict):
        return None
    parts = _parts(path, request, asked)
    if embeds:
        found = embedding.read(parts.path, parts.model, request, parts.reply)
    elif any(request.get(key) for key in _ASKS):
        found = _reader(path, request)(parts)
    else:
        # Many servers that are no model have `POST …/messages`: this request asks for no answer.
        return None
    return _refused(_provided(found, str(asked.args.get("url"))), asked.value, parts.reply)


def is_model_host(host: str) -> bool:
    """Return True for the host of a model provider, which serves nothing else."""
    return _MODEL_HOSTS.fullmatch(host) is not None


def asks_model_at(name: str, args: Mapping[str, Any], hosts: Collection[str] = ()) -> bool:
    """Return True if an HTTP request asks a model: by its host, path and body together.

    Args:
        name: `POST host[:port]/path`.
        args: Its arguments, as the adapter gives them.
        hosts: Further `host[:port]` of models, known from a recording.
    """
    if not name.startswith("POST "):
        return False
    place, _, path = name.removeprefix("POST ").partition("/")
    path = path.rstrip("/")
    known = is_model_host(place.partition(":")[0])
    if known and path.endswith(_COMPUTES):
        return True
    if not path.endswith((*CHATS, *EMBEDDINGS)):
        return False
    if known:
        return True
    body = args.get("body")
    request = parsed(body.encode(errors="replace")) if isinstance(body, str) else body
    # Of a large body only its digest is known.
    if not isinstance(request, Mapping) or not any(request.get(key) for key in (*_ASKS, "sha256")):
        return False
    headers = args.get("headers")
    agent = str(headers.get("user-agent") or "") if isinstance(headers, Mapping) else ""
    return place in hosts or _CLIENTS.match(agent) is not None


def _parts(path: str, request: dict[str, Any], asked: EffectView) -> Parts:
    body = asked.body
    reply = parsed(body) if body[:1] in b"{[" else None
    if not isinstance(reply, bytes) and reply is not None:
        return Parts(path, request, reply, [], asked.memory)
    pieces = bedrock.events(body) if path.endswith("-stream") else events(body)
    return Parts(path, request, None, pieces, asked.memory)


def _reader(path: str, request: dict[str, Any]) -> Callable[[Parts], ModelCall]:
    if path.endswith("enerateContent"):
        return _google
    if path.endswith("v2/chat"):
        return lambda parts: cohere.read(parts.request, parts.reply, parts.pieces, parts.memory)
    if path.endswith(("/converse", "/converse-stream")):
        return _converse
    if path.endswith(("/invoke", "/invoke-with-response-stream", "awPredict")):
        if "anthropic_version" in request:
            return _anthropic_elsewhere
        return _converse
    if path.endswith("messages"):
        return lambda parts: anthropic.read(parts.request, parts.reply, parts.pieces, parts.memory)
    chat = openai.read_responses if path.endswith("responses") else openai.read_chat
    return lambda parts: chat(parts.request, parts.reply, parts.pieces, parts.memory)


def _google(parts: Parts) -> ModelCall:
    reply = parts.reply
    replies = reply if isinstance(reply, list) else [reply] if isinstance(reply, dict) else parts.pieces
    streamed = "streamGenerateContent" in parts.path
    return google.read(parts.model, parts.request, replies, streamed=streamed)


def _converse(parts: Parts) -> ModelCall:
    return bedrock.read(parts.model, parts.request, parts.reply, parts.pieces)


def _anthropic_elsewhere(parts: Parts) -> ModelCall:
    """Read Anthropic's own form on Bedrock and Vertex, where the path names the model."""
    request = {"model": parts.model, **parts.request}
    return anthropic.read(request, parts.reply, parts.pieces, parts.memory)


def _provided(call: ModelCall, url: str) -> ModelCall:
    host = split_address(url).hostname or ""
    known = next((whose for end, whose in _PROVIDERS.items() if host.endswith(end)), None)
    return call if known in (None, call.provider) else replace(call, provider=known)


def _refused(call: ModelCall, head: Any, reply: Any) -> ModelCall:
    """Mark a call with status 4xx or 5xx as failed, with or without an error in the body."""
    status = head.get("status") if isinstance(head, dict) else None
    if not isinstance(status, int) or status < 400:
        return call
    words = reply.get("message") if isinstance(reply, dict) else None
    line = f"HTTP {status} {head.get('reason') or ''}".rstrip()
    return replace(call, answer=None, problem=call.problem or (str(words) if words else line))
