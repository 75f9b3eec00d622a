"""Find the scope of the running code, and the names of tasks, threads and jobs."""

from __future__ import annotations

import functools
import sys
from contextvars import Context
from sys import _getframe
from types import FrameType
from typing import Any

from reenact.core.boundary import Scope, current
from reenact.core.model.event import POOLS, RULES
from reenact.core.patterns import lazy

TRANSPARENT = {
    "pydantic_ai", "pydantic_graph", "agents", "langgraph", "langchain_core", "mcp", "openai", "anthropic",
    "httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "sniffio",
}  # fmt: skip
"""Frameworks whose own tasks are not in addresses: a recording survives their upgrades.

Their adapters name the parallel parts.
"""

_PLUMBING = {
    "asyncio",
    "anyio",
    "contextlib",
    "concurrent",
    "threading",
    "reenact",
    "functools",
    "contextvars",
}


def listening() -> Scope | None:
    """Return the scope of the running code, if its effects are recorded or replayed."""
    scope = current()
    return None if scope is None or scope.hidden else scope


_WAITS_BY_TASK = sys.version_info < (3, 12)
"""True where `asyncio.wait_for` starts a task for a coroutine: up to Python 3.11."""


def transparent(rules: int = RULES) -> bool:
    """Return True if the code that starts this task belongs to a framework.

    Args:
        rules: The number of the run's matching rules: the older ones count the task of `asyncio.wait_for`.
    """
    frame: FrameType | None = _getframe(2)
    while frame is not None:
        # By the module's name: a frame's `f_code` raises an audit event.
        module = frame.f_globals.get("__name__", "")
        if module == "asyncio.tasks" and _WAITS_BY_TASK and rules > 1 and frame.f_code.co_name == "wait_for":
            return True
        found = _known[module] if module in _known else _judged(module)
        if found is not None:
            return found
        frame = frame.f_back
    return False


_known: dict[str, bool | None] = {}
"""The results of `_judged` by module: some frameworks start dozens of tasks for each call."""


def _judged(module: str) -> bool | None:
    """Return True if a module belongs to a framework; None if it only carries other code."""
    top = module.partition(".")[0]
    if top == "agents":
        # The OpenAI Agents SDK, or a package of the program's own with that name.
        return hasattr(sys.modules.get(top), "run_internal")
    found = _known[module] = None if top in _PLUMBING else top in TRANSPARENT
    return found


def context_of(fn: Any) -> Context | None:
    """Return the context if a function is its `run` method, else None."""
    owner = getattr(fn, "__self__", None)
    return owner if isinstance(owner, Context) and getattr(fn, "__name__", "") == "run" else None


def inner_of(fn: Any, args: tuple[Any, ...]) -> Any:
    """Return the function that a job runs, unwrapped from `functools.partial` and `Context.run`."""
    while isinstance(fn, functools.partial):
        fn, args = fn.func, (*fn.args, *args)
    return args[0] if context_of(fn) is not None and args else fn


def name_of(code: Any, rules: int = RULES) -> str:
    """Return a short, stable name of a task, thread or job.

    Args:
        code: A function, a coroutine, or an object that is called.
        rules: The number of the run's matching rules: names by the older ones have comprehensions.
    """
    while isinstance(code, functools.partial):
        code = code.args[0] if context_of(code.func) is not None and code.args else code.func
    name = getattr(code, "__qualname__", None)
    if not name:
        inner = getattr(code, "cr_code", None) or getattr(code, "gi_code", None)
        name = getattr(inner, "co_qualname", None) or type(code).__name__
    return plain_name(str(name), rules)


@functools.lru_cache(1024)
def pool_worker(rules: int = RULES) -> str:
    """Return the name of a process that is a worker of a `multiprocessing.Pool`.

    Up to the matching rules' number 8 it was that of any function `worker`.
    """
    return "multiprocessing.pool.worker" if rules >= POOLS else "worker"


def plain_name(qualname: str, rules: int = RULES) -> str:
    """Return a qualified name that can be part of an address; `rules` as for `name_of`."""
    name = qualname if rules < _ALIKE else without_comprehensions(qualname)
    return name.replace(".<locals>", "").replace("/", "|")


_ALIKE = 4
"""The number of the matching rules from which a name is the same in each Python."""

_COMPREHENSION = lazy(r"(\.<locals>)?\.<(list|set|dict)comp>|^<(list|set|dict)comp>(\.<locals>\.|$)")


def without_comprehensions(qualname: str) -> str:
    """Return a qualified name as Python 3.12 and later write it: without comprehensions."""
    if "comp>" not in qualname:
        return qualname
    # Twice: after the outermost one is removed, another one may be the first.
    return _COMPREHENSION.sub("", _COMPREHENSION.sub("", qualname)) or "<module>"
