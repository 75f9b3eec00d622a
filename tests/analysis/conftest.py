"""Recordings as they are on disk, made of what happened in them."""

from __future__ import annotations

import json

import pytest

from reenact.analysis.interchange.importers import Happened, ImportedRun, keep
from reenact.core.store.local import LocalStore


def says(text=None, *calls, agent="", heard=(), **more):
    """A model call: what it heard (messages, or texts of a person), and what it said."""
    messages = [{"role": "user", "content": one} if isinstance(one, str) else one for one in heard]
    asked = [{"function": {"name": name, "arguments": json.dumps(args)}} for name, args in calls]
    said = {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})}
    value = (
        {"choices": [{"message": said, "finish_reason": more.pop("finish")}]} if "finish" in more else said
    )
    if more and "choices" not in value:
        value = {"choices": [{"message": said}], **({"usage": more["usage"]} if "usage" in more else {})}
    tools = {"tools": more["tools"]} if "tools" in more else {}
    error = more.get("error")
    return Happened("model", "gpt", {"messages": messages, **tools}, value, error, agent=agent)


def does(name, args=None, result="done", error=None):
    """A tool call."""
    return Happened("tool", name, args or {}, result, error)


@pytest.fixture
def kept(tmp_path):
    """Write what happened as a recording, and read it back."""
    store = LocalStore(tmp_path / "home")

    def write(*effects, **more):
        return store.load(keep(store, ImportedRun(more.pop("name", "run"), effects, **more)))

    return write


@pytest.fixture
def finds(kept):
    """The findings of one rule in what happened."""
    from reenact.analysis.anomalies import Baseline, Choice, examine

    def look(rule, *effects, baseline=None, options=None, **more):
        choice = Choice({rule: options} if options else {}, rules=[rule])
        return examine(kept(*effects, **more), choice, Baseline(baseline) if baseline is not None else None)

    return look
