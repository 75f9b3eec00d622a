"""LangChain: the requests of every chat model, and the calls of every tool.

`docs/langgraph.md` says what is recorded, how it is matched, and what is not seen.
"""

from __future__ import annotations

import importlib
import inspect
from contextlib import suppress
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import HookMissing, patch, unknown
from reenact.adapters.imports import when_imported
from reenact.adapters.langchain import ids, models, pools
from reenact.adapters.langchain.hooked import hook_all
from reenact.core.boundary import entered

_LIBRARY = "LangChain"


def install(module: ModuleType) -> None:
    """Hook chat models, tools and the ids of runs. Raises HookMissing before any change."""
    base: Any = importlib.import_module("langchain_core.language_models.chat_models").BaseChatModel
    tool: Any = importlib.import_module("langchain_core.tools.base").BaseTool
    manager: Any = importlib.import_module("langchain_core.callbacks.manager")
    config: Any = importlib.import_module("langchain_core.runnables.config")
    _check(base, tool)
    from reenact.adapters.langchain import tools

    hook_all(
        base,
        {name: models.wrap(name) for name in models.METHODS},
        library=_LIBRARY,
        own=("_agenerate", "_astream"),
    )
    patch(base, "agenerate", models.agenerate, library=_LIBRARY)
    patch(base, "_agenerate_with_cache", models.one_of, library=_LIBRARY)
    work = {"_run": tools.sync_work, "_arun": tools.async_work, "run": tools.run, "arun": tools.arun}
    hook_all(tool, work, library=_LIBRARY, own=("_arun", "run", "arun"))
    patch(config.ContextThreadPoolExecutor, "map", pools.mapped, library=_LIBRARY)
    ids.name_runs(manager)
    when_imported("langsmith.client", _spare_tracing)


def _spare_tracing(module: Any) -> None:
    """Hide LangSmith's thread, which reports the program's work, from the run."""
    with suppress(HookMissing):
        patch(module.Client, "__init__", _unseen, library="LangSmith")


def _unseen(original: Any) -> Any:
    def hooked(self: Any, *args: Any, **options: Any) -> None:
        with entered(None):
            original(self, *args, **options)

    return hooked


def _check(model: Any, tool: Any) -> None:
    """Check all names before any patch: half of an agent's calls would be worse than none."""
    for owner, names in (
        (model, (*models.METHODS, "agenerate", "_agenerate_with_cache")),
        (tool, ("_run", "_arun", "run", "arun", "_filter_injected_args")),
    ):
        absent = [name for name in names if not inspect.isfunction(inspect.getattr_static(owner, name, None))]
        if absent:
            raise unknown(_LIBRARY, "langchain-core", f"{owner.__name__} has no {absent[0]}")
    for name in ("run", "arun"):
        if "tool_call_id" not in inspect.signature(getattr(tool, name)).parameters:
            raise unknown(_LIBRARY, "langchain-core", f"BaseTool.{name} takes no tool_call_id")
