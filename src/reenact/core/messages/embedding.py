"""Read embeddings: texts in, vectors out. They cost tokens, and are no turn of a chat.

OpenAI's form (Azure, Mistral and others too), Ollama's, Cohere's and Gemini's.
"""

from __future__ import annotations

import base64
from typing import Any

from reenact.core.messages.call import Embedded, Message, ModelCall, Usage
from reenact.core.messages.message_text import content, counted, number
from reenact.core.messages.openai import problem


def read(path: str, named: str, request: dict[str, Any], reply: Any) -> ModelCall:
    """Return an embedding call; `named` is the model if the path has it."""
    reply = reply if isinstance(reply, dict) else {}
    texts = _inputs(request)
    sizes = [size for size in map(_size, _vectors(reply)) if size]
    about = Embedded(len(texts), len(sizes), sizes[0] if sizes else 0)
    by_google = path.endswith(("mbedContent", "mbedContents"))
    model = reply.get("model") or request.get("model") or (named if by_google else "")
    return ModelCall(
        model=str(model).removeprefix("models/"),
        messages=tuple(Message("user", text) for text in texts),
        answer=Message("assistant", _said(about)) if sizes else None,
        usage=_usage(reply),
        provider="google" if by_google else "",
        problem=problem(reply),
        embedded=about,
    )


def _said(about: Embedded) -> str:
    vectors = "1 vector" if about.vectors == 1 else f"{about.vectors} vectors"
    return f"[{vectors} of {about.dimension} numbers]"


def _inputs(request: dict[str, Any]) -> list[str]:
    if isinstance(request.get("requests"), list):
        return [_parts(one.get("content")) for one in request["requests"] if isinstance(one, dict)]
    if isinstance(request.get("content"), dict):
        return [_parts(request["content"])]
    given = next((request[key] for key in ("input", "texts", "prompt", "inputs") if request.get(key)), None)
    if isinstance(given, list):
        # A list of numbers is one text that is tokenized already.
        if given and all(isinstance(item, int) for item in given):
            return [f"[{len(given)} tokens]"]
        return [
            f"[{len(item)} tokens]" if isinstance(item, list) and item and isinstance(item[0], int) else content(item)
            for item in given
        ]  # fmt: skip
    return [content(given)] if given else []


def _parts(item: Any) -> str:
    return content(item.get("parts")) if isinstance(item, dict) else content(item)


def _vectors(reply: dict[str, Any]) -> list[Any]:
    if isinstance(reply.get("data"), list):
        return [one.get("embedding") for one in reply["data"] if isinstance(one, dict)]
    found = reply.get("embeddings") or reply.get("embedding") or []
    if isinstance(found, dict):
        # Gemini's one vector, or Cohere's lists of each kind of number.
        found = [found] if "values" in found else next(iter(found.values()), [])
    if found and isinstance(found[0], (int, float)):
        return [found]
    return [one.get("values") if isinstance(one, dict) else one for one in found]


def _size(vector: Any) -> int:
    """Return the number of a vector's elements; as base64 they are 32-bit floats."""
    if isinstance(vector, str):
        return len(base64.b64decode(vector)) // 4
    return len(vector) if isinstance(vector, list) else 0


def _usage(reply: dict[str, Any]) -> Usage | None:
    usage = reply.get("usage") or reply.get("usageMetadata")
    if isinstance(usage, dict):
        given = number(usage.get("promptTokenCount")) or number(usage.get("total_tokens"))
        return counted(usage) or (Usage(given) if given else None)
    count = reply.get("prompt_eval_count") or ((reply.get("meta") or {}).get("billed_units") or {}).get(
        "input_tokens"
    )
    return Usage(number(count)) if count else None
