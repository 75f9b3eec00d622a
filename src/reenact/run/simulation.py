"""Ask a model for a simulated answer of a tool."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from reenact.errors import MissingExtra, UsageError


def ask_model(name: str, question: str) -> str:
    """Return the text that a model answers. Raises UsageError if none does."""
    try:
        direct: Any = import_module("pydantic_ai.direct")
        messages: Any = import_module("pydantic_ai.messages")
    except ImportError:
        raise MissingExtra("a simulation by a model", "browser") from None
    try:
        answer = direct.model_request_sync(name, [messages.ModelRequest.user_text_prompt(question)])
    except Exception as error:
        raise UsageError(f"the model {name} gave no answer ({type(error).__name__}: {error})") from None
    return "".join(part.content for part in answer.parts if isinstance(part, messages.TextPart))
