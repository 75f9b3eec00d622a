"""The OpenAI Agents SDK: model requests, tool calls and sessions of every run.

A model is wrapped when a run looks it up, a tool directly around its function, a session at its methods.
`docs/openai-agents.md` says what is recorded, how it is matched, and what is not seen.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import patch, unknown

_LIBRARY = "the OpenAI Agents SDK"

_NEEDED = (
    ("agents.run", "AgentRunner.run"),
    ("agents.run", "AgentRunner.run_streamed"),
    ("agents.run_internal.run_loop", "get_model"),
    ("agents.tool", "_FailureHandlingFunctionToolInvoker.__call__"),
    ("agents.memory.session", "SessionABC"),
    ("agents", "SQLiteSession.__init__"),
    ("agents.usage", "Usage"),
    ("agents.items", "ModelResponse"),
    ("agents.tracing.processors", "BatchTraceProcessor.on_trace_start"),
    ("agents.tracing.processors", "BatchTraceProcessor.on_span_end"),
    ("agents.tracing.processors", "BackendSpanExporter.export"),
    ("agents.run_internal.tool_actions", "ComputerAction._execute_action_and_capture"),
    ("agents.run_internal.tool_actions", "LocalShellAction.execute"),
    ("agents.run_internal.tool_actions", "ShellAction.execute"),
    ("agents.run_internal.tool_actions", "CustomToolAction.execute"),
    ("agents.run_internal.tool_actions", "ApplyPatchAction.execute"),
)
"""The patched or required names: module and name in it."""

_INVOKE = ("_invoke_function_tool_with_metadata", "invoke_function_tool")
"""The names, by version of the SDK, of the function that invokes all function tools."""


def install(module: ModuleType) -> bool:
    """Patch the SDK, once. False if `agents` is the program's own package. Raises HookMissing."""
    if not (hasattr(module, "Runner") and hasattr(module, "function_tool")):
        return False
    loop, execution, invoke = _check()
    if getattr(loop.get_model, "_reenact", False):
        return True
    # Imported here, after all names of the SDK have been checked.
    from reenact.adapters.openai_agents import memory, model, runs, tools

    agents: Any = module
    tool: Any = importlib.import_module("agents.tool")
    runner: Any = importlib.import_module("agents.run").AgentRunner
    patch(loop, "get_model", model.hooked, library=_LIBRARY)
    patch(runner, "run", runs.hooked_run, library=_LIBRARY)
    patch(runner, "run_streamed", runs.hooked_run_streamed, library=_LIBRARY)
    invoker = tool._FailureHandlingFunctionToolInvoker
    patch(invoker, "__call__", tools.hooked_invoker, library=_LIBRARY)
    patch(execution, invoke, lambda original: tools.hooked_invoke(original, invoker), library=_LIBRARY)
    memory.learn_all(agents.memory.session.SessionABC)
    patch(agents.SQLiteSession, "__init__", memory.hooked_init, library=_LIBRARY)
    _patch_actions()
    _patch_tracing()
    return True


def _patch_actions() -> None:
    from reenact.adapters.openai_agents import tools

    actions: Any = importlib.import_module("agents.run_internal.tool_actions")
    for action, attribute in (
        (actions.LocalShellAction, "local_shell_tool"),
        (actions.ShellAction, "shell_tool"),
        (actions.CustomToolAction, "custom_tool"),
    ):
        _patch_class(
            action, "execute", lambda original, name=attribute: tools.hooked_executor(original, name)
        )
    _patch_class(actions.ApplyPatchAction, "execute", tools.hooked_editor)
    _patch_class(actions.ComputerAction, "_execute_action_and_capture", tools.hooked_computer)


def _patch_class(owner: Any, name: str, wrapper: Any) -> None:
    """`patch`, for a class method."""
    patched = wrapper(owner.__dict__[name].__func__)
    setattr(owner, name, classmethod(patched))


def _patch_tracing() -> None:
    from reenact.adapters.openai_agents import tracing

    processors: Any = importlib.import_module("agents.tracing.processors")
    for name in ("on_trace_start", "on_span_end"):
        patch(processors.BatchTraceProcessor, name, tracing.hooked_report, library=_LIBRARY)
    patch(processors.BackendSpanExporter, "export", tracing.hooked_export, library=_LIBRARY)


def _check() -> tuple[Any, Any, str]:
    """Check all names before any patch: half of an agent's calls would be worse than none.

    Returns the run loop, the module that runs tools, and the name of its invoking function.
    """
    for module, name in _NEEDED:
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            raise unknown(_LIBRARY, "openai-agents", f"there is no {module}.{name}") from None
    execution: Any = importlib.import_module("agents.run_internal.tool_execution")
    invoke = next((name for name in _INVOKE if hasattr(execution, name)), None)
    if invoke is None:
        raise unknown(_LIBRARY, "openai-agents", f"there is no {execution.__name__}.{_INVOKE[0]}")
    taken = set(inspect.signature(getattr(execution, invoke)).parameters)
    if taken != {"function_tool", "context", "arguments"}:
        raise unknown(_LIBRARY, "openai-agents", f"{invoke} takes other arguments")
    return importlib.import_module("agents.run_internal.run_loop"), execution, invoke
