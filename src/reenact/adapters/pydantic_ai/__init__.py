"""Pydantic AI: every agent's model requests and tool calls, and `pydantic_ai.direct`.

All ways to run an agent call `Agent.iter`. In a recording or replay, each run gets one more capability, which wraps its
model and its tools. `docs/pydantic-ai.md` says what is recorded, how it is matched, and what is not seen.
"""

from __future__ import annotations

import inspect
from functools import wraps
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import unknown
from reenact.adapters.imports import when_imported
from reenact.adapters.scopes import listening
from reenact.core.store.writer import warn

_CAPABILITY = ("wrap_run", "wrap_model_request", "get_wrapper_toolset", "get_ordering")


def install(module: ModuleType) -> None:
    """Patch `Agent.iter`, and `pydantic_ai.direct` once it is imported. Raises HookMissing."""
    _check(module)
    agent: Any = module.Agent
    if getattr(agent.iter, "_reenact", False):
        return
    agent.iter = _hooked(agent.iter)
    when_imported("pydantic_ai.direct", _install_direct)


def _check(module: Any) -> None:
    """Check all names before any patch: half of an agent's calls would be worse than none."""
    missing = None
    try:
        from pydantic_ai.capabilities import AbstractCapability
        from pydantic_ai.models import StreamedResponse
    except ImportError as error:
        missing = str(error)
    else:
        absent = [name for name in _CAPABILITY if not hasattr(AbstractCapability, name)]
        if absent:
            missing = f"AbstractCapability has no {absent[0]}"
        elif "capabilities" not in inspect.signature(module.Agent.iter).parameters:
            missing = "Agent.iter takes no capabilities"
        elif "_event_iterator" not in StreamedResponse.__dataclass_fields__:
            missing = "StreamedResponse keeps no _event_iterator"
    if missing is not None:
        raise unknown("Pydantic AI", "pydantic-ai-slim", missing)


def _hooked(original: Any) -> Any:
    """Hook `Agent.iter`: add a capability in a recording or replay."""

    @wraps(original)
    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        if (scope := listening()) is None:
            return original(self, *args, **options)
        from reenact.adapters.pydantic_ai.capability import recorder_of

        options["capabilities"] = [*(options.get("capabilities") or ()), recorder_of(scope)]
        return original(self, *args, **options)

    hooked._reenact = True  # type: ignore[attr-defined]
    return hooked


def _install_direct(module: Any) -> None:
    """Wrap the model of each request that is made without an agent."""
    original: Any = getattr(module, "_prepare_model", None)
    if original is None:
        # Agents are recorded all the same.
        warn("pydantic_ai.direct has changed: its requests are recorded by their HTTP only")
        return

    @wraps(original)
    def prepare(model: Any, *args: Any, **options: Any) -> Any:
        if (scope := listening()) is None:
            return original(model, *args, **options)
        from pydantic_ai.models import infer_model
        from pydantic_ai.models.instrumented import InstrumentedModel

        from reenact.adapters.pydantic_ai.model import RecordedModel

        chosen = infer_model(model)
        if isinstance(chosen, InstrumentedModel):
            # Wrapped inside, it would not be recognised as instrumented, and be instrumented twice.
            return RecordedModel(original(chosen, *args, **options), scope)
        return original(RecordedModel(chosen, scope), *args, **options)

    module._prepare_model = prepare
