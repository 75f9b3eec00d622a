"""Jobs that LangChain maps over a pool: each keeps its own scope."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from reenact.core.boundary import Scope, current, entered


def mapped(original: Any) -> Any:
    """`ContextThreadPoolExecutor.map`. It runs each job in a copy of the caller's context, which would put all of them
    into the caller's scope, and hands the copies out in whatever order the threads come for them.
    """

    def hooked(self: Any, fn: Any, *iterables: Any, **options: Any) -> Any:
        if current() is None:
            return original(self, fn, *iterables, **options)
        rows = list(zip(*iterables, strict=False))
        contexts = [copy_context() for _ in rows]

        def job(context: Any, row: tuple[Any, ...]) -> Any:
            return context.run(_within, current(), fn, row)

        job.__qualname__ = getattr(fn, "__qualname__", "map")
        return ThreadPoolExecutor.map(self, job, contexts, rows, **options)

    return hooked


def _within(scope: Scope | None, fn: Any, row: tuple[Any, ...]) -> Any:
    with entered(scope):
        return fn(*row)
