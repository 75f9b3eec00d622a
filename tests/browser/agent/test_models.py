"""Which model is asked: by every name that people write, and in one line where there is none."""

from __future__ import annotations

import pytest
from pydantic_ai.models.test import TestModel

from reenact.browser.agent import models
from reenact.errors import UsageError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("gemini/gemini-2.0-flash", "google:gemini-2.0-flash"),
        ("vertex_ai/gemini-2.5-flash", "google-cloud:gemini-2.5-flash"),
        ("openai/gpt-4o", "openai-chat:gpt-4o"),
        ("openai:gpt-5", "openai:gpt-5"),
        ("gpt-4o", "openai-chat:gpt-4o"),
        ("anthropic/claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("openrouter/google/gemma-3-27b-it", "openrouter:google/gemma-3-27b-it"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b"),
    ],
)
def test_names_of_the_documents_and_of_other_libraries_are_known(written, meant):
    assert models.full_name(written) == meant


def test_the_environment_names_the_model_where_the_program_does_not(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    chosen = models.chosen(None, {"REENACT_MODEL": "openai/gpt-4o"})
    assert (chosen.system, chosen.model_name) == ("openai", "gpt-4o")
    assert models.sees(chosen)


def test_a_model_object_is_taken_as_it_is():
    mine = TestModel()
    assert models.chosen(mine, {}) is mine


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (None, "set REENACT_MODEL"),
        ("nope", "Unknown model: nope"),
        ("xx:yy", "Unknown provider: xx"),
        ("openai:gpt-5", "OPENAI_API_KEY"),
        (3, "the name of one"),
    ],
)
def test_without_a_model_one_line_says_what_to_set(asked, words, monkeypatch):
    # A server of one's own, which another variable may name, needs no key.
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=words) as raised:
        models.chosen(asked, {})
    assert "\n" not in str(raised.value)
