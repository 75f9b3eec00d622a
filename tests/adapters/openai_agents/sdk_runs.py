"""Models of a provider on loopback, and programs with agents recorded and replayed."""

from __future__ import annotations

from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel
from openai import AsyncOpenAI

from tests.adapters.programs import record, replay

__all__ = ["chat", "client", "faithful", "labels", "record", "replay", "responses", "said"]


def client(provider, **options):
    """A client that does not try again by itself."""
    return AsyncOpenAI(base_url=provider.url + "/v1", api_key="sk-test", max_retries=0, **options)


def responses(provider, name, **options):
    """A model of the provider's responses API."""
    return OpenAIResponsesModel(model=name, openai_client=client(provider, **options))


def chat(provider, name, **options):
    """A model of the provider's chat completions."""
    return OpenAIChatCompletionsModel(model=name, openai_client=client(provider, **options))


def faithful(program, provider):
    """Record a program, stop its provider, and replay it: the results must be equal, and nothing may go live."""
    first, recording = record(program)
    provider.stop()
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert second == first
    return first, recording


def said(result):
    """All that a run's agents said and heard."""
    return [item.to_input_item() for item in result.new_items]


def labels(recording):
    """The steps that are no part of another."""
    return [step.call.label for step in recording if step.call.within is None]
