"""A real language model for the benchmarks: the small one on this machine, or any that the environment names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from pydantic_ai import JsonSchemaTransformer
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from benchmarks.workers import Broken

# The server of the model is the examples' own.
sys.path.append(str(Path(__file__).parents[1] / "examples" / "order_agent"))

SMALL = "SmolLM2"
SETTINGS = ModelSettings(temperature=0.0, seed=7, max_tokens=160, timeout=180)

_ID = {"type": "string", "pattern": "^[A-Z]{1,2}[1-9][0-9]?$"}
_TEXT = {"type": "string", "maxLength": 40}
_FORMS: dict[str, list[dict[str, Any]]] = {
    "confidence": [
        {
            "element": {"type": "string", "pattern": "^(e[1-9][0-9]?|none)$"},
            "confidence": {"enum": [0.1, 0.3, 0.5, 0.7, 0.9]},
        }
    ],
    "tab_index": [
        {"type": {"const": "click"}, "id": _ID},
        {"type": {"const": "fill"}, "id": _ID, "value": _TEXT},
        {"type": {"const": "check"}, "id": _ID, "value": {"type": "boolean"}},
        {"type": {"const": "select_dropdown_option"}, "id": _ID, "value": _TEXT},
        {"type": {"const": "completion"}, "success": {"type": "boolean"}},
    ],
}
"""The forms of an answer for the small model, by a field that tells which question it is the answer to."""


class Narrow(JsonSchemaTransformer):
    """What so small a model is held to: no reasons, and of all actions the five that a step of these scripts can be.

    Else it writes for ever, and chooses at random among twenty. Which element it names stays its own choice.
    """

    def transform(self, schema: dict[str, Any]) -> dict[str, Any]:
        """One part of the schema; the whole comes last."""
        for mark, forms in _FORMS.items():
            if mark in schema.get("properties", {}):
                return {"anyOf": [_held(form) for form in forms]}
        return schema


def _held(form: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": form, "required": list(form), "additionalProperties": False}


@dataclass(frozen=True)
class Use:
    """What was asked of a model: answers, tokens read and written, seconds."""

    answers: int = 0
    read: int = 0
    written: int = 0
    seconds: float = 0.0


class Metered(WrapperModel):
    """A model whose use is counted."""

    def __init__(self, wrapped: OpenAIChatModel) -> None:
        super().__init__(wrapped)
        self._use = Use()

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One answer."""
        began = perf_counter()
        answer: ModelResponse | None = None
        try:
            answer = await super().request(messages, model_settings, model_request_parameters)
        finally:
            used = self._use
            self._use = Use(
                used.answers + 1,
                used.read + (answer.usage.input_tokens if answer is not None else 0),
                used.written + (answer.usage.output_tokens if answer is not None else 0),
                used.seconds + perf_counter() - began,
            )
        return answer

    def taken(self) -> Use:
        """What was used since the last time."""
        used, self._use = self._use, Use()
        return used


@contextmanager
def asked() -> Iterator[Metered]:
    """The model that `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL` name; without them the one on this machine.

    Raises:
        Broken: It does not start here.
    """
    from demo import DemoError, a_model

    try:
        with a_model(each_tool_once=False) as served:
            name = served.environment.get("OPENAI_MODEL", "gpt-4o-mini")
            provider = OpenAIProvider(
                base_url=served.environment.get("OPENAI_BASE_URL"),
                api_key=served.environment["OPENAI_API_KEY"],
            )
            profile: Any = {"json_schema_transformer": Narrow} if name.startswith(SMALL) else None
            yield Metered(OpenAIChatModel(name, provider=provider, profile=profile, settings=SETTINGS))
    except DemoError as error:
        raise Broken(str(error)) from None


def named() -> bool:
    """Whether the environment names a model of its own."""
    return bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))
