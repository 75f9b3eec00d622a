"""Choose the language model of an agent: a name, a model object, or `REENACT_MODEL`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from reenact.browser.page.session_options import MODEL
from reenact.core import boundary
from reenact.errors import UsageError

_ROUTES = {
    "gemini": "google",
    "google-gla": "google",
    "google-vertex": "google-cloud",
    "vertex_ai": "google-cloud",
    "vertex": "google-cloud",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "moonshot": "moonshotai",
    "hosted_vllm": "vllm",
    "claude": "anthropic",
    # Many servers support OpenAI's older API, and nearly all compatible ones support no other.
    "openai": "openai-chat",
}
"""Provider names of the documents and LiteLLM, mapped to those of Pydantic AI."""

_FAMILIES = {"gpt-": "openai-chat", "o1": "openai-chat", "o3": "openai-chat", "o4": "openai-chat"} | {
    "claude-": "anthropic",
    "gemini-": "google",
    "deepseek-": "deepseek",
    "mistral-": "mistral",
    "command-": "cohere",
}


def chosen(
    asked: Any, environ: Mapping[str, str] | None = None, *, option: str = "reasoning_model"
) -> Model[Any]:
    """Return the model to ask.

    Args:
        asked: A model of Pydantic AI, the name of one (`openai:gpt-5`, `gemini/gemini-2.5-flash`, `gpt-5`), or None for
            the one that `REENACT_MODEL` names.
        environ: Environment variables; those of the process by default.
        option: The name of the user's option, for errors.

    Raises:
        UsageError: No model is named, it does not exist, or its provider's key or package is missing.
    """
    if isinstance(asked, Model):
        return asked
    name = asked or (os.environ if environ is None else environ).get(MODEL, "")
    if not name:
        raise UsageError(
            f"no model is named: give {option}='openai:gpt-5' (any name or model of Pydantic AI), or set {MODEL}"
        )
    if not isinstance(name, str):
        raise UsageError(
            f"{option}={asked!r}: it is a model of Pydantic AI, or the name of one, such as 'openai:gpt-5'"
        )
    full = full_name(name)
    try:
        return infer_model(full, _provider)
    except (UserError, ValueError) as error:
        raise UsageError(f"{option}={name!r}: {_one_line(error)}") from None
    except ImportError as error:
        raise UsageError(
            f"{option}={name!r}: {_one_line(error)}; pip install 'pydantic-ai-slim[{full.partition(':')[0]}]'"
        ) from None


def full_name(name: str) -> str:
    """Return a model's name in Pydantic AI's form, `provider:model`."""
    cut = min((place for place in (name.find(":"), name.find("/")) if place > 0), default=0)
    if cut and not name.startswith("gateway/"):
        provider, model = name[:cut], name[cut + 1 :]
        return f"{provider if name[cut] == ':' and provider == 'openai' else _ROUTES.get(provider, provider)}:{model}"
    family = next((route for start, route in _FAMILIES.items() if name.startswith(start)), None)
    return f"{family}:{name}" if family else name


def _provider(name: str) -> Provider[Any]:
    """Return the provider of that name. A replay needs no key, because it sends no request."""
    try:
        return infer_provider(name)
    except UserError:
        scope = boundary.current()
        if scope is None or not scope.run.replaying:
            raise
        made: Any = infer_provider_class(name)
        return made(api_key="replayed")  # type: ignore[no-any-return]


def sees(model: Model[Any]) -> bool:
    """Return True if the model accepts pictures, as far as Pydantic AI knows."""
    return bool(model.profile.get("supports_image_input", True))


def price(answer: ModelResponse) -> Decimal | None:
    """Return the cost of an answer in US dollars by `genai-prices`; None where it is unknown."""
    try:
        return answer.cost().total_price
    except (AssertionError, LookupError, ValueError):
        return None


def _one_line(error: BaseException) -> str:
    """Return an error's first sentence, without the advice after it."""
    return " ".join(str(error).split()).partition(". ")[0].rstrip(".")
