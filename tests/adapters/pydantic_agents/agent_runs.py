"""Recording and replaying programs with agents, and telling whether the two gave the same."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from pydantic_ai.messages import ModelRequest, ModelResponse
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.programs import record, replay, run

__all__ = ["anthropic", "faithful", "openai", "plain", "record", "replay", "run"]

_EACH_RUN = {"run_id", "conversation_id", "history_digest"}
"""What Pydantic AI makes up in every run, outside the model's and the tools' answers."""


def openai(provider, name):
    """A chat-completions model of the provider's; each call makes its client anew, as a fresh program would."""
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=provider.url + "/v1", api_key="sk-test"))


def anthropic(provider, name):
    """A messages model of the provider's."""
    return AnthropicModel(name, provider=AnthropicProvider(base_url=provider.url, api_key="sk-test"))


def faithful(program, provider=None):
    """Record a program, stop its provider, and replay it: the results must be equal, and nothing may go live."""
    first, recording = record(program)
    hits = provider.hits if provider is not None else 0
    if provider is not None:
        provider.stop()
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert provider is None or provider.hits == hits
    assert plain(first) == plain(second)
    return first, recording


def plain(value):
    """A result without what every run makes up; answers of the model keep their timestamps, which are recorded."""
    if isinstance(value, ModelResponse):
        return _fields(value, _EACH_RUN)
    if isinstance(value, ModelRequest) or type(value).__name__.endswith(("Part", "Event")):
        return _fields(value, _EACH_RUN | {"timestamp"})
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def _fields(value, out):
    assert is_dataclass(value)
    kept = {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.name not in out}
    return type(value).__name__, kept
